"""What the data owner takes home: one zip with everything released, and a script that checks it without the data."""
