"""How a declaration begins: from the header of a file, and from text that a spreadsheet copies."""
