"""What speaks about clauses: tests, the official suite, results of checks and recordings."""
