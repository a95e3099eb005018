"""How long a check of a live server takes, beside the official suite on the same server."""

from __future__ import annotations

from dataclasses import dataclass

from anyio.from_thread import start_blocking_portal
from tests.official.server_leg import FIXTURES
from tests.official.suite import run_suite

from bench.startup import check_seconds
from clausewise.core.vocabulary import Revision
from clausewise.reference.server import serve_http

_ROUNDS = 3
MOST_S = 5.0
"""The most seconds that a check of a local server is to take."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seconds on one server, the fastest of some rounds.

    Attributes:
        check: of a check in both eras, every rule, every clause and the start of Python included.
        official: of the official suite by revision, the start of Node included.
    """

    check: float
    official: dict[str, float]

    @property
    def meets_target(self) -> bool:
        """Whether a check is quick, and no slower than both revisions of the suite."""
        return self.check <= min(MOST_S, sum(self.official.values()))


def compare_with_official() -> Comparison:
    """Time both in turn on the reference server, which has the tools that the suite asks for.

    Raises:
        FileNotFoundError: the suite is not installed (`make official-suite`).
    """
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serve_http(FIXTURES)) as url,
    ):
        checks, official = [], {revision.value: float("inf") for revision in Revision}
        for _ in range(_ROUNDS):
            checks.append(check_seconds(url))
            for revision, fastest in official.items():
                run = run_suite("server", revision, ["--url", url])
                official[revision] = min(fastest, run.seconds)
    return Comparison(min(checks), official)
