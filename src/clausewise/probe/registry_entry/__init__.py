"""A server's entry in the MCP Registry: its document, its name, its owner, its URLs."""
