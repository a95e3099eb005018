"""The protected mode of the reference server: a resource server and its authorization server."""
