"""Render results: pure functions from a result to text."""
