"""Methods, one file each: a measurement, a split of the guarantee and post-processing. Each registers itself."""
