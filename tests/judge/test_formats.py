"""Base64, media types and URIs, against the encoder and the grammars."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.judge.subjects.formats import (
    base64_fault,
    media_type_class,
    uri_fault,
    uri_template_fault,
)


@given(st.binary(max_size=64))
def test_what_the_encoder_writes_is_base64(data: bytes) -> None:
    assert base64_fault(base64.b64encode(data).decode()) is None


@given(st.binary(min_size=1, max_size=64))
def test_base64_without_its_last_character_is_none(data: bytes) -> None:
    fault = base64_fault(base64.b64encode(data).decode()[:-1])
    assert fault is not None
    assert fault.grave


@given(st.text(max_size=12))
def test_any_text_that_passes_for_base64_is_what_the_encoder_would_write(text: str) -> None:
    if base64_fault(text) is None:
        assert base64.b64encode(base64.b64decode(text)).decode() == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("data:;base64,YQ==", "a data: URI"),
        ("YWJj\nYWJj", "line breaks or spaces"),
        ("-_-_", "the URL-safe alphabet"),
        ("YQ", "2 characters, no multiple of 4"),
        ("Y===", "characters outside the alphabet, or misplaced padding"),
    ],
)
def test_a_base64_fault_says_what_is_wrong(text: str, seen: str) -> None:
    fault = base64_fault(text)
    assert fault is not None
    assert fault.seen == seen


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("image/png", "image"),
        ("Image/SVG+xml; charset=utf-8", "image"),
        ('a/b;c="d; \\"e"', "a"),
        ("image", None),
        ("image/", None),
        ("image/png; charset", None),
        ("image/p g", None),
        ("", None),
    ],
)
def test_a_media_type_is_read_by_its_grammar(text: str, expected: str | None) -> None:
    assert media_type_class(text) == expected


@pytest.mark.parametrize(
    "text", ["a:", "a+b-c.1:x", "X://h/p?q#f", "x://[::1]:80/a", "urn:a%20b", "x:a@b;c=d,e!$&'()*"]
)
def test_a_uri_has_a_scheme_and_allowed_characters(text: str) -> None:
    assert uri_fault(text) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "no scheme"),
        ("a/b:c", "no scheme"),
        (":a", "a malformed scheme"),
        ("1a:b", "a malformed scheme"),
        ("a_b:c", "a malformed scheme"),
        ("a:b c", "the character ' '"),
        ("a:\\b", r"the character '\\'"),
        ("a:ö", r"the character '\xf6'"),
        ("a:%2", "a % without two hexadecimal digits"),
        ("a:b#c#d", "brackets outside the host, or a second #"),
        ("a:b[0]", "brackets outside the host, or a second #"),
    ],
)
def test_a_uri_fault_says_what_is_wrong(text: str, fault: str) -> None:
    assert uri_fault(text) == fault


@pytest.mark.parametrize("text", ["{+base}/x", "no{te}s://x", "notes:{id}", "notes://{id}"])
def test_a_template_may_begin_a_uri(text: str) -> None:
    assert uri_template_fault(text) is None


@pytest.mark.parametrize("text", ["notes/{id}", "my notes:{id}", "notes"])
def test_a_template_that_cannot_begin_a_uri_has_a_fault(text: str) -> None:
    assert uri_template_fault(text) is not None
