"""The bundle of a private release: one zip with everything released, and a script that checks it without the data."""
