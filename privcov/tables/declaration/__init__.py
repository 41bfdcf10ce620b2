"""What an owner declares of a file before a row is read, as a form, a text, a codebook or a file of its own."""
