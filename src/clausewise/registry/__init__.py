"""Clauses and rules as data."""
