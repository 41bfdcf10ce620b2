"""Estimates for columns whose covariances follow a pattern, and their mixture by unbiased risk."""
