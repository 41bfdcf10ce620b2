"""Guarantees and their arithmetic, randomness, checks, and what else every room uses."""
