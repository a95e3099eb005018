"""How fast `validate` is and how much memory it takes, measured on generated recordings."""
