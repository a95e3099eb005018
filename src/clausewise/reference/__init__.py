"""The reference server: right by construction, wrong on demand in exactly one way."""
