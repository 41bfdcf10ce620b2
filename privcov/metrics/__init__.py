"""Numbers that compare a release with a reference. For synthetic and public data only."""
