"""A Plan describes an experiment; `run` turns it into one tidy table."""
