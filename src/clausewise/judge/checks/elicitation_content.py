"""Elicitation, Form Mode Security: what the user submits fits the requested schema."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jsonschema_rs

from clausewise.core.vocabulary import Direction
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.memory import forget_older_half
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.subjects.elicitations import ELICIT, FORM, URL, mode_of
from clausewise.judge.subjects.schema_documents import dialect_of, digest, gave_up
from clausewise.judge.subjects.tasks import fulfilled_request
from clausewise.judge.wording import ABSENT, shown

MAX_SCHEMAS = 256
"""Different schemas of a recording whose compiled form is kept."""

_FORMATS = frozenset({"email", "uri", "date", "date-time"})
"""The formats that the page lists; others are annotations to 2020-12."""

_REFUSALS = (jsonschema_rs.ValidationError, ValueError, TypeError, RecursionError)
"""What the engine raises for schemas and values that it cannot take."""


@check(
    "elicitation.response-matches-schema",
    on=(f"result:{ELICIT}", "result:tasks/result"),
    subject="accepted form mode elicitation",
)
def response_matches_schema(message: Message, session: Session, out: Sheet) -> None:
    """The content of an accepted elicitation does not fit the requested schema.

    Why: the server asked for these values to go on with; what misses the schema it must refuse,
    and the user is asked again.
    Fix: validate the user's input against `requestedSchema` before sending `content`; leave
    `content` out in URL mode.
    """
    request = fulfilled_request(message, session)
    if message.direction is Direction.SERVER_TO_CLIENT or request is None:
        return
    if request.method != ELICIT or message.result.get("action") != "accept":
        return
    content = message.result.get("content", ABSENT)
    mode = mode_of(request.params)
    if session.shared:
        out.undecided(message, MIXED)
    elif mode == FORM and isinstance(request.params, dict):
        _judge_content(message, session, out, content, request.params.get("requestedSchema"))
    elif mode == URL and content is not ABSENT and content is not None:
        out.broke(
            message,
            "the answer to a URL mode elicitation has content",
            seen=f"content {shown(content)}",
            expected="no content: what the user enters stays outside of the protocol",
        )


def _judge_content(
    message: Message, session: Session, out: Sheet, content: Any, schema: Any
) -> None:
    validator = _validator(session, schema)
    if validator is None:
        return
    if content in (ABSENT, None) and not schema.get("properties"):
        out.undecided(message, "the form is empty, so that there may be no content")
        return
    if not isinstance(content, dict):
        _misfit(message, f"content {shown(content)}", out)
        return
    try:
        errors = [e for e in validator.iter_errors(content) if not _is_annotation(e)]
    except _REFUSALS as refusal:
        out.undecided(message, f"the content cannot be validated: {type(refusal).__name__}")
        return
    error = next((e for e in errors if not gave_up(e)), None)
    if error is not None:
        place = "/".join(map(str, error.instance_path)) or "the root"
        _misfit(message, f"{shown(error.instance)} at {place} breaks {error.kind.name}", out)
    elif errors:
        out.undecided(message, "a pattern of the requested schema takes too long to match")
    else:
        out.held(message)


def _misfit(message: Message, seen: str, out: Sheet) -> None:
    out.broke(
        message,
        "the content of an accepted elicitation does not fit the requested schema",
        seen=seen,
        expected="content that the requestedSchema accepts",
    )


@dataclass(slots=True)
class _Compiled:
    """Validators of the schemas in the recording, by digest: forms are asked again and again."""

    validators: dict[bytes, jsonschema_rs.Validator | None] = field(default_factory=dict)


def _validator(session: Session, schema: Any) -> jsonschema_rs.Validator | None:
    validators = session.recording.state(_Compiled).validators
    key = digest(schema)
    if key not in validators:
        if len(validators) >= MAX_SCHEMAS:
            forget_older_half(validators)
        validators[key] = _compiled(schema)
    return validators[key]


def _compiled(schema: Any) -> jsonschema_rs.Validator | None:
    """A validator of the schema, formats included; None if it is none of a known dialect."""
    if not isinstance(schema, dict) or dialect_of(schema) is None:
        return None
    try:
        return jsonschema_rs.validator_for(schema, offline=True, validate_formats=True)
    except _REFUSALS:
        return None


def _is_annotation(error: jsonschema_rs.ValidationError) -> bool:
    """Whether the error is about a format that the page does not list."""
    kind = error.kind
    return kind.name == "format" and getattr(kind, "format", None) not in _FORMATS
