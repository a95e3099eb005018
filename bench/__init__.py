"""How fast the commands are and how much memory `validate` takes."""
