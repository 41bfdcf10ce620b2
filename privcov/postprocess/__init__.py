"""From matrix to matrix. It never reads rows and spends nothing: free post-processing of a release."""
