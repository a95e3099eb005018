"""Use cases: check, validate, catalogue, explain. No printing."""
