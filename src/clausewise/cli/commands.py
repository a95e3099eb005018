"""The commands by name and the top-level help; imports nothing, so that help is instant."""

from __future__ import annotations

SUMMARIES = {
    "check": "Probe a live server, and judge the recording.",
    "validate": "Judge recorded sessions.",
    "convert": "Make a trace of a HAR file or an MCP Inspector export.",
    "record": "Record sessions between a client and a server.",
    "audit": "Merge tests, probes and recordings into one matrix of clauses.",
    "requirements": "List the clauses of a revision.",
    "rules": "List the rules and what decides them.",
    "explain": "Tell all about one clause, rule or check.",
    "replay": "Send a recorded session to a live server again.",
    "diff": "Compare two results, before and after.",
    "report": "Render a stored result again.",
    "reference": "Run the project's own server or client, with a defect if wanted.",
}
"""Each command's one-line summary; its module in this package has the same name."""

_HELP = """\
Usage: clausewise COMMAND [OPTIONS] ...

  Tells, clause by clause, whether an implementation of the Model Context
  Protocol keeps the specification, and keeps the evidence.

Commands:
{commands}

Options:
  --version   Show the version and exit.
  -h, --help  Show this message and exit.

Examples:
  clausewise check http://127.0.0.1:3001/mcp
  clausewise check -- python my_server.py
  clausewise validate session.jsonl
  clausewise explain MCP-HDR-003

Exit codes:
  0  nothing at or above --fail-on (default: must)
  1  findings
  2  usage, configuration, or a fault of Clausewise itself
  3  nothing could be judged

Settings come from the command line, then CLAUSEWISE_* variables, then
clausewise.toml or [tool.clausewise] in pyproject.toml.
`clausewise COMMAND --help` tells more. For completion in your shell:
  eval "$(_CLAUSEWISE_COMPLETE=bash_source clausewise)"   (or zsh_, fish_source)
"""


def root_help() -> str:
    """The text of `clausewise --help`."""
    width = max(len(name) for name in SUMMARIES)
    lines = (f"  {name.ljust(width)}  {summary}" for name, summary in SUMMARIES.items())
    return _HELP.format(commands="\n".join(lines))
