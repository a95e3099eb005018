"""Use case `reference client`: drive a server by a script or on a tour, and keep the recording."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from clausewise.app.credentials import Secrets, header_secrets, query_values
from clausewise.app.hiding import HidingWriter
from clausewise.core.errors import ClausewiseError, UsageError
from clausewise.reference.client.run import NOBODY, Audience, ClientOptions, run_client
from clausewise.trace.events import Event
from clausewise.trace.tape import Tape
from clausewise.trace.writer import TraceWriter
from clausewise.transport.targets import HttpTarget, StdioTarget

if TYPE_CHECKING:
    from clausewise.reference.client.auth.options import AuthOptions


@dataclass(frozen=True, slots=True)
class DriveOptions:
    """Choices of one run.

    Attributes:
        client: how the client behaves; its `authorizer` is made here.
        oauth: how it gets tokens; None when it does not.
        save_trace: where to write the recording, or None.
    """

    client: ClientOptions
    oauth: AuthOptions | None = None
    save_trace: Path | None = None


def run(
    target: HttpTarget | StdioTarget, options: DriveOptions, audience: Audience = NOBODY
) -> bool:
    """Drive `target`; whether every step came out as expected.

    Credentials are hidden in errors and in the saved trace.

    Raises:
        TargetError: the server cannot be reached, or speaks no version that is supported.
        UsageError: an unknown defect, or a trace that cannot be written.
    """
    secrets = _secrets_of(target)
    with ExitStack() as stack:
        listeners: list[Callable[[Event], None]] = []
        if options.save_trace is not None:
            writer = stack.enter_context(TraceWriter(options.save_trace))
            listeners.append(HidingWriter(writer, secrets).write)
        tape = Tape(*listeners)
        client = _authorizing(target, options, tape)
        try:
            return anyio.run(run_client, target, client, tape, audience)
        except ClausewiseError as error:
            raise type(error)(secrets.hide(error.message), secrets.hide(error.hint)) from None


def _authorizing(
    target: HttpTarget | StdioTarget, options: DriveOptions, tape: Tape
) -> ClientOptions:
    if options.oauth is None:
        return options.client
    if not isinstance(target, HttpTarget):
        raise UsageError("--oauth is for a URL", "On stdio give credentials with --env.")
    from clausewise.reference.client.auth.authorizer import OAuthAuthorizer

    return replace(
        options.client,
        authorizer=OAuthAuthorizer(target, options.oauth, tape),
        extensions=options.oauth.extensions,
    )


def _secrets_of(target: HttpTarget | StdioTarget) -> Secrets:
    if isinstance(target, HttpTarget):
        return Secrets(header_secrets(target.headers) + query_values(target.url))
    return Secrets(target.env.values())
