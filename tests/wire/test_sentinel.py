"""The header sentinel: what must be encoded, how, and what a receiver makes of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clausewise.wire.sentinel import SentinelError, decode, encode, needs_encoding, wrap

PLAIN = ["us-west1", "", "a b\tc", "~~~???>>>", "SGVsbG8=", "=?BASE64?SGVsbG8=?=", "=?base64?abc"]

ENCODED = {
    "Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=",
    " padded ": "=?base64?IHBhZGRlZCA=?=",
    "line1\nline2": "=?base64?bGluZTEKbGluZTI=?=",
    "=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
    "~~~???>>>ÿ": "=?base64?fn5+Pz8/Pj4+w78=?=",
    "=?base64?=": "=?base64?PT9iYXNlNjQ/PQ==?=",
}


@pytest.mark.parametrize("value", PLAIN)
def test_a_value_that_a_header_can_carry_stays_as_it_is(value: str) -> None:
    assert not needs_encoding(value)
    assert encode(value) == value
    assert decode(value) == value


@pytest.mark.parametrize(("value", "header"), ENCODED.items())
def test_a_value_that_a_header_cannot_carry_is_encoded(value: str, header: str) -> None:
    assert needs_encoding(value)
    assert encode(value) == header
    assert decode(header) == value


@pytest.mark.parametrize("value", ["\tx", "x\t", "x ", "a\rb", "a\0b", "\x7f", "a\x01b", "é"])
def test_whitespace_at_an_end_control_and_non_ascii_characters_need_encoding(value: str) -> None:
    assert needs_encoding(value)
    assert decode(encode(value)) == value


def test_a_plain_value_may_be_encoded_all_the_same_and_is_decoded() -> None:
    assert wrap("us-west1") == "=?base64?dXMtd2VzdDE=?="
    assert decode("=?base64?dXMtd2VzdDE=?=") == "us-west1"
    assert decode("=?base64??=") == ""


@pytest.mark.parametrize(
    "header",
    ["=?BASE64?SGVsbG8=?=", "=?Base64?SGVsbG8=?=", "SGVsbG8=", "=?base64?SGVsbG8=", "=?base64?="],
)
def test_without_both_exact_markers_a_header_is_literal(header: str) -> None:
    assert decode(header) == header


@pytest.mark.parametrize(
    "inside",
    ["SGVsbG8", "SGVs!!!bG8=", "SGVs bG8=", "fn5-Pz8_Pj4-", "YQ==YQ==", "=", "世界", "/w=="],
)
def test_markers_around_something_that_is_no_base64_of_utf8_are_an_error(inside: str) -> None:
    with pytest.raises(SentinelError, match="no Base64|no UTF-8"):
        decode(f"=?base64?{inside}?=")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_every_value_survives_and_its_header_is_safe(value: str) -> None:
    header = encode(value)
    assert decode(header) == value
    assert decode(wrap(value)) == value
    assert header.isascii()
    assert header == header.strip(" \t")
    assert all(character == "\t" or " " <= character <= "~" for character in header)


def test_a_lone_surrogate_has_no_encoding() -> None:
    with pytest.raises(UnicodeEncodeError):
        encode("\ud800")
