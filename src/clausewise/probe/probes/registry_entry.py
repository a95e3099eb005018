"""Probes of rule group REG: the server.json by which a registry lists the server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from clausewise.core.vocabulary import Outcome
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import (
    Observation,
    broke,
    held,
    inconclusive,
    merged,
    not_applicable,
    not_observed,
)
from clausewise.probe.registration import HTTP_ONLY, probe
from clausewise.probe.registry_entry.namespaces import (
    Proof,
    domains_of,
    file_proof,
    github_owner,
    record_proof,
    repository_proof,
)
from clausewise.probe.registry_entry.registry_listing import (
    Published,
    listing,
    public_fetcher,
    published,
)
from clausewise.probe.registry_entry.server_json import SCHEMA_DATES, ServerJson, faults
from clausewise.probe.registry_entry.url_template import fits, variables_of
from clausewise.probe.registry_entry.versions import MAX_LENGTH, Kind, kind_of
from clausewise.probe.supplied import Supply
from clausewise.probe.wording import named
from clausewise.transport.addresses import names_loopback
from clausewise.transport.dns import configured_name_server

_UNREADABLE = "the server.json cannot be read (MCP-REG-001)"
_NAME_SERVER_S = 2.0
_LONGEST_FAULT = 200
_MAX_SHOWN = 5


@probe("MCP-REG-001", outside=True, supply=Supply.SERVER_JSON)
async def server_json_is_valid(peer: Peer) -> Observation:
    """The server.json does not fit the schema of the MCP Registry.

    Why: the registry refuses it, and clients that read it cannot install or reach the
    server.

    Fix: mend the members named; `$schema` says by which schema they are judged.
    """
    found = await published(peer)
    if found.entry is None:
        return found.outside or not_observed("no server.json was given")
    entry = found.entry
    return merged([_names_known_schema(entry), *_fits_schema(entry)])


def _names_known_schema(entry: ServerJson) -> Observation:
    if "$schema" not in entry.value:
        return held(note=f"{entry.source} names no $schema; that of {SCHEMA_DATES[-1]} counts")
    if entry.schema_date is not None:
        return held()
    return broke(
        "the $schema of the server.json is not known",
        seen=f"$schema {named(entry.value['$schema'])}",
        expected=f"the URL of a released schema, the latest of {SCHEMA_DATES[-1]}",
    )


def _fits_schema(entry: ServerJson) -> Iterator[Observation]:
    if "$schema" in entry.value and entry.schema_date is None:
        return
    kept = True
    for place, message in faults(entry):
        kept = False
        yield broke(
            f"the server.json does not fit its schema at {place}",
            seen=message[:_LONGEST_FAULT],
            expected="what the schema asks for",
        )
    if kept:
        yield held()


@probe("MCP-REG-002", outside=True, supply=Supply.SERVER_JSON)
async def namespace_is_proven(peer: Peer) -> Observation:
    """Nothing shows that the namespace of the server's name is its publisher's.

    Why: the registry lets only the owner of a namespace publish in it.

    Fix: publish under io.github.<owner> with the repository of that owner, or prove the
    domain by a DNS TXT record or by /.well-known/mcp-registry-auth.
    """
    found = await published(peer)
    if found.entry is None:
        return _without_entry(found)
    name = found.entry.name
    if name is None:
        return not_observed("the server.json has no name of the right form (MCP-REG-001)")
    tried: list[Proof] = []
    async for proof in _proofs(peer, found, name):
        if proof.proven:
            return held()
        tried.append(proof)
    unknown = next((proof for proof in tried if proof.proven is None), None)
    if unknown is not None:
        return inconclusive(unknown.told)
    return broke(
        f"nothing shows whose the namespace of {name} is",
        seen="; ".join(proof.told for proof in tried),
        expected="a repository of the owner, a key at the domain, or a listing in the registry",
    )


async def _proofs(peer: Peer, found: Published, name: str) -> AsyncIterator[Proof]:
    """The ways to prove a namespace, from the cheapest on."""
    if found.listing is not None:
        yield Proof(True, "the registry lists the name, which was proven when it was published")
        return
    owner = github_owner(name)
    if owner is not None and found.entry is not None:
        yield repository_proof(found.entry, owner)
    if owner is None:
        server = configured_name_server()
        for domain in domains_of(name):
            yield await file_proof(domain, public_fetcher(peer))
            yield await record_proof(domain, server, _NAME_SERVER_S)
    document = await listing(peer, name)
    if document.value is not None:
        yield Proof(True, "the registry lists the name, which was proven when it was published")
    elif document.is_absent:
        yield Proof(False, "the registry does not list it")
    else:
        yield Proof(None, f"{document.url}: {document.fault}")


def _without_entry(found: Published) -> Observation:
    outside = found.outside or not_observed("no server.json was given")
    return not_observed(_UNREADABLE) if outside.faults else outside


@probe("MCP-REG-003", outside=True, supply=Supply.SERVER_JSON)
async def version_is_concrete(peer: Peer) -> Observation:
    """The server.json has no version, or one that is a range.

    Why: the registry refuses ranges, and sorts only semantic versions.

    Fix: give one version, best a semantic one such as 1.2.3.
    """
    found = await published(peer)
    if found.entry is None:
        return _without_entry(found)
    packages = [one for one in found.entry.objects("packages") if "version" in one]
    return merged([_server_version(found.entry.value), *map(_package_version, packages)])


def _server_version(value: Mapping[str, Any]) -> Observation:
    version = value.get("version")
    if not isinstance(version, str) or not 0 < len(version) <= MAX_LENGTH:
        return broke(
            "the server.json has no version",
            seen=f"version {named(version)}" if "version" in value else "no version",
            expected=f"a string of 1 to {MAX_LENGTH} characters",
        )
    kind = kind_of(version)
    if kind is Kind.SEMANTIC:
        return held()
    if kind is Kind.RANGE:
        return _range("the version of the server", version)
    return broke(
        "the version is no semantic version",
        seen=f"version {named(version)}",
        expected="best a semantic version; the registry takes any other for the latest",
        severity=Outcome.INFO,
    )


def _package_version(package: Mapping[str, Any]) -> Observation:
    version = package["version"]
    if not isinstance(version, str):
        return not_observed("the version of a package is no string (MCP-REG-001)")
    if version == "latest" or kind_of(version[:MAX_LENGTH]) is Kind.RANGE:
        return _range(f"the version of the package {named(package.get('identifier'))}", version)
    return held()


def _range(what: str, version: str) -> Observation:
    return broke(
        f"{what} is no single version",
        seen=f"version {named(version)}",
        expected="one version",
    )


@probe("MCP-REG-004", transports=HTTP_ONLY, outside=True, supply=Supply.SERVER_JSON)
async def remote_is_this_endpoint(peer: Peer) -> Observation:
    """The server.json lists remote endpoints, and the probed URL is none of them.

    Why: clients go where the registry sends them; what was probed here is another server.

    Fix: list the URL of the Streamable HTTP endpoint in `remotes`, or probe the listed one.
    """
    found = await published(peer)
    if found.entry is None:
        return _without_entry(found)
    remotes = found.entry.objects("remotes")
    if not remotes:
        return not_applicable("the server.json lists no remote endpoint")
    matching = [remote for remote in remotes if _matches(peer.url, remote)]
    streamable = [remote for remote in matching if remote.get("type") == "streamable-http"]
    if any(not _has_secret(remote) for remote in streamable):
        return held()
    if streamable:
        return inconclusive("the listed URL has secret variables, which may stand for anything")
    if not matching and names_loopback(peer.http_target.host):
        return not_observed("an endpoint on loopback is none that is published")
    return broke(
        "the probed URL is listed as an SSE endpoint only"
        if matching
        else "the probed URL is none of the listed remotes",
        seen=", ".join(named(remote.get("url")) for remote in remotes[:_MAX_SHOWN]),
        expected=f"a streamable-http remote with {peer.http_target.public_url}",
    )


def _matches(url: str, remote: Mapping[str, Any]) -> bool:
    template = remote.get("url")
    return isinstance(template, str) and fits(url, template, _variables(remote))


def _has_secret(remote: Mapping[str, Any]) -> bool:
    """Whether a variable of the remote's URL is a secret that must be filled in."""
    variables = _variables(remote)
    described = (variables.get(name) for name in variables_of(remote["url"]))
    return any(
        isinstance(one, dict) and one.get("isSecret") is True and one.get("isRequired") is True
        for one in described
    )


def _variables(remote: Mapping[str, Any]) -> Mapping[str, Any]:
    variables = remote.get("variables")
    return variables if isinstance(variables, dict) else {}
