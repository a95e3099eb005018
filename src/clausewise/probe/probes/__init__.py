"""The probes, one module per rule group; found automatically."""
