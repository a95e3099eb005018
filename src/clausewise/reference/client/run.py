"""Drive a server: connect, play the script or go on the tour, end the session."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace

import anyio
from anyio.abc import TaskGroup

from clausewise.core.errors import ClausewiseError
from clausewise.core.vocabulary import Era
from clausewise.reference.client.answers import UNSCRIPTED
from clausewise.reference.client.authorizer import Authorizer
from clausewise.reference.client.channel import Channel
from clausewise.reference.client.connect import connect
from clausewise.reference.client.defects import apply_defects
from clausewise.reference.client.desk import Desk
from clausewise.reference.client.http_channel import http_channel
from clausewise.reference.client.script.playing import Tell, play
from clausewise.reference.client.script.stage import Stage
from clausewise.reference.client.script.step import Script
from clausewise.reference.client.script.tour import NOTHING_NAMED, Named, tour
from clausewise.reference.client.session import Session, Setup
from clausewise.reference.client.stdio_channel import stdio_channel
from clausewise.reference.client.wiring import ClientWiring, right_wiring
from clausewise.reference.messages import JsonObject
from clausewise.trace.tape import Tape
from clausewise.transport.limits import Limits
from clausewise.transport.targets import HttpTarget, StdioTarget


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """How the reference client behaves.

    Attributes:
        era: which era to speak; dual finds out, modern first.
        script: what to do; None for the tour.
        named: the tools that the tour may call beside the harmless ones.
        seconds: the longest wait for one answer.
        defects: names of the deliberate faults (`defects.list_defects`).
        authorizer: asked for tokens over HTTP.
        extensions: the names of extensions to declare beside those of the script (2026-07-28).
    """

    era: Era = Era.DUAL
    script: Script | None = None
    named: Named = NOTHING_NAMED
    seconds: float = 10.0
    defects: tuple[str, ...] = ()
    authorizer: Authorizer | None = None
    extensions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Audience:
    """Who watches: `greet` is told the session once it is open, `tell` what came of each step."""

    tell: Tell = lambda _result: None
    greet: Callable[[Session], None] = lambda _session: None


NOBODY = Audience()


async def run_client(
    target: HttpTarget | StdioTarget,
    options: ClientOptions,
    tape: Tape,
    audience: Audience = NOBODY,
) -> bool:
    """Drive the server at `target` and record everything on `tape`, which must keep its events.

    Returns:
        Whether every step came out as expected.

    Raises:
        TargetError: the server cannot be reached, or speaks no version that is supported.
        UsageError: an unknown defect.
    """
    async with open_session(target, options, tape) as session:
        audience.greet(session)
        stage, script = Stage(session), options.script
        steps = tour(stage, options.named) if script is None else script.steps
        return await play(stage, steps, audience.tell)


@asynccontextmanager
async def open_session(
    target: HttpTarget | StdioTarget, options: ClientOptions, tape: Tape
) -> AsyncIterator[Session]:
    """A session that is ready for use, ended on leaving; see `run_client`."""
    wiring = apply_defects(right_wiring(), options.defects)
    failure: BaseException | None = None
    try:
        async with (
            _channel(target, options, tape, wiring) as channel,
            anyio.create_task_group() as tasks,
        ):
            session = await connect(_setup(options, wiring, tasks), channel, options.era)
            try:
                yield session
            finally:
                with anyio.CancelScope(shield=True):
                    await session.close()
                tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # Task groups wrap what was raised within; the caller gets it back as it was.
        failure = _alone(group)
    if failure is not None:
        raise failure


def _setup(options: ClientOptions, wiring: ClientWiring, tasks: TaskGroup) -> Setup:
    script = options.script
    if script is not None:
        answers, declared = script.answers, script.declared
    else:
        answers = UNSCRIPTED[Era.LEGACY if options.era is Era.LEGACY else Era.MODERN]
        declared = answers
    beside: JsonObject = {name: {} for name in options.extensions}
    declared = replace(declared, extensions=beside | declared.extensions)
    return Setup(wiring, Desk(answers), declared, options.seconds, tasks)


def _alone(failure: BaseException) -> BaseException:
    """What a group holds, when that is one exception, or the first of several to tell the user."""
    if not isinstance(failure, BaseExceptionGroup):
        return failure
    held = [_alone(one) for one in failure.exceptions]
    is_told = all(isinstance(one, ClausewiseError) for one in held)
    return held[0] if len(held) == 1 or is_told else failure


def _channel(
    target: HttpTarget | StdioTarget, options: ClientOptions, tape: Tape, wiring: ClientWiring
) -> AbstractAsyncContextManager[Channel]:
    limits = replace(Limits(), answer_s=options.seconds)
    if isinstance(target, HttpTarget):
        return http_channel(target, tape, limits, options.authorizer)
    return stdio_channel(target, tape, limits, orderly=wiring.closes_stdin_first)
