"""Send the client side of a recorded session to a live server again."""
