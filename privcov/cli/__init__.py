"""The shell: one module per command, and what they share."""
