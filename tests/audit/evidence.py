"""Make the evidence that the audits of the project's own server and client read, in build/audit.

    python -m tests.audit.evidence [server] [client]

Of the server: its tagged tests, the official suite's scenarios of both revisions, `check` on
both transports, open and protected, and a recording of the suite's legacy sessions. Of the
client: its tagged tests, the suite's scenarios of both revisions, and the recordings of its
sessions in them.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from clausewise.core.vocabulary import Revision
from tests.official.client_leg import run_client_leg
from tests.official.server_leg import run_server_leg
from tests.official.suite import ROOT

FOLDER = ROOT / "build" / "audit"
CLAUSEWISE = (sys.executable, "-m", "clausewise")
SERVER = (*CLAUSEWISE, "reference", "server")
SLOW = "count_slowly"
BY_CHANCE = "CANC-018,CANC-021,ELIC-013,ELIC-014"
"""What has an occasion only where the machine makes a tool slow, or quick, enough."""


def make_server() -> None:
    """All evidence about the reference server, made anew."""
    folder = emptied("server")
    tests("reference", folder / "junit.xml")
    for revision in Revision:
        run_server_leg(revision, results=folder / "official" / revision)
    run_server_leg(Revision.LEGACY, trace=folder / f"official-{Revision.LEGACY}.jsonl")
    check(folder / "check-stdio.json", "--", *SERVER, "--stdio")
    with serving() as (url, _):
        check(folder / "check-http.json", url, "--call-tool", SLOW)
    with serving("--auth") as (url, tokens):
        given = ("--bearer", tokens["TOKEN"], "--foreign-token", tokens["FOREIGN_TOKEN"])
        low = ("--low-scope-token", tokens["LOW_SCOPE_TOKEN"])
        check(folder / "check-protected.json", url, *given, *low)


def make_client() -> None:
    """All evidence about the reference client, made anew."""
    folder = emptied("client")
    tests("reference_client", folder / "junit.xml")
    for revision in Revision:
        results = folder / "official" / revision
        run_client_leg(revision, folder / "recordings" / revision, results)


def emptied(side: str) -> Path:
    folder = FOLDER / side
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def tests(package: str, report: Path) -> None:
    """Run the test files of a package of tests that have tags."""
    sources = sorted((ROOT / "tests" / package).glob("test_*.py"))
    tagged = [str(path) for path in sources if "# clause: " in path.read_text(encoding="utf-8")]
    options = ("-q", "-p", "no:cacheprovider", "--numprocesses", "2", f"--junitxml={report}")
    subprocess.run(
        [sys.executable, "-m", "pytest", *options, *tagged],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        check=False,
    )


def check(result: Path, *arguments: str) -> None:
    """Store the result of `clausewise check`."""
    command = [*CLAUSEWISE, "check", "-q", "--ignore", BY_CHANCE, "--report", f"json={result}"]
    command += arguments
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


@contextmanager
def serving(*options: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The URL of a reference server over HTTP, and the tokens that it prints."""
    command = [*SERVER, "--http", "127.0.0.1:0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        lines = [server.stdout.readline().strip() for _ in range(3 if "--auth" in options else 0)]
        try:
            yield url, dict(line.split("=", 1) for line in lines)
        finally:
            server.terminate()


MAKERS = {"server": make_server, "client": make_client}


if __name__ == "__main__":
    for side in sys.argv[1:] or MAKERS:
        MAKERS[side]()
