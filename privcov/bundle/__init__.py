"""The bundle of a private release: one zip with everything released, and the check without the data."""
