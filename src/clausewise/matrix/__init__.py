"""The audit: evidence of four kinds is read and merged into one matrix.

`rows` makes the rows, `evidence` reads what speaks about them, `verdicts` decides how each
row stands, `assembly` puts the matrix together, `ratchet` compares it with a recorded one.
"""
