"""The rules about server.json: files, a registry and proofs of the test's making."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import anyio
import pytest

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Era, Outcome
from clausewise.probe.acquaintance import Acquaintance
from clausewise.probe.conversation.link import Links
from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import Observation
from clausewise.probe.probes import registry_entry
from clausewise.probe.registration import Probe, probes
from clausewise.probe.supplied import RegistryEntry, Supplied
from clausewise.trace.tape import Tape
from clausewise.transport import addresses
from clausewise.transport.targets import HttpTarget
from tests.probe.running import LIMITS
from tests.probe.site import Page, serve

PASS, BROKEN, INFO = Outcome.PASS, Outcome.FAIL, Outcome.INFO
UNKNOWN, ABSENT, UNSEEN = Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.NOT_OBSERVED

SCHEMA = "https://static.modelcontextprotocol.io/schemas/{}/server.schema.json"
ENDPOINT = "https://mcp.example.com/mcp"
ENTRY: Mapping[str, Any] = {
    "$schema": SCHEMA.format("2025-12-11"),
    "name": "io.github.alice/weather",
    "description": "Tells the weather.",
    "version": "1.2.3",
    "repository": {"url": "https://github.com/Alice/weather", "source": "github"},
    "remotes": [{"type": "streamable-http", "url": ENDPOINT}],
}
PACKAGE = {
    "registryType": "oci",
    "identifier": "images.example.com/alice/weather:1.2.3",
    "transport": {"type": "stdio"},
}
BUNDLE = PACKAGE | {
    "registryType": "mcpb",
    "identifier": "https://github.com/alice/weather/releases/download/v1/weather.mcpb",
    "fileSha256": "0" * 64,
}


@pytest.fixture(autouse=True)
def nothing_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name resolves but addresses, and no name server is configured."""
    right = addresses.look_up

    async def look_up(host: str, port: int, seconds: float) -> tuple[str, ...]:
        if host.replace(".", "").isdigit():
            return await right(host, port, seconds)
        raise TargetError(f"the host name {host} does not resolve: not here")

    monkeypatch.setattr(addresses, "look_up", look_up)
    monkeypatch.setattr(registry_entry, "configured_name_server", lambda: None)


def observed(rule: str, entry: RegistryEntry, url: str = ENDPOINT) -> Observation:
    probe = probes()[f"MCP-REG-{rule}"]
    assert isinstance(probe, Probe)

    async def run() -> Observation:
        async with Links(HttpTarget(url), Tape(), LIMITS) as links:
            supplied = Supplied(registry_entry=entry)
            known = Acquaintance(links.transport, Era.MODERN, supplied=supplied)
            with anyio.fail_after(30):
                return await probe.run(Peer(links, known))

    return anyio.run(run)


def of_file(rule: str, url: str = ENDPOINT, **changes: Any) -> Observation:
    """The rule on ENTRY with changes, in a file, with a registry that cannot be reached."""
    value = {k: v for k, v in {**ENTRY, **changes}.items() if v is not ...}
    entry = RegistryEntry(json.dumps(value).encode(), registry="http://127.0.0.1:9")
    return observed(rule, entry, url)


def of_registry(rule: str, page: Page, *, text: Mapping[str, Any] | None = None) -> Observation:
    """The rule with a registry that answers with `page` to each name."""
    asked: list[str] = []

    def site(request: Any, _origin: str) -> Page:
        asked.append(request.path)
        return page

    probe = probes()[f"MCP-REG-{rule}"]
    assert isinstance(probe, Probe)

    async def run() -> Observation:
        async with (
            serve(site) as origin,
            Links(HttpTarget(ENDPOINT), Tape(), LIMITS) as links,
        ):
            entry = RegistryEntry(
                None if text is None else json.dumps(text).encode(),
                name="com.example/weather" if text is None else None,
                registry=origin,
            )
            supplied = Supplied(registry_entry=entry)
            known = Acquaintance(links.transport, Era.MODERN, supplied=supplied)
            with anyio.fail_after(30):
                return await probe.run(Peer(links, known))

    found = anyio.run(run)
    name = "com.example%2Fweather"
    assert asked == [f"/v0.1/servers/{name}/versions/latest"]
    return found


@pytest.mark.parametrize("rule", ["001", "002", "003", "004"])
def test_a_right_entry_passes(rule: str) -> None:
    assert of_file(rule).outcome is PASS


@pytest.mark.parametrize("rule", ["001", "002", "003", "004"])
def test_without_an_entry_nothing_is_observed(rule: str) -> None:
    found = observed(rule, RegistryEntry())
    assert found.outcome is UNSEEN
    assert "--server-json" in (found.reason or "")


@pytest.mark.parametrize("text", [b"{", b"[]", b"\xff"])
def test_what_is_no_json_object_breaks_the_first_rule_alone(text: bytes) -> None:
    entry = RegistryEntry(text)
    assert observed("001", entry).outcome is BROKEN
    assert {observed(rule, entry).outcome for rule in ("002", "003", "004")} == {UNSEEN}


FITTING: Mapping[str, Mapping[str, Any]] = {
    "packages": {"packages": [PACKAGE, BUNDLE]},
    "a package with an endpoint": {
        "packages": [
            PACKAGE | {"transport": {"type": "streamable-http", "url": "http://{host}/mcp"}}
        ]
    },
    "members of one's own": {"x-other": 1, "_meta": {"com.example/a": 1}},
    "no schema": {"$schema": ...},
    "an old schema with old members": {
        "$schema": SCHEMA.format("2025-07-09"),
        "packages": [{"registry_type": "x"}],
    },
    "no remotes": {"remotes": ...},
    "no version": {"version": ...},
    "a template": {"remotes": [{"type": "streamable-http", "url": "{baseUrl}/mcp"}]},
}


@pytest.mark.parametrize("name", FITTING)
def test_an_entry_fits_its_schema(name: str) -> None:
    assert of_file("001", **FITTING[name]).outcome is PASS


FAULTY: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "no name": ("server.json", {"name": ...}),
    "a name without namespace": ("name", {"name": "weather"}),
    "a name with two slashes": ("name", {"name": "a/b/c"}),
    "a long description": ("description", {"description": "x" * 101}),
    "an unknown schema": ("$schema", {"$schema": SCHEMA.format("2024-01-01")}),
    "a schema elsewhere": ("$schema", {"$schema": "https://example.com/schema.json"}),
    "a remote without URL": ("remotes[0]", {"remotes": [{"type": "sse"}]}),
    "a remote on stdio": ("remotes[0].type", {"remotes": [{"type": "stdio", "url": ENDPOINT}]}),
    "a package without transport": (
        "packages[0]",
        {"packages": [{k: v for k, v in PACKAGE.items() if k != "transport"}]},
    ),
    "a package transport without URL": (
        "packages[0].transport",
        {"packages": [PACKAGE | {"transport": {"type": "sse"}}]},
    ),
    "a bundle without hash": (
        "packages[0]",
        {"packages": [{k: v for k, v in BUNDLE.items() if k != "fileSha256"}]},
    ),
    "a bundle at a URL without mcp": (
        "packages[0].identifier",
        {"packages": [BUNDLE | {"identifier": "https://github.com/a/b.zip"}]},
    ),
}


@pytest.mark.parametrize("name", FAULTY)
def test_an_entry_that_does_not_fit_is_one_finding_at_its_place(name: str) -> None:
    place, changes = FAULTY[name]
    (fault,) = of_file("001", **changes).faults
    assert place in fault.message


def test_faults_are_bounded() -> None:
    assert len(of_file("001", packages=[{}] * 500).faults) == 10


VERSIONS: Mapping[str, Outcome | None] = {
    "1.0.0": None,
    "2.1.3-alpha": None,
    "1.0.0-beta.1+build.5": None,
    "1.0.0-x": None,
    "2025.11.25": None,
    "2025.06.18": INFO,
    "2025-06-18": INFO,
    "v1.0": INFO,
    "1 - beta": Outcome.WARN,
    "^1.2.3": Outcome.WARN,
    "~1.2.3": Outcome.WARN,
    ">=1.2.3": Outcome.WARN,
    "<=1.2.3": Outcome.WARN,
    ">1.2.3": Outcome.WARN,
    "<1.2.3": Outcome.WARN,
    "1.x": Outcome.WARN,
    "1.2.*": Outcome.WARN,
    "*": Outcome.WARN,
    "1 - 2": Outcome.WARN,
    "1.2 || 1.3": Outcome.WARN,
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_semantic_concrete_or_a_range(version: str) -> None:
    severities = [fault.severity for fault in of_file("003", version=version).faults]
    due = VERSIONS[version]
    assert severities == ([] if due is None else [None if due is Outcome.WARN else due])


@pytest.mark.parametrize("version", [..., "", 1, "x" * 256])
def test_no_version_is_a_finding(version: Any) -> None:
    (fault,) = of_file("003", version=version).faults
    assert "no version" in fault.message


@pytest.mark.parametrize("version", ["latest", "^1.0.0"])
def test_a_package_has_one_version_too(version: str) -> None:
    (fault,) = of_file("003", packages=[PACKAGE | {"version": version}]).faults
    assert "images.example.com/alice/weather" in fault.message


def remote(url: str, kind: str = "streamable-http", **variables: Any) -> dict[str, Any]:
    return {"remotes": [{"type": kind, "url": url, "variables": variables}]}


REMOTES: Mapping[str, tuple[str, Mapping[str, Any], Outcome]] = {
    "another case of scheme and host": (ENDPOINT, remote("HTTPS://MCP.Example.com/mcp"), PASS),
    "a default port": (ENDPOINT, remote("https://mcp.example.com:443/mcp"), PASS),
    "a slash at the end": (ENDPOINT, remote(f"{ENDPOINT}/"), PASS),
    "another case of the path": (ENDPOINT, remote("https://mcp.example.com/MCP"), BROKEN),
    "another host": (ENDPOINT, remote("https://example.com/mcp"), BROKEN),
    "another scheme": (ENDPOINT, remote("http://mcp.example.com/mcp"), BROKEN),
    "a tenant in the host": (ENDPOINT, remote("https://{tenant}.example.com/mcp"), PASS),
    "a variable over a slash": (
        "https://mcp.example.com/a/b/mcp",
        remote("https://mcp.example.com/{x}/mcp"),
        BROKEN,
    ),
    "a choice": (
        "https://mcp.example.com/eu/mcp",
        remote("https://mcp.example.com/{region}/mcp", region={"choices": ["us", "eu"]}),
        PASS,
    ),
    "no such choice": (
        "https://mcp.example.com/xx/mcp",
        remote("https://mcp.example.com/{region}/mcp", region={"choices": ["us", "eu"]}),
        BROKEN,
    ),
    "a base URL": (ENDPOINT, remote("{baseUrl}/mcp"), PASS),
    "a secret variable": (
        "https://mcp.example.com/k3y/mcp",
        remote("https://mcp.example.com/{key}/mcp", key={"isSecret": True, "isRequired": True}),
        UNKNOWN,
    ),
    "an SSE endpoint only": (ENDPOINT, remote(ENDPOINT, "sse"), BROKEN),
    "more variables than anybody fills in": (
        ENDPOINT,
        remote("https://mcp.example.com/" + "".join(f"{{v{n}}}" for n in range(9))),
        BROKEN,
    ),
    "packages only": (ENDPOINT, {"remotes": ...}, ABSENT),
    "a loopback endpoint": ("http://127.0.0.1:8000/mcp", {}, UNSEEN),
}


@pytest.mark.parametrize("name", REMOTES)
def test_the_probed_url_is_compared_with_the_remotes(name: str) -> None:
    url, changes, due = REMOTES[name]
    assert of_file("004", url, **changes).outcome is due


@pytest.mark.parametrize(
    "repository",
    [..., {"url": "https://github.com/bob/weather"}, {"url": "https://gitlab.com/alice/weather"}],
)
def test_a_github_name_without_the_owners_repository_needs_the_registry(repository: Any) -> None:
    assert of_file("002", repository=repository).outcome is UNKNOWN


LISTED = Page(value={"server": {**ENTRY, "name": "com.example/weather"}, "_meta": {}})


def test_a_listed_name_was_proven_when_it_was_published() -> None:
    assert of_registry("002", LISTED).outcome is PASS


def test_a_domain_that_nobody_can_ask_is_inconclusive() -> None:
    entry = {**ENTRY, "name": "com.example/weather"}
    assert of_registry("002", Page(404, ()), text=entry).outcome is UNKNOWN


def test_the_member_server_of_the_registrys_answer_is_judged() -> None:
    assert of_registry("001", LISTED).outcome is PASS


def test_an_unlisted_name_is_not_observed_and_a_failing_registry_inconclusive() -> None:
    assert of_registry("001", Page(404, ())).outcome is UNSEEN
    assert of_registry("001", Page(503, ())).outcome is UNKNOWN
