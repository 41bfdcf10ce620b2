"""Estimates of the off-diagonal entries, and their mixture by drawn errors."""
