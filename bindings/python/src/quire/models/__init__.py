"""Classes of models, their properties, rules and hooks."""
