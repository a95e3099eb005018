"""Definitions on which both revisions agree."""
