"""The probes, by rule group; a large group has several modules. Found automatically."""
