"""Our rules about resource URIs (CW-RSC-003 to CW-RSC-005)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.judge.subjects.formats import uri_fault, uri_template_fault
from clausewise.probe.acquaintance import Pages
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    not_observed,
)
from clausewise.probe.registration import probe
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.listed import Listed, entries
from clausewise.probe.wording import named
from clausewise.transport.answers import Ending

_TEMPLATES = "resources/templates/list"
_MISSING = "clausewise-nonexistent://8f3a"
_NO_SUCH = "clausewise-no-such-8f3a"
_EXPRESSION = re.compile(r"\{[^{}]*\}")
_SIMPLE = re.compile(r"\{\w+\}", re.ASCII)
_MAX_TEMPLATES = 5
_NO_URIS = (
    "clausewise no uri",
    "clausewise",
    "://clausewise",
    "http://[clausewise",
    "%zz:clausewise",
)
"""Strings that no grammar takes for a URI: no scheme, a space, a bracket, a broken escape."""


@probe("CW-RSC-003", needs=("resources",))
async def listed_uris_are_well_formed(peer: Peer) -> Observation:
    """A listed resource or template has a URI that is none by RFC 3986.

    Why: clients parse URIs to sort and show them, and send them back in a header; what does
    not parse is refused on the way.

    Fix: begin with a scheme, and percent-encode spaces and what lies beyond ASCII.
    """
    resources = entries(await peer.pages("resources/list"))
    templates = entries(await peer.pages(_TEMPLATES))
    parts = [
        *(("uri", _well_formed(one, "uri", one.definition.get("uri"))) for one in resources),
        *(("template", _well_formed(one, "uriTemplate", _template(one))) for one in templates),
    ]
    return once_each(parts) if parts else not_observed("no resource or template is listed")


def _template(one: Listed) -> Any:
    return one.definition.get("uriTemplate")


def _well_formed(one: Listed, member: str, value: Any) -> Observation:
    if not isinstance(value, str):
        return not_observed(f"{member} of {one.shown} is no string")
    fault = uri_fault(value) if member == "uri" else uri_template_fault(value)
    if fault is None:
        return held()
    return broke(
        f"the {member} of {one.shown} is no URI",
        seen=f"{named(value)}: {fault}",
        expected="a URI by RFC 3986" if member == "uri" else "a URI template by RFC 6570",
        evidence=one.reply,
    )


@probe("CW-RSC-004", needs=("resources",), impact="reads")
async def what_is_no_uri_is_not_read(peer: Peer) -> Observation:
    """`resources/read` gives content for a string that is no URI, or the server dies of it.

    Why: what is not validated reaches the file system or another server as it came.

    Fix: parse the URI first; answer what is none with error -32602.
    """
    judged = []
    for text in _NO_URIS:
        reply = await peer.request("resources/read", {"uri": text}, rule="CW-RSC-004")
        judged.append(("", await _not_read(peer, text, reply)))
    decided = [pair for pair in judged if pair[1].outcome is not Outcome.INCONCLUSIVE]
    return once_each(decided or judged)


async def _not_read(peer: Peer, text: str, reply: Reply) -> Observation:
    if reply.error is not None:
        return held()
    contents = reply.fields.get("contents")
    if isinstance(contents, list) and contents:
        return broke(
            "what is no URI is read",
            seen=f"contents for {named(text)}",
            expected="an error such as -32602",
            evidence=reply,
        )
    if reply.message is not None:
        return not_observed(f"reading {named(text)} got {reply.shown}: MCP-ERR-003's question")
    if reply.answer.ending is Ending.RESET and not (await peer.request("server/discover")).blocked:
        return broke(
            "the server dies of what is no URI",
            seen=f"{reply.answer.detail or 'the end of the connection'}, for {named(text)}",
            expected="an error such as -32602",
            evidence=reply,
        )
    return inconclusive(reply.blocked or f"reading {named(text)} got {reply.shown}")


@probe("CW-RSC-005", needs=("resources",), impact="reads")
async def missing_resource_is_not_empty(peer: Peer) -> Observation:
    """A URI below a template, of a resource that does not exist, is read as an empty result.

    Why: an empty result may mean a resource without content; the client cannot tell that
    nothing is there.

    Fix: answer `resources/read` of what does not exist with error -32602.
    """
    control = await peer.request("resources/read", {"uri": _MISSING}, rule="CW-RSC-005")
    if _is_empty(control):
        return not_observed("any missing resource is read as empty: MCP-ERR-003's finding")
    parts: list[tuple[str, Observation]] = []
    for uri in missing_below(await peer.pages(_TEMPLATES)):
        reply = await peer.request("resources/read", {"uri": uri}, rule="CW-RSC-005")
        parts.append(("", _not_empty(reply, uri)))
    return once_each(parts) if parts else not_observed("no resource template is listed")


def missing_below(templates: Pages) -> Iterator[str]:
    """URIs of which nothing is likely to exist, below templates of plain variables."""
    for number, one in enumerate(entries(templates)):
        template = _template(one)
        plain = isinstance(template, str) and _EXPRESSION.findall(template) == (
            _SIMPLE.findall(template)
        )
        if number < _MAX_TEMPLATES and plain and _SIMPLE.search(template):
            yield _SIMPLE.sub(_NO_SUCH, template)


def _is_empty(reply: Reply) -> bool:
    return "contents" in reply.fields and reply.fields["contents"] == []


def _not_empty(reply: Reply, uri: str) -> Observation:
    if reply.error is not None:
        return held()
    if _is_empty(reply):
        return broke(
            "a resource that does not exist is read as empty",
            seen=f"an empty contents array for {named(uri)}",
            expected="error -32602",
            evidence=reply,
        )
    if reply.message is None:
        return inconclusive(reply.blocked or f"reading {named(uri)} got {reply.shown}")
    return not_observed("what was made up below the template exists, or is made on demand")
