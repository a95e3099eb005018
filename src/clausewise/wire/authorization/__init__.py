"""What authorization has on the wire: challenges, URLs of metadata, identifiers of resources."""
