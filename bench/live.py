"""How long a check of a live server takes, beside the official suite on the same server."""

from __future__ import annotations

from dataclasses import dataclass

from anyio.from_thread import start_blocking_portal
from tests.official.server_leg import FIXTURES
from tests.official.suite import run_suite

from bench.startup import check_over_stdio, check_seconds
from clausewise.core.vocabulary import Revision, TransportKind
from clausewise.reference.server import serve_http

_ROUNDS = 3
MOST_S = 5.0
"""The most seconds that a check of a local server is to take."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seconds on one server, the fastest of some rounds.

    Attributes:
        checks: by transport, of a check in both eras, every rule, every clause and the start
            of Python included; on stdio the starts of the server, too.
        official: of the official suite by revision, the start of Node included. It speaks to
            servers over HTTP alone.
    """

    checks: dict[TransportKind, float]
    official: dict[str, float]

    @property
    def suite(self) -> float:
        """Of both revisions of the suite."""
        return sum(self.official.values())

    def ratio(self, transport: TransportKind) -> float:
        """The time of a check, by that of the suite."""
        return self.checks[transport] / self.suite

    @property
    def meets_target(self) -> bool:
        """Whether checks are quick, and that over HTTP is no slower than the suite."""
        return max(self.checks.values()) <= MOST_S and self.ratio(TransportKind.HTTP) <= 1


def compare_with_official() -> Comparison:
    """Time both in turn on the reference server, which has the tools that the suite asks for.

    Raises:
        FileNotFoundError: the suite is not installed (`make official-suite`).
    """
    checks = dict.fromkeys(TransportKind, float("inf"))
    official = {revision.value: float("inf") for revision in Revision}
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_http(FIXTURES)) as url,
    ):
        for _ in range(_ROUNDS):
            seconds = {
                TransportKind.HTTP: check_seconds(url),
                TransportKind.STDIO: check_over_stdio("--fixtures", "--logging"),
            }
            checks = {each: min(checks[each], taken) for each, taken in seconds.items()}
            for revision, fastest in official.items():
                run = run_suite("server", revision, ["--url", url])
                official[revision] = min(fastest, run.seconds)
    return Comparison(checks, official)
