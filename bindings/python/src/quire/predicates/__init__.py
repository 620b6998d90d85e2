"""Keys, conditions and expressions; registered functions."""
