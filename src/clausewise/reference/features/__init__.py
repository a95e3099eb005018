"""What the reference server offers: one source of content for both eras."""
