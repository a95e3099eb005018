"""Scripts: what the client does, step by step, and what must come of it."""
