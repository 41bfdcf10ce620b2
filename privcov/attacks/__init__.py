"""Privacy claims put to the test: exact curves, draws of two neighbouring tables, what an attacker may conclude."""
