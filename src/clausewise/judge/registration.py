"""Checks and how they register: a decorated function a check, found by importing its module."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from clausewise.core.errors import InternalError
from clausewise.core.vocabulary import TransportKind

_NAME = re.compile(r"[a-z]+\.[a-z0-9]+(-[a-z0-9]+)*")

Handler = Callable[..., None]
"""`(event, session, out)`: what a check does with one event.

`event` is a `Message` for the message kinds and foreign bodies, a `Head` for HTTP heads, a
`Raw` for raw events, a `Spot` for the end of a session and the trace's `Event` for the rest.
"""


class On(StrEnum):
    """What a handler is called for.

    FOREIGN is a JSON body on HTTP that has nothing to do with JSON-RPC. CHALLENGE is a response
    head with a WWW-Authenticate header, which is an HTTP_RESPONSE besides.
    """

    MESSAGE = "message"
    REQUEST = "request"
    NOTIFICATION = "notification"
    RESULT = "result"
    ERROR = "error"
    MALFORMED = "malformed"
    BATCH = "batch"
    FOREIGN = "foreign"
    HTTP_REQUEST = "http-request"
    HTTP_RESPONSE = "http-response"
    CHALLENGE = "challenge"
    SSE = "sse"
    RAW = "raw"
    LIFECYCLE = "lifecycle"
    STDERR = "stderr"
    SESSION_END = "session-end"


class Only(StrEnum):
    """What narrows the messages, or the HTTP heads, that a handler wants.

    CLIENT and SERVER: those that this party sends. OPENING: those of the initialization phase,
    the initialized notification included. FLAWED: those whose envelope has a fault. ODD: these
    and what may be odd as a line: recorded with its source text, or next in its direction after
    a flawed message or raw input; of HTTP heads, all but those of a usual POST: to the endpoint,
    with a message, without token, answered, if it is a request, by success. META: requests and
    notifications with `_meta` in their params, and whatever is flawed or odd.
    """

    CLIENT = "client"
    SERVER = "server"
    OPENING = "opening"
    FLAWED = "flawed"
    ODD = "odd"
    META = "meta"


@dataclass(frozen=True, slots=True)
class Subscription:
    """One handler with the kind of event it wants.

    `method` narrows it: for requests and notifications their own method, for responses the
    method of the request they answer, for heads the HTTP method. None takes them all. `only`
    narrows it further. Without a handler the check is always kept by sound messages of this kind.
    """

    on: On
    method: str | None
    handler: Handler | None
    only: frozenset[Only] = frozenset()

    @classmethod
    def read(cls, wanted: str, handler: Handler | None) -> Subscription:
        """From words: those of `only`, then a kind of `On`, or `kind:method`."""
        *narrower, last = wanted.split()
        kind, _, method = last.partition(":")
        return cls(On(kind), method or None, handler, frozenset(map(Only, narrower)))


@dataclass(frozen=True, slots=True)
class Check:
    """A check: what it looks at, what its docstring says, its handlers.

    Attributes:
        name: `area.slug`.
        subject: what an occasion is, for "no … in the recording".
        transport: the only transport it applies to, or None for both.
        any_input: whether its duty holds for answers to any input, however wrong.
        handshake: whether it also judges sessions that asked for this revision and got another.
        summary, why, fix: the parts of its docstring.
    """

    name: str
    subject: str
    transport: TransportKind | None
    any_input: bool
    handshake: bool
    summary: str
    why: str
    fix: str
    subscriptions: list[Subscription] = field(default_factory=list)

    def on(self, *wanted: str) -> Callable[[Handler], Handler]:
        """Add a handler for further events: a kind of `On`, or `kind:method`.

        Words of `Only` before it narrow it, as in `client opening request`. A handler that
        several checks add keeps facts for them all: it is called once an event, and books
        nothing.
        """

        def add(handler: Handler) -> Handler:
            self.subscriptions.extend(Subscription.read(each, handler) for each in wanted)
            return handler

        return add

    def kept_by_sound(self, *wanted: str) -> None:
        """Book an occasion as kept, without a call, for each of these messages that is sound.

        For duties that the envelope alone decides (`Message.is_sound`); the handler then takes
        the flawed ones only. `wanted` is as in `on`.
        """
        self.subscriptions.extend(Subscription.read(each, None) for each in wanted)


_CHECKS: dict[str, Check] = {}


def check(
    name: str,
    *,
    on: str | tuple[str, ...],
    subject: str,
    transport: TransportKind | None = None,
    any_input: bool = True,
    handshake: bool = False,
) -> Callable[[Handler], Check]:
    """Register a check by its first handler, whose docstring describes it.

    `on` names the events as `Check.on` does; further handlers follow with `@the_check.on(…)`.
    The docstring's first paragraph is the summary; a paragraph each begins with `Why:` and
    `Fix:`. The other arguments are the attributes of `Check`.

    Raises:
        InternalError: a bad or taken name, or a docstring without its three parts.
    """

    def register(handler: Handler) -> Check:
        if _NAME.fullmatch(name) is None or name in _CHECKS:
            raise InternalError(f"the check name {name!r} is malformed or taken")
        summary, why, fix = _docstring_parts(name, handler.__doc__ or "")
        made = Check(name, subject, transport, any_input, handshake, summary, why, fix)
        made.on(*((on,) if isinstance(on, str) else on))(handler)
        _CHECKS[name] = made
        return made

    return register


def _docstring_parts(name: str, text: str) -> tuple[str, str, str]:
    paragraphs = [" ".join(part.split()) for part in re.split(r"\n\s*(?=Why:|Fix:)|\n\s*\n", text)]
    summary = paragraphs[0]
    labelled = {label: body.strip() for label, _, body in (p.partition(":") for p in paragraphs)}
    why, fix = labelled.get("Why", ""), labelled.get("Fix", "")
    if not (summary and why and fix):
        raise InternalError(f"the docstring of {name} lacks a summary, `Why:` or `Fix:`")
    return summary, why, fix


@cache
def checks() -> Mapping[str, Check]:
    """Every check by name, in alphabetical order; imports the modules of `judge.checks`."""
    package = importlib.import_module("clausewise.judge.checks")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")
    return MappingProxyType(dict(sorted(_CHECKS.items())))
