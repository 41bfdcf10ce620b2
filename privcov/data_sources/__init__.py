"""Sources of rows, one file each: generators, bundled sets and file formats. Each registers itself."""
