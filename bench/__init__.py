"""How fast the commands are and how much memory `validate` takes.

What is generated is sized like what real software sends. 16 recordings of the Inspector, the
Python and the TypeScript SDK as clients of a Python SDK server and server-everything
(`tests/real`) have lines of 541 bytes on average on stdio and 404 over HTTP, heads and SSE events
included, which take 2.4 to 2.8 ns a byte to decode; those of whole `check` runs 370. The generated
ones have about 620 and 490 bytes at 2.6 ns: somewhat longer, as results of real work are.
"""
