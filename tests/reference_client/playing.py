"""Hold a session with a reference server, and judge the recording."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import anyio

from clausewise.core.errors import TargetError
from clausewise.core.vocabulary import Era, Outcome, Party, TransportKind
from clausewise.judge.engine import JudgeOptions, judge
from clausewise.reference.auth.protect import sample_tokens
from clausewise.reference.client.defects import ClientDefect, list_defects
from clausewise.reference.client.legacy_session import LegacySession
from clausewise.reference.client.run import Audience, ClientOptions, run_client
from clausewise.reference.client.script.step import StepResult
from clausewise.reference.client.session import Session
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import serve_runtime
from clausewise.reference.wiring import Runtime
from clausewise.trace.tape import Tape
from clausewise.transport.targets import HttpTarget, StdioTarget
from tests.reference_client.workout import SCRIPTS

DUAL_SERVER = ServerOptions()
BROKEN = (Outcome.FAIL, Outcome.WARN, Outcome.INFO, Outcome.CRASHED)


@dataclass
class Played:
    """A session that was held: its recording, and what came of each step."""

    tape: Tape = field(default_factory=Tape)
    results: list[StepResult] = field(default_factory=list)

    @property
    def complaints(self) -> list[str]:
        return [
            f"{one.number} {one.step.do}: {', '.join(one.complaints)}"
            for one in self.results
            if one.complaints
        ]

    def findings(self, party: Party | None = None) -> dict[str, list[str]]:
        """The clauses that the recorded session breaks, with what was said of each."""
        judged = judge(self.tape.events, trace="session", options=JudgeOptions(party=party))
        return {
            verdict.id: [f"{finding.party}: {finding.message}" for finding in verdict.findings]
            for verdict in judged.verdicts
            if verdict.outcome in BROKEN
        }


def play(
    options: ClientOptions,
    transport: TransportKind,
    server: ServerOptions = DUAL_SERVER,
    *,
    forgets: bool = False,
) -> Played:
    """Drive a reference server of its own; one that refuses ends the session early.

    With `forgets` a legacy server loses the session before the last two steps of the script, over
    HTTP.
    """
    played = Played()

    async def run() -> None:
        with anyio.fail_after(120):
            if transport is TransportKind.STDIO:
                audience = Audience(played.results.append)
                await drive(StdioTarget(server_command(server)), audience)
                return
            async with serve_runtime(server) as (url, runtime):
                headers: tuple[tuple[str, str], ...] = ()
                if runtime.wiring.auth is not None:
                    token = sample_tokens(runtime.wiring.auth).full
                    headers = (("Authorization", f"Bearer {token}"),)
                audience = _Forgetful(played, runtime, options, forgets=forgets).audience
                await drive(HttpTarget(url, headers), audience)

    async def drive(target: HttpTarget | StdioTarget, audience: Audience) -> None:
        try:
            await run_client(target, options, played.tape, audience)
        except TargetError:
            assert options.defects, "the right client is served"

    anyio.run(run)
    return played


def server_command(options: ServerOptions) -> tuple[str, ...]:
    program = (sys.executable, "-m", "clausewise", "reference", "server")
    defects = (f"--defect={name}" for name in options.defects)
    return (*program, "--stdio", "--era", options.era.value, *defects)


class _Forgetful:
    """Makes the server forget a legacy session before the last two steps of the script.

    For a client with a defect it is one step earlier: of two requests with the lost session's id
    the first may have crossed with the 404.
    """

    def __init__(
        self, played: Played, runtime: Runtime, options: ClientOptions, *, forgets: bool
    ) -> None:
        self._played = played
        self._runtime = runtime
        steps = len(options.script.steps) if options.script is not None else 0
        self._last_before = steps - (3 if options.defects else 2) if forgets else None
        self._session: Session | None = None

    @property
    def audience(self) -> Audience:
        return Audience(self._tell, self._greet)

    def _greet(self, session: Session) -> None:
        self._session = session

    def _tell(self, result: StepResult) -> None:
        self._played.results.append(result)
        session = self._session
        if isinstance(session, LegacySession) and result.number == self._last_before:
            assert session.session_id is not None
            self._runtime.sessions.end(session.session_id)


LOST_SESSION_USED = "lost-session-used"
CASES = [
    (defect, era, transport)
    for defect in list_defects()
    for era in sorted(defect.clauses)
    for transport in sorted(defect.transports)
]


def play_defect(defect: ClientDefect, era: Era, transport: TransportKind) -> Played:
    """The whole script with a client that has the defect, and a server that gives it occasion."""
    options = ClientOptions(era, SCRIPTS[era], seconds=20.0, defects=(defect.name,))
    occasion = (defect.occasion,) if defect.occasion else ()
    server = ServerOptions(defects=occasion, protected=defect.protected)
    return play(options, transport, server, forgets=defect.name == LOST_SESSION_USED)
