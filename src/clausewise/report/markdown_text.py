"""Make text safe to stand in Markdown: it cannot add markup, links or mentions."""

from __future__ import annotations

import re

from clausewise.report.text import visible

_SPECIAL = re.compile(
    r"[\\`*_{}\[\]<>()#+!|~&]|:(?=//)|(?<=mailto):|(?<=xmpp):|(?<=www)\.", re.IGNORECASE
)


def plain(text: str) -> str:
    """Text that adds no markup, link or mention."""
    # An empty comment after @ keeps a forge from reading a mention; a backslash would not.
    return _SPECIAL.sub(r"\\\g<0>", visible(text)).replace("@", "@<!-- -->")


def code(text: str) -> str:
    """A code span that `text` cannot leave, whatever runs of backticks it has."""
    shown = visible(text)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") or not shown.strip() else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def address(url: str) -> str:
    """A URL as it may stand between angle brackets."""
    return visible(url).replace("\\", "%5C").replace("<", "%3C").replace(">", "%3E")
