"""How long the private rows are: exact counts in bins, their noise, and the row bound that follows."""
