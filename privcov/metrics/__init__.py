"""A release and a reference make one number. For synthetic and public data only."""
