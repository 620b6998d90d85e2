"""The objects of a context, their rows and relationships."""
