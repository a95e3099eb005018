"""Each defect of the protected server changes exactly the answers it says it changes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import anyio
import pytest

from clausewise.reference.auth.protect import sample_tokens
from clausewise.reference.defects import Defect, list_defects
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_runtime
from tests.reference.client import Answer, connect

RESOURCE = {"resource metadata at the path", "resource metadata at the root"}
ISSUER = {"OAuth metadata", "OpenID metadata inserted", "OpenID metadata appended"}
NO_TOKEN = {"no token"}

BAD_TOKENS = {"no such token", "foreign token"}

CHANGED: Mapping[str, set[str]] = {
    "resource-metadata-unpublished": NO_TOKEN | RESOURCE,
    "missing-token-forbidden": NO_TOKEN,
    "missing-token-unchallenged": NO_TOKEN,
    "resource-metadata-without-issuers": RESOURCE,
    "resource-metadata-of-another": RESOURCE,
    "issuer-metadata-misnamed": ISSUER,
    "issuer-parameter-unannounced": ISSUER,
    "challenge-without-scope": NO_TOKEN,
    "little-scope-unauthorized": {"low scope"},
    "any-audience-accepted": {"foreign token"},
    "offline-access-listed": RESOURCE,
    "invalid-token-forbidden": {"no such token", "foreign token"},
    "token-endpoint-in-the-clear": ISSUER,
    "malformed-authorization-forbidden": set(),
    "pkce-unannounced": ISSUER,
    "client-documents-unsupported": ISSUER,
    "legacy-resource-metadata-missing": RESOURCE,
    "legacy-challenge-without-error": BAD_TOKENS | {"low scope"},
    "legacy-challenge-without-scope": NO_TOKEN | BAD_TOKENS | {"low scope"},
    "legacy-bad-token-forbidden": BAD_TOKENS,
}
"""By defect, the requests of the survey that are answered differently."""

PATHS: Mapping[str, str] = {
    "resource metadata at the path": "/.well-known/oauth-protected-resource/mcp",
    "resource metadata at the root": "/.well-known/oauth-protected-resource",
    "OAuth metadata": "/.well-known/oauth-authorization-server/issuer",
    "OpenID metadata inserted": "/.well-known/openid-configuration/issuer",
    "OpenID metadata appended": "/issuer/.well-known/openid-configuration",
}
TOUCH = {"name": "touch_counter", "arguments": {}}


async def survey(*defects: str) -> Mapping[str, str]:
    """What a protected server answers to each request of this module, as comparable text."""
    options = ServerOptions(defects=defects, protected=True)
    async with serve_runtime(options) as (url, runtime), connect(url) as client:
        tokens = sample_tokens(runtime.wiring.protection)

        async def ask(token: str | None) -> Answer:
            headers = {"Authorization": None if token is None else f"Bearer {token}"}
            return await client.modern("tools/call", TOUCH, headers=headers)

        answers = {
            "no token": await ask(None),
            "no such token": await ask("not-a-token"),
            "foreign token": await ask(tokens.foreign),
            "low scope": await ask(tokens.low_scope),
            "full": await ask(tokens.full),
        }
        for label, path in PATHS.items():
            answers[label] = await client.exchange("GET", {}, path=path)
    origin = url.removesuffix("/mcp")
    return {label: _shown(answer).replace(origin, "ORIGIN") for label, answer in answers.items()}


def _shown(answer: Answer) -> str:
    return f"{answer.status} {sorted(answer.headers.items())} {answer.body.decode()}"


@cache
def right_answers() -> Mapping[str, str]:
    return anyio.run(survey)


DEFECTS = [defect for defect in list_defects() if defect.protected]


@pytest.mark.parametrize("defect", DEFECTS, ids=lambda defect: defect.name)
def test_a_defect_changes_what_it_says_and_nothing_else(defect: Defect) -> None:
    right, wrong = right_answers(), anyio.run(survey, defect.name)
    changed = {
        label for label in right if _without_length(right[label]) != _without_length(wrong[label])
    }
    assert changed == CHANGED[defect.name]


def _without_length(text: str) -> str:
    """Ports have four or five digits, so bodies of the same content differ in length."""
    head, _, rest = text.partition("('content-length', '")
    return head + rest.partition("'")[2]
