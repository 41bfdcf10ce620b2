"""The only room that sees rows: clip, sensitivity, noise, event. One file per (statistic, noise, proof)."""
