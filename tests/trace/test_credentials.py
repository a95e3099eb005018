"""Credentials leave a recording; everything else, and the shape of the JSON, stays."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.core.vocabulary import Direction, TransportKind
from clausewise.trace.credentials import CredentialFilter
from clausewise.trace.events import EventKind
from clausewise.trace.redaction import PayloadRedaction
from clausewise.trace.tape import Tape, Track

FILTER = CredentialFilter(b"k" * 16)
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
RANDOM = "Zk3JQ9xV2bLw7TnR5sYd8HcF1mPgA6eUoKiXzSvB4"


def cleaned(value: Any) -> Any:
    return json.loads(FILTER.clean(json.dumps(value).encode()))


@pytest.mark.parametrize(
    "name",
    [
        *("access_token", "refreshToken", "id_token", "token", "github_token", "x-api-key"),
        *("OPENAI_API_KEY", "apiKey", "client_secret", "password", "dbPassword", "passphrase"),
        *("secret", "Authorization", "cookie", "private_key", "code_verifier", "credentials"),
    ],
)
def test_a_member_with_a_secrets_name_loses_its_value(name: str) -> None:
    assert cleaned({"a": {name: 'hush "é\\'}})["a"][name].startswith("REDACTED")
    inside = cleaned({"text": json.dumps({name: 'hush "é\\', "b": 1})})["text"]
    assert json.loads(inside)["b"] == 1
    assert "hush" not in inside


@pytest.mark.parametrize(
    "name",
    [
        *("progressToken", "nextCursor", "tokens", "maxTokens", "next_page_token", "keyboard"),
        *("tokenEndpoint", "authorization_servers", "secretary", "passwordHint", "key"),
    ],
)
def test_other_members_keep_their_value(name: str) -> None:
    assert cleaned({name: "a value"}) == {name: "a value"}


@pytest.mark.parametrize(
    "text",
    [
        *("Authorization: Bearer abcdef0123456789abcdef", "see " + JWT, "sk-proj-" + "aB3" * 10),
        *("ghp_" + "a1B2" * 9, "AKIAIOSFODNN7EXAMPLE", "glpat-" + "x" * 20, "xoxb-1234567890-ab"),
        *("-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----", RANDOM),
        *("https://h/p?access_token=hush&x=1", "https://bob:hush@h/", "API_KEY='hush' ./run"),
        *("https://h/cb?code=hush", "grant_type=authorization_code&code=hush", "Bearer%20" + JWT),
    ],
)
def test_a_credential_in_a_text_is_replaced_and_the_rest_kept(text: str) -> None:
    found = cleaned({"text": f"before {text} after"})["text"]
    assert found.startswith("before ")
    assert found.endswith(" after") or "Authorization" in text
    assert "REDACTED" in found
    assert "hush" not in found
    assert JWT not in found


@pytest.mark.parametrize("before", ["a\n", "\t", "\x1f", "é", '"', "(", "=", "x: "])
@pytest.mark.parametrize("secret", [JWT, "ghp_" + "a1B2" * 9, "password=hush", "bearer " + JWT])
def test_a_credential_is_found_behind_any_character(before: str, secret: str) -> None:
    for ascii_only in (True, False):
        text = FILTER.clean(json.dumps(before + secret, ensure_ascii=ascii_only).encode())
        assert b"REDACTED" in text
        assert json.loads(text).startswith(before)


@pytest.mark.parametrize(
    "text",
    [
        *("a bearer of authentication-for-everything", "basic understanding of authorization"),
        *("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "task-1 sk-ill"),
        *("getUserAccountInformationForSubscriptionV2WithRetries", "key = value; token bucket"),
        *("9b2d4e5f-3c1a-4b6d-8e7f-0a1b2c3d4e5f", "https://h/p?cursor=abc&page=2", "risk-averse"),
        "/usr/local/lib/Python3/site-packages/TestCase/Module2/VeryLongNames/more",
    ],
)
def test_what_only_resembles_a_credential_stays(text: str) -> None:
    assert cleaned({"text": text}) == {"text": text}


def test_ids_and_handles_of_the_protocol_stay() -> None:
    message = {
        "jsonrpc": "2.0",
        "id": JWT,
        "params": {"requestId": RANDOM, "_meta": {"progressToken": JWT}, "cursor": RANDOM},
    }
    assert cleaned(message) == message


def test_binary_content_stays() -> None:
    data = base64.b64encode(bytes(range(256)) * 3).decode()
    content = {"type": "image", "data": data, "src": f"data:image/png;base64,{RANDOM}"}
    assert cleaned(content) == content


def test_the_same_secret_has_the_same_placeholder_and_another_key_another() -> None:
    text = json.dumps([{"token": "a"}, {"token": "a"}, {"token": "b"}]).encode()
    first, second, third = (member["token"] for member in json.loads(FILTER.clean(text)))
    assert first == second != third
    assert CredentialFilter(b"j" * 16).clean(text) != FILTER.clean(text)


def test_text_without_credentials_is_the_same_object() -> None:
    text = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    assert FILTER.clean(text) is text


WORDS = st.sampled_from(
    [
        *("token", "password", "Bearer ", JWT, RANDOM, "\\", '"', '\\"', "=", "?", ":", "\n", "é"),
        *("id", "access_token=", "authorization: ", "\u2028", "\U0001f600", '{"token": "x"}'),
    ]
)
TEXTS = st.lists(WORDS | st.text(max_size=4), max_size=6).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans())
def test_json_stays_json_of_the_same_shape(value: Any, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    found = FILTER.clean(text)
    pairs = json.loads(found.decode("utf-8", "surrogatepass"), object_pairs_hook=list)
    wanted = json.loads(text.decode("utf-8", "surrogatepass"), object_pairs_hook=list)
    assert without_text(pairs) == without_text(wanted)


def without_text(value: Any) -> Any:
    """The value, its objects as lists of pairs, with every string left out."""
    if isinstance(value, list | tuple):
        return [without_text(item) for item in value]
    return "" if isinstance(value, str) else value


@given(st.binary(max_size=300))
def test_any_bytes_are_taken(data: bytes) -> None:
    assert len(FILTER.clean(data)) <= 17 * (len(data) + 1)


def test_every_part_of_an_event_is_cleaned_but_the_session_id() -> None:
    redaction = PayloadRedaction(FILTER)
    tape = Tape()
    track = Track(TransportKind.HTTP)
    out = Direction.CLIENT_TO_SERVER
    headers = {"mcp-session-id": RANDOM, "location": "https://h/?code=hush", "via": ["a", JWT]}
    events = [
        tape.message(track, out, b'{"id":1,"token":"hush"}'),
        tape.message(track, out, b"password=hush"),
        tape.message(track, out, b"\xff password=hush"),
        tape.add(track, out, EventKind.STDERR, {"text": "API_KEY=hush"}),
        tape.add(track, out, EventKind.HTTP, {"path": f"/s/{RANDOM}/mcp", "headers": headers}),
    ]
    message, raw, binary, stderr, head = map(redaction.clean, events)
    assert message.payload["id"] == 1
    assert message.payload["token"].startswith("REDACTED")
    assert b"hush" not in (message.text or b"")
    assert raw.fields["text"].startswith("password=REDACTED")
    assert b"hush" not in base64.b64decode(binary.fields["base64"])
    assert stderr.fields["text"].startswith("API_KEY=REDACTED")
    assert head.fields["path"].startswith("/s/REDACTED")
    assert head.header("mcp-session-id") == RANDOM
    assert "hush" not in (head.header("location") or "")
    assert JWT not in head.header_values("via")
