"""Tests of the reference server."""
