"""Find the tests in source files of several languages, without the languages' tools.

`blocks` holds what is found, `masking` hides comments and strings, and each language has a
module with `blocks_in(path, text)`; `languages` chooses it by the file's name.
"""
