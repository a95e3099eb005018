"""Clauses and rules as data.

The data is edited in TOML under `data/`: one file per area of a revision
(`data/2025-11-25/base.toml`) and one per group of rules (`data/rules/dsc.toml`).
`python -m clausewise.registry.compile` turns it into the compact JSON under
`data/compiled/` that is read at run time.

To add a clause, append a `[[clause]]` table to the file of its area:

    [[clause]]
    id = "BASE-099"                  # the area's prefix and a number never used before
    level = "MUST"                   # the keyword as the sentence writes it
    binds = ["client", "server"]     # who owes the duty
    condition = "server.tools"       # optional: the capability without which it does not apply
    anchor = "requests"              # the heading's id on the published page
    quote = "…"                      # the sentence
    start = "First words of it"      # optional: its first and last words, where the
    end = "last words of it."        #   link should not spell out the whole quote
    prefix = "words just before"     # optional: where `start` occurs earlier on the page too
    checks = ["base.some-check"]     # or exclusion = { type = "…", reason = "…" }, or
                                     #   planned = true while its check is to be written
    beyond = true                    # optional: judged although the requirements exclude it
    probes = ["base.some-probe"]     # optional: what decides it on a live server
    rules = ["MCP-ERR-001"]          # optional: the rules about the same sentence

A rule of our own, for a sentence that the published list of rules leaves out, stands in the
file of its group with an id that begins with `CW-`.

A list that the sentence introduces is quoted with `; ` between its items. The reason of
an exclusion says, in our words, what in this very clause a recording cannot show; its
type is one of `ExclusionType`. Then run `python -m clausewise.registry.compile`, and
`python -m clausewise.registry.drift DIR` with a copy of the specification pages to see
that quote, locator and anchor are found there. An id, once published, keeps its meaning.
"""

from clausewise.registry.loading import areas, clauses, groups, rules
from clausewise.registry.records import Clause, Exclusion, ExclusionType, Origin, Rule

__all__ = [
    "Clause",
    "Exclusion",
    "ExclusionType",
    "Origin",
    "Rule",
    "areas",
    "clauses",
    "groups",
    "rules",
]
