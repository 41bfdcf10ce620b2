"""One file per method: a measurement, a split of the guarantee, a chain of post-processing. Self-registering."""
