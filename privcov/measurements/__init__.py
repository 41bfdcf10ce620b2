"""The only package that computes with private rows: clip, sensitivity, noise, event.

One module per (statistic, noise, proof).
"""
