"""Where rows come from: one file per generator, bundled set or file format. Each registers itself."""
