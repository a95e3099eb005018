"""The reference client: drives a server in either era, from a script or on a tour."""
