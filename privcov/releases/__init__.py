"""Releases: what one is, how a method makes one, and the only way from private rows to one."""
