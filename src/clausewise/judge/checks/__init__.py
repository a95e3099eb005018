"""The checks, one module per page of the specification; found automatically."""
