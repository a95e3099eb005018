"""The matrix of an audit, rendered: pure functions from a matrix to text, and reading it back."""
