"""The project's own pages of conformance are what its evidence gives now."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest

from clausewise.app import audit, audit_config
from clausewise.app.audit_page import Page
from clausewise.core.matrix import ProblemKind, RowVerdict
from tests.audit.evidence import FOLDER, make_client, make_server
from tests.official.conftest import installed
from tests.official.suite import ROOT

__all__ = ["installed"]

HARMLESS = {ProblemKind.RUN_WITHOUT_TAG, ProblemKind.NOTE}


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("config", "make"),
    [("clausewise.toml", make_server), ("clausewise-client.toml", make_client)],
    ids=["server", "client"],
)
def test_the_page_of_conformance_is_fresh(config: str, make: Callable[[], None]) -> None:
    loaded = audit_config.load(ROOT / config, ROOT)
    page = Page(loaded.root, loaded.page)
    with exclusive(config):
        make()
        matrix = audit.run(loaded)
        if page.compare(matrix).stale:
            make()  # what hangs on time may come out otherwise once on a busy machine
            matrix = audit.run(loaded)
    broken = [row.id for row in matrix.rows if row.verdict is RowVerdict.NON_CONFORMANT]
    assert broken == []
    assert [p for p in matrix.problems if p.kind not in HARMLESS] == []
    compared = page.compare(matrix)
    assert (compared.falls, compared.lost) == ((), ())
    assert (compared.stale, compared.changed) == ((), ()), (
        "run `make audit`; where only lines moved, `clausewise audit --write`"
    )


def exclusive(name: str) -> Lock:
    FOLDER.mkdir(parents=True, exist_ok=True)
    return Lock(FOLDER / f"{name}.lock")


class Lock:
    """A file that one process at a time holds: the evidence has one place."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w")

    def __enter__(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self._file.close()
