"""Revision 2026-07-28: stateless dispatch, metadata checks, results and subscriptions."""
