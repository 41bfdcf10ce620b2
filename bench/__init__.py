"""Benches: accuracy and speed as ratios against named peers; `make bench` prints the table."""
