"""Tables in files: one pass over all rows, for exact sums and for the sketch that recognises a table again."""
