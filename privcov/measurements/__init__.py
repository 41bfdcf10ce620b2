"""The only package that computes with private rows, in one module per (statistic, noise, proof)."""
