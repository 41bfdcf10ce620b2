"""Tables in files: one pass over all rows, for exact sums and for the marks by which a table is recognised again."""
