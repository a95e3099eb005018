"""The command line: parse, print, exit."""
