"""Clausewise: tells, clause by clause, whether an implementation of MCP keeps the specification."""

__version__ = "0.1.0"
