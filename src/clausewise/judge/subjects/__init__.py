"""What several checks look at: one module a topic, from schemas in tool lists to SSE streams."""
