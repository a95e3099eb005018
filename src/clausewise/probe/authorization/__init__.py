"""How a protected server refuses, and the metadata documents that lead to its tokens."""
