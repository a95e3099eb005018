"""Servers that are right, but unlike the reference server."""
