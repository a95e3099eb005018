"""JSON text, JSON-RPC messages, their shapes per revision, and header value encoding."""
