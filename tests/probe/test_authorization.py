"""The rules about authorization, on sites that publish this or that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import anyio
import pytest

from clausewise.core.errors import BarredError, ClausewiseError
from clausewise.core.vocabulary import Era, Outcome
from clausewise.probe.run import ProbeOptions, ProbeRun, run_probes
from clausewise.reference.http_layer import HttpRequest
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget
from tests.probe.running import LIMITS
from tests.probe.site import DISCOVERED, GOOD_TOKEN, Guarded, Page, challenge, serve

PASS, FAIL, WARN, INFO = Outcome.PASS, Outcome.FAIL, Outcome.WARN, Outcome.INFO
UNKNOWN, ABSENT, UNSEEN = Outcome.INCONCLUSIVE, Outcome.NOT_APPLICABLE, Outcome.NOT_OBSERVED

AT_PATH = "/.well-known/oauth-protected-resource/mcp"
AT_ROOT = "/.well-known/oauth-protected-resource"
OAUTH = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"
RESOURCE = {
    "resource": "{origin}/mcp",
    "authorization_servers": ["{origin}"],
    "scopes_supported": ["read"],
}
SERVER = {
    "issuer": "{origin}",
    "authorization_endpoint": "{origin}/authorize",
    "token_endpoint": "{origin}/token",
    "response_types_supported": ["code"],
    "code_challenge_methods_supported": ["S256"],
    "authorization_response_iss_parameter_supported": True,
    "client_id_metadata_document_supported": True,
}
NAMED = f'Bearer resource_metadata="{{origin}}{AT_PATH}", scope="read"'
RIGHT = Guarded(challenge(NAMED), {AT_PATH: Page(value=RESOURCE), OAUTH: Page(value=SERVER)})

Outcomes = Mapping[str, Outcome]


def probed(site: Guarded, *, token: str | None = None) -> ProbeRun:
    async def run() -> ProbeRun | ClausewiseError:
        headers = () if token is None else (("Authorization", f"Bearer {token}"),)
        async with serve(site) as origin:
            options = ProbeOptions(select=("MCP-AUT",), limits=LIMITS)
            try:
                with anyio.fail_after(60):
                    return await run_probes(HttpTarget(f"{origin}/mcp", headers), options, Tape())
            except ClausewiseError as error:
                return error  # raised outside the site's task group, which would wrap it

    result = anyio.run(run)
    if isinstance(result, ClausewiseError):
        raise result
    return result


def outcomes(run: ProbeRun) -> dict[int, Outcome]:
    return {int(verdict.id[-3:]): verdict.outcome for verdict in run.verdicts}


def with_refusal(refusal: Page, **pages: Page) -> Guarded:
    return Guarded(refusal, RIGHT.pages, [])


def with_pages(pages: Mapping[str, Page], refusal: Page = RIGHT.refusal) -> Guarded:
    return Guarded(refusal, {**RIGHT.pages, **pages}, [])


def with_resource(**changes: Any) -> Guarded:
    value = {k: v for k, v in {**RESOURCE, **changes}.items() if v is not ...}
    return with_pages({AT_PATH: Page(value=value)})


def with_server(**changes: Any) -> Guarded:
    value = {k: v for k, v in {**SERVER, **changes}.items() if v is not ...}
    return with_pages({OAUTH: Page(value=value)})


ALL_PASS = dict.fromkeys((1, 2, 3, 4, 5, 6, 9, 10, 11), PASS) | {7: UNSEEN, 8: UNSEEN}


@pytest.mark.parametrize("token", [None, GOOD_TOKEN])
def test_a_right_site_passes_with_and_without_a_token(token: str | None) -> None:
    run = probed(RIGHT, token=token)
    assert outcomes(run) == ALL_PASS
    assert (run.era is None) is (token is None)


HIDDEN = {path: Page(404, ()) for path in (AT_PATH, AT_ROOT)}
NO_ISSUER = {4: ABSENT, 5: ABSENT, 10: ABSENT, 11: ABSENT}
BUSY = {path: Page(503, ()) for path in (AT_PATH, AT_ROOT)}

CHANGES: Mapping[str, tuple[Guarded, Outcomes | dict[int, Outcome]]] = {
    "a well-known document alone is enough": (with_refusal(challenge('Bearer scope="read"')), {}),
    "a second challenge in the same header is found": (
        with_refusal(challenge(f'Basic realm="a, b", {NAMED}')),
        {},
    ),
    "the scheme is read in any case": (
        with_refusal(challenge(NAMED.replace("Bearer", "bEARER"))),
        {},
    ),
    "the document may be at the root": (
        Guarded(
            challenge('Bearer scope="read"'),
            {AT_ROOT: Page(value=RESOURCE), OAUTH: Page(value=SERVER)},
        ),
        {},
    ),
    "at the root the resource may be the origin": (
        Guarded(
            challenge('Bearer scope="read"'),
            {AT_ROOT: Page(value={**RESOURCE, "resource": "{origin}/"}), OAUTH: Page(value=SERVER)},
        ),
        {},
    ),
    "nothing leads to metadata": (
        with_pages(HIDDEN, challenge('Bearer scope="read"')),
        {1: FAIL, 2: FAIL, 3: ABSENT, **NO_ISSUER},
    ),
    "a dead URL in the challenge, alone": (
        with_pages(HIDDEN),
        {1: FAIL, 2: FAIL, 3: ABSENT, **NO_ISSUER},
    ),
    "a dead URL in the challenge beside a document": (
        with_refusal(challenge('Bearer resource_metadata="{origin}/gone", scope="read"')),
        {2: FAIL},
    ),
    "no URL in the challenge beside a document": (
        with_refusal(challenge('Bearer resource_metadata="/relative", scope="read"')),
        {2: FAIL},
    ),
    "403 in the place of 401": (with_refusal(challenge(NAMED, 403)), {1: FAIL, 6: ABSENT}),
    "a 401 without a challenge": (with_refusal(Page(401, ())), {1: WARN, 6: ABSENT}),
    "metadata behind an overloaded server": (
        with_pages(BUSY, challenge('Bearer scope="read"')),
        {1: UNKNOWN, 2: UNKNOWN, 3: UNKNOWN, 4: UNKNOWN, 5: UNKNOWN, 10: UNKNOWN, 11: UNKNOWN},
    ),
    "metadata that needs a token": (
        with_pages({AT_PATH: Page(401, ()), AT_ROOT: Page(401, ())}),
        {1: FAIL, 2: FAIL, 3: ABSENT, **NO_ISSUER},
    ),
    "a web page for every path": (
        with_pages({p: Page(200, (("Content-Type", "text/html"),), body=b"<p>") for p in HIDDEN}),
        {1: FAIL, 2: FAIL, 3: ABSENT, **NO_ISSUER},
    ),
    "metadata that is an array": (
        with_pages({AT_PATH: Page(value=[1]), AT_ROOT: Page(value=[1])}),
        {1: FAIL, 2: FAIL, 3: ABSENT, **NO_ISSUER},
    ),
    "an empty object": (with_pages({AT_PATH: Page(value={})}), {2: FAIL, 3: UNSEEN, **NO_ISSUER}),
    "no resource": (with_resource(resource=...), {2: FAIL, 3: UNSEEN}),
    "a resource with a fragment": (
        with_resource(resource="{origin}/mcp#here"),
        {2: FAIL, 3: UNSEEN},
    ),
    "no issuers": (with_resource(authorization_servers=[]), {2: FAIL, **NO_ISSUER}),
    "an issuer over plain http elsewhere": (
        with_resource(authorization_servers=["{origin}", "http://192.0.2.7:9/"]),
        {2: FAIL, 4: UNKNOWN, 5: UNKNOWN, 10: UNKNOWN, 11: UNKNOWN},
    ),
    "an issuer that is a number": (
        with_resource(authorization_servers=["{origin}", 7]),
        {2: FAIL},
    ),
    "a resource with a slash more": (with_resource(resource="{origin}/mcp/"), {}),
    "a resource that is a parent": (with_resource(resource="{origin}"), {3: WARN}),
    "a resource beside the endpoint": (with_resource(resource="{origin}/mc"), {3: FAIL}),
    "a resource on another port": (with_resource(resource="http://127.0.0.1:1/mcp"), {3: FAIL}),
    "another issuer in the metadata": (
        with_server(issuer="{origin}/"),
        {4: FAIL, 5: ABSENT, 10: ABSENT, 11: ABSENT},
    ),
    "no metadata of the issuer": (
        with_pages({OAUTH: Page(404, ())}),
        {4: FAIL, 5: ABSENT, 10: ABSENT, 11: ABSENT},
    ),
    "an issuer that fails": (
        with_pages({OAUTH: Page(500, ()), OPENID: Page(500, ())}),
        {4: UNKNOWN, 5: UNKNOWN, 10: UNKNOWN, 11: UNKNOWN},
    ),
    "OpenID metadata alone": (
        with_pages({OAUTH: Page(404, ()), OPENID: Page(value=SERVER)}),
        {},
    ),
    "no token endpoint": (with_server(token_endpoint=...), {4: FAIL}),
    "no authorization endpoint": (with_server(authorization_endpoint=...), {4: FAIL}),
    "client credentials alone": (
        with_server(
            authorization_endpoint=...,
            grant_types_supported=["client_credentials"],
            code_challenge_methods_supported=...,
        ),
        {10: ABSENT},
    ),
    "iss announced by a string": (
        with_server(authorization_response_iss_parameter_supported="true"),
        {5: WARN},
    ),
    "s256 in lower case": (with_server(code_challenge_methods_supported=["s256"]), {10: FAIL}),
    "dynamic registration alone": (
        with_server(
            client_id_metadata_document_supported=..., registration_endpoint="{origin}/register"
        ),
        {11: WARN},
    ),
    "an empty scope": (
        with_refusal(challenge(NAMED.replace('"read"', '" "'))),
        {6: WARN},
    ),
    "offline_access in the challenge": (
        with_refusal(challenge(NAMED.replace("read", "read offline_access"))),
        {9: INFO},
    ),
    "a scope that only begins like offline_access": (
        with_refusal(challenge(NAMED.replace("read", "offline_access_x"))),
        {},
    ),
    "offline_access in the metadata": (
        with_resource(scopes_supported=["offline_access"]),
        {9: INFO},
    ),
    "offline_access at the issuer": (with_server(scopes_supported=["offline_access"]), {}),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_site_gets_its_verdicts(name: str) -> None:
    site, changed = CHANGES[name]
    run = probed(site, token=GOOD_TOKEN)
    assert outcomes(run) == ALL_PASS | dict(changed)
    assert outcomes(probed(replace(site, asked=[]))) == outcomes(run)


def test_a_server_that_serves_everybody_is_not_protected() -> None:
    class Open(Guarded):
        def _endpoint(self, request: Any) -> Page:
            return super()._endpoint(
                replace(request, headers=((b"authorization", f"Bearer {GOOD_TOKEN}".encode()),))
            )

    seen = outcomes(probed(Open(RIGHT.refusal, RIGHT.pages, [])))
    assert {seen[number] for number in (1, 2, 3, 4, 5, 6, 9, 10, 11)} == {ABSENT}
    assert {seen[7], seen[8]} == {UNSEEN}


def test_a_scheme_of_its_own_is_custom_and_its_rules_do_not_apply() -> None:
    site = Guarded(challenge("ApiKey realm=x"))
    seen = outcomes(probed(site, token=GOOD_TOKEN))
    assert {seen[number] for number in (1, 2, 3, 4, 5, 6, 9, 10, 11)} == {ABSENT}


def test_a_refusal_without_any_sign_of_oauth_is_inconclusive() -> None:
    seen = outcomes(probed(Guarded(Page(401, ())), token=GOOD_TOKEN))
    assert {seen[number] for number in (1, 2, 3, 4, 5, 6, 9, 10, 11)} == {UNKNOWN}


@pytest.mark.parametrize("refusal", [Page(401, ()), Page(403, ()), challenge("ApiKey realm=x")])
def test_where_nothing_can_be_decided_from_outside_the_run_ends_in_an_error(refusal: Page) -> None:
    with pytest.raises(BarredError, match=f"HTTP {refusal.status}"):
        probed(Guarded(refusal))


def test_refused_credentials_end_the_run_though_the_refusal_is_right() -> None:
    with pytest.raises(BarredError) as caught:
        probed(RIGHT, token="stale-token-of-the-user")
    assert "credentials that were given" in caught.value.hint


def test_an_error_with_status_200_for_a_missing_token_breaks_the_first_rule() -> None:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "log in"}}
    seen = outcomes(probed(with_refusal(Page(value=error)), token=GOOD_TOKEN))
    assert seen[1] is FAIL
    assert seen[6] is ABSENT


def test_an_issuer_at_a_private_address_is_not_asked() -> None:
    site = with_resource(authorization_servers=["https://169.254.169.254", "https://10.1.2.3"])
    run = probed(site, token=GOOD_TOKEN)
    verdict = next(v for v in run.verdicts if v.id == "MCP-AUT-004")
    assert verdict.outcome is UNKNOWN
    assert "link-local address" in (verdict.reason or "")


def test_a_redirect_to_another_origin_is_not_followed() -> None:
    elsewhere = Page(302, (("Location", "http://127.0.0.1:1/doc"),))
    site = with_pages({AT_PATH: elsewhere, AT_ROOT: elsewhere})
    assert outcomes(probed(site, token=GOOD_TOKEN))[2] is FAIL


def test_a_redirect_within_the_origin_is_followed() -> None:
    moved = Page(307, (("Location", "/metadata.json"),))
    site = with_pages({AT_PATH: moved, "/metadata.json": Page(value=RESOURCE)})
    assert outcomes(probed(site, token=GOOD_TOKEN)) == ALL_PASS


def test_each_document_is_asked_for_once() -> None:
    site = replace(RIGHT, asked=[])
    probed(site, token=GOOD_TOKEN)
    fetched = [path for path in site.asked if path.startswith("/.well-known")]
    assert sorted(fetched) == sorted({AT_PATH, OAUTH, OPENID})


def test_the_token_never_goes_to_a_metadata_url() -> None:
    sent: list[str] = []

    class Watching(Guarded):
        def __call__(self, request: Any, origin: str) -> Page:
            if request.path != "/mcp" and request.value("authorization"):
                sent.append(request.path)
            return super().__call__(request, origin)

    probed(Watching(RIGHT.refusal, RIGHT.pages, []), token=GOOD_TOKEN)
    assert sent == []


def test_a_server_may_be_protected_for_calls_alone() -> None:
    tool = {"name": "t", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    results = {"server/discover": DISCOVERED, "tools/list": {**DISCOVERED, "tools": [tool]}}

    class CallsAlone(Guarded):
        def _endpoint(self, request: HttpRequest) -> Page:
            message = json.loads(request.body)
            result = results.get(message["method"])
            if result is None:
                return self.refusal
            return Page(value={"jsonrpc": "2.0", "id": message["id"], "result": result})

    run = probed(CallsAlone(RIGHT.refusal, RIGHT.pages, []))
    assert outcomes(run) == ALL_PASS
    assert run.era is Era.MODERN
