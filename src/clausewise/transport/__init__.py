"""Client ends of the two standard transports, on raw bytes, within limits."""
