"""Releases: what one is, how a method runs, and the only way from private rows to one."""
