"""Elicitation, Elicitation Requests: the parameters of each mode."""

from __future__ import annotations

from typing import Any

from clausewise.core.vocabulary import Direction, Outcome, Revision
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.elicitations import ELICIT, FORM, URL, mode_of
from clausewise.judge.subjects.urls import is_url, is_web_address
from clausewise.judge.wording import ABSENT, shown
from clausewise.wire.shapes import validator

_ASKED = f"request:{ELICIT}"
_PLAIN_TYPES = frozenset({"string", "number", "integer", "boolean"})
_CHOICES = "array"


def _asked_params(message: Message) -> dict[str, Any] | None:
    """The params of a server's request, empty if left out; None if they are no object."""
    if message.direction is Direction.CLIENT_TO_SERVER:
        return None
    params = message.member("params")
    if params is ABSENT:
        return {}
    return params if isinstance(params, dict) else None


@check("elicitation.request-parameters", on=_ASKED, subject="elicitation request")
def request_parameters(message: Message, session: Session, out: Sheet) -> None:
    """An elicitation request lacks its message or names a mode that does not exist.

    Why: the user is asked without being told what for, or the client cannot tell how to ask.
    Fix: send a string as `message`, and "form" or "url" as `mode`; only form mode may leave
    `mode` out.
    """
    params = _asked_params(message)
    if params is None:
        return
    text, mode = params.get("message", ABSENT), mode_of(params)
    faults = []
    if not isinstance(text, str):
        faults.append(f"message {shown(text)}")
    if mode not in (FORM, URL):
        faults.append(f"mode {shown(mode)}")
    if faults:
        out.broke(
            message,
            "an elicitation request lacks a proper message or mode",
            seen="; ".join(faults),
            expected='a string as message; "form", "url" or nothing as mode',
        )
    elif not text:
        out.broke(
            message,
            "an elicitation request tells the user nothing",
            seen="an empty message",
            expected="a message that says why the interaction is needed",
            severity=Outcome.WARN,
        )
    else:
        out.held(message)


@check("elicitation.form-schema-present", on=_ASKED, subject="elicitation request in form mode")
def form_schema_present(message: Message, session: Session, out: Sheet) -> None:
    """A form mode elicitation has no schema of an object with properties.

    Why: the client makes its form from the schema; without one it can ask nothing.
    Fix: send `requestedSchema` with `"type": "object"` and flat `properties`: strings, numbers,
    booleans and choices.
    """
    params = _asked_params(message)
    if params is None or mode_of(params) != FORM:
        return
    schema = params.get("requestedSchema", ABSENT)
    fault = _schema_fault(schema)
    if fault is not None:
        out.broke(
            message,
            "a form mode elicitation lacks the schema of its form",
            seen=fault,
            expected='requestedSchema of type "object" with properties',
        )
        return
    nested = [name for name, part in schema["properties"].items() if not _is_plain(part)]
    if nested:
        out.broke(
            message,
            "a form mode elicitation asks for more than flat, primitive values",
            seen=f"property {shown(nested[0])}"
            + (f" and {len(nested) - 1} more" if nested[1:] else ""),
            expected="a string, a number, a boolean or a choice of strings",
            severity=Outcome.WARN,
        )
    else:
        out.held(message)


def _schema_fault(schema: Any) -> str | None:
    if not isinstance(schema, dict):
        return f"requestedSchema {shown(schema)}"
    if schema.get("type") != "object":
        return f"requestedSchema of type {shown(schema.get('type', ABSENT))}"
    properties = schema.get("properties", ABSENT)
    return None if isinstance(properties, dict) else f"properties {shown(properties)}"


def _is_plain(schema: Any) -> bool:
    """Whether a property asks for one primitive value, or for some of a list of strings."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == _CHOICES:
        return validator(Revision.LEGACY, "MultiSelectEnumSchema").is_valid(schema)
    return isinstance(kind, str) and kind in _PLAIN_TYPES


@check("elicitation.url-parameters-with-id", on=_ASKED, subject="elicitation request in URL mode")
def url_parameters_with_id(message: Message, session: Session, out: Sheet) -> None:
    """A URL mode elicitation lacks its message, its URL or its id.

    Why: the client has nothing to open, or cannot tell which elicitation is complete later.
    Fix: send strings as `message`, `url` and `elicitationId`, the id unique on this server.
    """
    params = _asked_params(message)
    if params is None or mode_of(params) != URL:
        return
    faults = [
        f"{name} {shown(params.get(name, ABSENT))}"
        for name in ("message", "url", "elicitationId")
        if not isinstance(params.get(name), str)
    ]
    if faults:
        out.broke(
            message,
            "a URL mode elicitation lacks a parameter",
            seen="; ".join(faults),
            expected="strings as message, url and elicitationId",
        )
    else:
        out.held(message)


@check("elicitation.url-valid", on=_ASKED, subject="URL of a URL mode elicitation")
def url_valid(message: Message, session: Session, out: Sheet) -> None:
    """The URL of an elicitation is no valid absolute URL.

    Why: clients parse and show the URL before the user opens it; an invalid one is refused, or
    repaired into something else than the server meant.
    Fix: send an absolute URL with scheme and host, and percent-encode spaces and the like.
    """
    params = _asked_params(message)
    if params is None or mode_of(params) != URL:
        return
    url = params.get("url")
    if not isinstance(url, str):
        return
    if not is_url(url):
        out.broke(
            message,
            "the URL of an elicitation is invalid",
            seen=f"url {shown(url)}",
            expected="an absolute URL, such as https://mcp.example.com/connect",
        )
    elif not is_web_address(url):
        out.broke(
            message,
            "the URL of an elicitation is no web address",
            seen=f"url {shown(url)}",
            expected="a URL that a browser opens, with the scheme https",
            severity=Outcome.WARN,
        )
    else:
        out.held(message)
