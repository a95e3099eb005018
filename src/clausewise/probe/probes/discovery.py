"""Rules about `server/discover` and what a server says of itself (DSC-001 to DSC-005)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clausewise.core.vocabulary import PUBLISHED_REVISIONS, Outcome, Revision
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import passive, probe
from clausewise.wire.meta import META_SERVER_INFO

_NO_RESULT = not_applicable("server/discover gives no result (MCP-DSC-001)")

_LABEL = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_NAME = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_EXTENSION = re.compile(rf"(?:{_LABEL})(?:\.{_LABEL})*/(?:{_NAME})?")
_OFFICIAL = re.compile(
    r"io\.modelcontextprotocol/"
    r"(?:ui|tasks|oauth-client-credentials|enterprise-managed-authorization)(?:-v[0-9]+)?"
)
_RESERVED_LABELS = frozenset({"mcp", "modelcontextprotocol"})
_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


@probe("MCP-DSC-001")
async def discover_is_implemented(peer: Peer) -> Observation:
    """`server/discover` gives no result with the server's capabilities.

    Why: it is the one request every server must know; clients learn versions and
    capabilities from it and tell modern servers from legacy ones by it.

    Fix: answer `server/discover` with a result that has `supportedVersions` and
    `capabilities`, without any request before it.
    """
    reply = await peer.discover()
    if not reply.succeeded:
        return broke(
            "server/discover is not served",
            seen=reply.shown,
            expected="a result with supportedVersions and capabilities",
            evidence=reply,
        )
    # A missing supportedVersions is MCP-DSC-002's finding: one fault, one finding.
    if not isinstance(reply.fields.get("capabilities"), dict):
        return broke(
            "the DiscoverResult has no capabilities object",
            seen=_shown(reply, "capabilities"),
            expected="an object, empty when there are none",
            evidence=reply,
        )
    return held()


@probe("MCP-DSC-002")
async def discover_names_versions(peer: Peer) -> Observation:
    """The DiscoverResult does not list the protocol versions the server supports.

    Why: clients choose the version of their next requests from that list.

    Fix: give `supportedVersions` as an array of strings that has every version the
    server answers, the one of the request included.
    """
    reply = await peer.discover()
    if not reply.succeeded:
        return _NO_RESULT
    listed = reply.fields.get("supportedVersions")
    good = isinstance(listed, list) and all(isinstance(version, str) for version in listed)
    if not good or not listed:
        return broke(
            "supportedVersions is no list of versions",
            seen=_shown(reply, "supportedVersions"),
            expected="a non-empty array of strings",
            evidence=reply,
        )
    if Revision.MODERN.value not in listed:
        return broke(
            "supportedVersions omits the version that the server has just answered in",
            seen=f"supportedVersions is {', '.join(listed)}",
            expected=f"{Revision.MODERN.value} among them",
            evidence=reply,
        )
    return held()


@probe("MCP-DSC-003")
async def discover_names_a_published_revision(peer: Peer) -> Observation:
    """No version the server lists is a published revision of the protocol.

    Why: a client that speaks published revisions finds no common version.

    Fix: list at least one published revision in `supportedVersions`.
    """
    reply = await peer.discover()
    if not reply.succeeded or not peer.versions:
        return not_applicable("server/discover lists no versions (MCP-DSC-001, MCP-DSC-002)")
    if set(peer.versions) & set(PUBLISHED_REVISIONS):
        return held()
    later = [v for v in peer.versions if _DATE.fullmatch(v) and v > Revision.MODERN.value]
    if later:
        return inconclusive(f"{later[0]} may be a revision published later than this tool")
    return broke(
        "only unpublished versions are listed",
        seen=f"supportedVersions is {', '.join(peer.versions)}",
        expected=f"a published revision, such as {Revision.MODERN.value}",
        severity=Outcome.INFO,
        evidence=reply,
    )


@probe("MCP-DSC-004")
async def extension_identifiers_are_well_formed(peer: Peer) -> Observation:
    """An extension identifier in the capabilities breaks the naming rules.

    Why: identifiers are only unique, and only comparable, with a well-formed prefix that
    belongs to who defined the extension.

    Fix: name extensions `prefix/name` with a prefix of your own domain in reverse
    (`com.example/name`), and give each an object of settings, empty if there are none.
    """
    reply = await peer.discover()
    if not reply.succeeded:
        return _NO_RESULT
    extensions = peer.capabilities.get("extensions")
    if extensions is None or extensions == {}:
        return not_applicable("the server advertises no extension")
    if not isinstance(extensions, dict):
        return broke(
            "capabilities.extensions is no object",
            seen=f"{extensions!r}"[:80],
            expected="an object with an entry for each extension",
            evidence=reply,
        )
    return merged(_extension(key, value, reply) for key, value in extensions.items())


def _extension(key: str, settings: Any, reply: Reply) -> Observation:
    if not _EXTENSION.fullmatch(key):
        return broke(
            f"the extension identifier {key[:80]!r} is not well formed",
            seen="no prefix" if "/" not in key else "a prefix or name against the grammar",
            expected="labels that begin with a letter, dots between them, a slash, a name",
            evidence=reply,
        )
    if not isinstance(settings, dict):
        return broke(
            f"the settings of the extension {key} are no object",
            seen=f"{settings!r}"[:80],
            expected="an object, empty when there are no settings",
            evidence=reply,
        )
    labels = key.partition("/")[0].split(".")
    if len(labels) > 1 and labels[1] in _RESERVED_LABELS and not _OFFICIAL.fullmatch(key):
        return broke(
            f"the extension {key} uses a prefix reserved for the protocol",
            seen=f"second label {labels[1]!r}, and no official extension of that name",
            expected="a prefix of your own domain",
            severity=Outcome.WARN,
            evidence=reply,
        )
    return held()


@passive("MCP-DSC-005")
def results_identify_the_server(traffic: Traffic) -> Observation:
    """A result does not say in its `_meta` which server software gave it.

    Why: without a handshake each result has to tell on its own who answered; logs and
    bug reports rely on it.

    Fix: put `io.modelcontextprotocol/serverInfo` with `name` and `version` into the
    `_meta` of every result.
    """
    results = list(traffic.results)
    if not results:
        return not_observed("no result came")
    lacking = [reply for reply in results if not _identifies(reply)]
    if not lacking:
        return held(len(results))
    methods = ", ".join(sorted({str(reply.request.method) for reply in lacking}))
    fault = broke(
        f"{len(lacking)} of {len(results)} results do not identify the server ({methods})",
        seen=_server_info_shown(lacking[0]),
        expected=f"_meta[{META_SERVER_INFO!r}] with the strings name and version",
        evidence=lacking[0],
    )
    return replace(fault, occasions=len(results))


def _identifies(reply: Reply) -> bool:
    return all(isinstance(value, str) for value in _server_info(reply))


def _server_info(reply: Reply) -> Iterator[Any]:
    meta = reply.fields.get("_meta")
    info = meta.get(META_SERVER_INFO) if isinstance(meta, dict) else None
    for member in ("name", "version"):
        yield info.get(member) if isinstance(info, dict) else None


def _server_info_shown(reply: Reply) -> str:
    meta = reply.fields.get("_meta")
    if not isinstance(meta, dict) or META_SERVER_INFO not in meta:
        return f"a result of {reply.request.method} without it"
    return f"{meta[META_SERVER_INFO]!r}"[:80]


def _shown(reply: Reply, member: str) -> str:
    if member not in reply.fields:
        return f"{member} is absent"
    return f"{member} is {reply.fields[member]!r}"[:80]
