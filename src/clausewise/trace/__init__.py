"""Recorded sessions: the event model, reading, writing, redaction, recording in progress."""
