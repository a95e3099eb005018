"""Probes of clauses of 2025-11-25, a module per page: what no recording shows of a server.

The registry says which clauses a probe decides. A clause that a check judges too keeps its
check: a probe then sends what gives the check an occasion, or looks at what it cannot see.
"""
