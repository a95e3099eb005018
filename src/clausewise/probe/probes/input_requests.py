"""Our rules about what a server asks of its client (CW-MRT-004, 005; CW-ELI-002 to 007; SMP)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from clausewise.judge.subjects.content import objects
from clausewise.judge.subjects.sampling_messages import result_messages
from clausewise.judge.subjects.urls import is_url, is_web_address
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.conversation.traffic import Traffic
from clausewise.probe.observation import Observation, broke, held, not_observed
from clausewise.probe.probes.input_required import (
    ELICIT,
    FORM,
    SAMPLE,
    URL,
    is_url_without_mode,
)
from clausewise.probe.registration import passive
from clausewise.probe.subjects.grouping import once_each
from clausewise.probe.subjects.tour import INPUT_REQUIRED
from clausewise.probe.wording import named, named_member
from clausewise.wire.methods import input_requests

_NOTHING = "no result asked the client for input"
_SECRET = re.compile(
    r"pass(?:word|wd|phrase|code)|secret|api[_ -]?key|private[_ -]?key|access[_ -]?token"
    r"|auth[_ -]?token|bearer|credit[_ -]?card|card[_ -]?number|\bcvv\b|\bcvc\b|\bssn\b"
    r"|social[_ -]?security|\bpin\b",
    re.IGNORECASE,
)
_PERSONAL = re.compile(
    r"pass(?:word|wd)?|secret|token|api[_-]?key|e?-?mail|phone|ssn|user(?:name|_?id)?",
    re.IGNORECASE,
)
_MAIL = re.compile(r"[^@\s/]+@[^@\s/]+\.[A-Za-z]{2,}")
_ROLES = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Asked:
    """One value of `inputRequests` with the answer that it came in."""

    key: str
    value: Any
    reply: Reply

    @property
    def method(self) -> Any:
        return self.value.get("method") if isinstance(self.value, dict) else None

    @property
    def params(self) -> Mapping[str, Any]:
        """The parameters when they are an object, else an empty mapping."""
        params = self.value.get("params") if isinstance(self.value, dict) else None
        return params if isinstance(params, dict) else {}

    @property
    def mode(self) -> Any:
        """The mode of an elicitation, which is `form` where none is named."""
        return self.params.get("mode", FORM)

    def lacks(self, message: str, *, seen: str, expected: str) -> Observation:
        """The finding about this request."""
        return broke(
            f"the input request {named(self.key)} {message}",
            seen=seen,
            expected=expected,
            evidence=self.reply,
        )


def _asked(traffic: Traffic) -> Iterator[Asked]:
    for reply in traffic.results:
        found = reply.fields.get("inputRequests")
        if reply.fields.get("resultType") == INPUT_REQUIRED and isinstance(found, dict):
            for key, value in found.items():
                yield Asked(key, value, reply)


def _each(
    traffic: Traffic, method: str, judge: Callable[[Asked], Observation | None], nothing: str
) -> Observation:
    """Judge the input requests of a method; `judge` gives None where there is no occasion."""
    parts = [
        (_fault_kind(seen), seen)
        for one in _asked(traffic)
        if one.method == method and (seen := judge(one)) is not None
    ]
    return once_each(parts) if parts else not_observed(nothing)


def _fault_kind(seen: Observation) -> tuple[str, ...]:
    return tuple(fault.message for fault in seen.faults)


@passive("CW-MRT-004")
def input_request_is_one_of_three(traffic: Traffic) -> Observation:
    """A value of `inputRequests` is no elicitation, sampling or roots request.

    Why: clients know these three; anything else can only be refused, and the call with it.

    Fix: ask by `elicitation/create`, `sampling/createMessage` or `roots/list`, each with its
    parameters in `params`.
    """
    known = input_requests()

    def judge(one: Asked) -> Observation:
        if one.method in known:
            return held()
        if not isinstance(one.value, dict):
            seen = named(one.value)
        else:
            seen = f"method {named(one.method)}" if "method" in one.value else "no method"
        return one.lacks("is none of this revision", seen=seen, expected=", ".join(known))

    parts = [(one.reply.request.method, judge(one)) for one in _asked(traffic)]
    return once_each(parts) if parts else not_observed(_NOTHING)


@passive("CW-MRT-005")
def input_request_keys_are_unique(traffic: Traffic) -> Observation:
    """Two entries of `inputRequests` have the same key.

    Why: JSON parsers keep one of them, so the client answers one question and never hears
    of the other.

    Fix: give each input request of a result a key of its own.
    """
    parts = [
        (reply.request.method, _unique(reply))
        for reply in traffic.results
        if isinstance(reply.fields.get("inputRequests"), dict)
    ]
    return once_each(parts) if parts else not_observed(_NOTHING)


def _unique(reply: Reply) -> Observation:
    event = reply.response_event
    twice = _repeated_key((event.text if event is not None else None) or b"{}")
    if twice is None:
        return held()
    return broke(
        f"the result of {reply.request.method} has two input requests of the same key",
        seen=f"the key {named(twice)} twice",
        expected="keys that are unique",
        evidence=reply,
    )


class _Members(dict[str, Any]):
    """An object that remembers a key it was given twice."""

    repeated: str | None = None


def _repeated_key(text: bytes) -> str | None:
    def members(pairs: list[tuple[str, Any]]) -> _Members:
        made = _Members()
        for key, value in pairs:
            if key in made:
                made.repeated = key
            made[key] = value
        return made

    try:
        message = json.loads(text, object_pairs_hook=members)
    except RecursionError:
        return None
    asked = message.get("result", {}).get("inputRequests")
    return asked.repeated if isinstance(asked, _Members) else None


@passive("CW-ELI-002")
def elicitation_has_message_and_mode(traffic: Traffic) -> Observation:
    """An elicitation has no message, or a mode that the revision does not define.

    Why: the message is all that tells the user why something is asked; a client cannot tell
    what to do in a mode it does not know.

    Fix: put a string into `message`, and `form`, `url` or nothing into `mode`.
    """

    def judge(one: Asked) -> Observation:
        if not isinstance(one.params.get("message"), str):
            seen = named_member(one.params, "message")
            return one.lacks("has no message", seen=seen, expected="a string in message")
        if one.mode not in (FORM, URL):
            seen = f"mode {named(one.mode)}"
            return one.lacks("has no known mode", seen=seen, expected='"form" or "url"')
        return held()

    return _each(traffic, ELICIT, judge, "no elicitation was seen")


@passive("CW-ELI-003")
def form_has_a_schema(traffic: Traffic) -> Observation:
    """An elicitation in form mode has no `requestedSchema`.

    Why: without it the client has no fields to show.

    Fix: describe the fields in `requestedSchema`, a schema of a flat object.
    """

    def judge(one: Asked) -> Observation | None:
        if one.mode != FORM or is_url_without_mode(one.params):
            return None
        if isinstance(one.params.get("requestedSchema"), dict):
            return held()
        seen = named_member(one.params, "requestedSchema")
        return one.lacks("is a form without fields", seen=seen, expected="a requestedSchema")

    return _each(traffic, ELICIT, judge, "no elicitation in form mode was seen")


@passive("CW-ELI-004")
def url_elicitation_says_so_and_has_a_url(traffic: Traffic) -> Observation:
    """An elicitation with a URL does not say `"mode": "url"`, or one in that mode has no URL.

    Why: without a mode it is a form to every client; without a URL there is no page to open.

    Fix: send `mode: "url"`, `message` and `url` together.
    """

    def judge(one: Asked) -> Observation | None:
        if is_url_without_mode(one.params):
            return one.lacks("has a URL and no mode", seen="url, no mode", expected='"mode": "url"')
        if one.mode != URL:
            return None
        if isinstance(one.params.get("url"), str):
            return held()
        seen = named_member(one.params, "url")
        return one.lacks("is in URL mode without a URL", seen=seen, expected="a string in url")

    return _each(traffic, ELICIT, judge, "no elicitation in URL mode was seen")


def _urls(traffic: Traffic, judge: Callable[[Asked, str], Observation]) -> Observation:
    def of_url(one: Asked) -> Observation | None:
        url = one.params.get("url")
        return judge(one, url) if one.mode == URL and isinstance(url, str) else None

    return _each(traffic, ELICIT, of_url, "no elicitation with a URL was seen")


@passive("CW-ELI-005")
def elicitation_url_is_valid(traffic: Traffic) -> Observation:
    """The `url` of an elicitation is no absolute URL, or one that runs or reads something local.

    Why: the client shows the URL to the user and opens it; what it is not, it cannot open,
    and `javascript:` or `file:` it must not.

    Fix: send an absolute https URL.
    """

    def judge(one: Asked, url: str) -> Observation:
        scheme = url.partition(":")[0].lower()
        if is_url(url) and scheme not in ("javascript", "data", "file", "vbscript"):
            return held()
        return one.lacks(
            "has a url that is no valid URL", seen=named(url), expected="an absolute URL"
        )

    return _urls(traffic, judge)


@passive("CW-ELI-006")
def forms_ask_for_no_secrets(traffic: Traffic) -> Observation:
    """A form asks for what looks like a password, a key or a card number.

    Why: what is typed into a form passes through the client, its logs and maybe its model.

    Fix: ask for secrets in URL mode, on a page of the server's own.
    """

    def judge(one: Asked) -> Observation | None:
        schema = one.params.get("requestedSchema")
        fields = schema.get("properties") if isinstance(schema, dict) else None
        if one.mode != FORM or not isinstance(fields, dict):
            return None
        for name, field in fields.items():
            title = field.get("title") if isinstance(field, dict) else None
            found = _SECRET.search(name) or _SECRET.search(title if isinstance(title, str) else "")
            if found is not None:
                seen = f"the field {named(name)}"
                return one.lacks(
                    "asks for a secret in a form", seen=seen, expected="URL mode for secrets"
                )
        return held()

    return _each(traffic, ELICIT, judge, "no elicitation in form mode was seen")


@passive("CW-ELI-007")
def elicitation_url_holds_nothing_personal(traffic: Traffic) -> Observation:
    """The `url` of an elicitation holds what looks like credentials or personal data.

    Why: URLs end up in histories, logs and referrers, and the client shows them.

    Fix: put an opaque, short-lived id into the URL and keep the rest on the server.
    """

    def judge(one: Asked, url: str) -> Observation:
        seen = _personal(url) if is_web_address(url) and is_url(url) else None
        if seen is None:
            return held()
        return one.lacks(
            "has a url with personal data", seen=seen, expected="a URL that tells nothing"
        )

    return _urls(traffic, judge)


def _personal(url: str) -> str | None:
    """What in a URL looks like credentials or personal data, in words; or None."""
    parts = urlsplit(url)
    if parts.username or parts.password:
        return "user information before the host"
    for name, value in parse_qsl(parts.query):
        if _PERSONAL.fullmatch(name) and value:
            return f"the parameter {named(name)}"
        if _MAIL.fullmatch(value):
            return f"an e-mail address in the parameter {named(name)}"
    return "an e-mail address in the path" if _MAIL.search(parts.path) else None


@passive("CW-SMP-002")
def tool_results_stand_alone(traffic: Traffic) -> Observation:
    """A sampling message mixes tool results with other content.

    Why: model providers have a role of its own for tool results; a mixed message cannot be
    passed on to them.

    Fix: put tool results into a user message of their own.
    """

    def judge(one: Asked) -> Observation | None:
        judged = list(result_messages(one.params.get("messages")))
        faults = [each.fault for each in judged if each.fault is not None]
        if not faults:
            return held(len(judged)) if judged else None
        return one.lacks(
            "mixes tool results with other content", seen=faults[0], expected="tool results alone"
        )

    return _each(traffic, SAMPLE, judge, "no sampling message with tool results was seen")


@passive("CW-SMP-003")
def sampling_message_has_role_and_content(traffic: Traffic) -> Observation:
    """A sampling message has no role of the two, or no content.

    Why: models take turns of user and assistant; a message of neither has no place.

    Fix: give each message `role` "user" or "assistant", and `content`.
    """

    def judge(one: Asked) -> Observation | None:
        messages = list(objects(one.params.get("messages")))
        for message in messages:
            if message.get("role") not in _ROLES:
                seen = named_member(message, "role")
                expected = '"user" or "assistant"'
                return one.lacks("has a message without a role", seen=seen, expected=expected)
            if not isinstance(message.get("content"), dict | list):
                seen = named_member(message, "content")
                expected = "a content block, or an array of them"
                return one.lacks("has a message without content", seen=seen, expected=expected)
        return held(len(messages)) if messages else None

    return _each(traffic, SAMPLE, judge, "no sampling message was seen")
