"""Methods of published papers, kept for comparison with the papers and with the methods of today."""
