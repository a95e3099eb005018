"""What several probes look at: one module a topic."""
