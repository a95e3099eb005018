"""Talk to the target: requests with one fault at most, replies, connections, both eras."""
