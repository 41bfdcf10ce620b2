"""What a table is: rows in memory or in files, what is publicly declared of them, and who the persons are."""
