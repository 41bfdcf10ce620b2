"""Private rows as whole numbers, their exact sums, and discrete noise."""
