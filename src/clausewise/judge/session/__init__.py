"""What is known of a session: who speaks, what was asked and answered, in which exchange."""
