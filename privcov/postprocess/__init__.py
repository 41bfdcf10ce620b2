"""Matrix to matrix. Never sees rows, spends nothing: free post-processing of a release."""
