"""Answers from one release, with intervals for privacy noise and sampling together."""
