"""Revision 2025-11-25: initialize, sessions, requests to the client, server-sent streams."""
