"""Privacy claims checked: by exact curves, by draws of two neighbouring tables, and as what an attacker may conclude."""
