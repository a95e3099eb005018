"""Judge recorded events: one streaming pass, session facts, checks by area."""
