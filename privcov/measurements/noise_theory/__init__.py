"""What noise is drawn: the size of the anchor, the sums that are free, the scales."""
