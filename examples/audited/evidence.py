"""Make the evidence about the notes server: in before/build and after/build.

    python evidence.py [before|after ...]

For each: the server's own tests (junit.xml), `clausewise check` (check.json) and a session
recorded by `clausewise record` (session.jsonl).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
CLAUSEWISE = (sys.executable, "-m", "clausewise")
TOOLS = ("divide", "index", "publish")


@contextmanager
def running(*command: str) -> Iterator[str]:
    """A server in the background; gives the URL that it prints."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        assert server.stdout is not None
        line = server.stdout.readline().decode()
        try:
            yield line[line.index("http://") :].split()[0]
        finally:
            server.terminate()


def tests(version: str, folder: Path) -> None:
    report = f"--junitxml={folder / 'junit.xml'}"
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly")
    subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(FOLDER), report, "tests"],
        cwd=FOLDER,
        env=os.environ | {"NOTES_SERVER": version},
        stdout=subprocess.DEVNULL,
        check=False,
    )


def check(url: str, folder: Path) -> None:
    """Probe one thing at a time: where sessions mix, probes side by side would, too."""
    tools = [word for tool in TOOLS for word in ("--call-tool", tool)]
    options = ("--revision", "2025-11-25", "--concurrency", "1", "--timeout", "4")
    report = ("-q", "--report", f"json={folder / 'check.json'}")
    with (folder / "check.log").open("wb") as log:
        command = [*CLAUSEWISE, "check", url, *options, *tools, *report]
        subprocess.run(command, stdout=log, stderr=log, check=False)


def record(url: str, folder: Path) -> None:
    trace = folder / "session.jsonl"
    trace.unlink(missing_ok=True)
    recorder = ("record", "-o", str(trace), "--upstream", url, "--listen", "127.0.0.1:0")
    with running(*CLAUSEWISE, *recorder) as proxy:
        subprocess.run([sys.executable, "session.py", proxy], cwd=FOLDER, check=True)


def make(version: str) -> None:
    folder = FOLDER / version / "build"
    folder.mkdir(parents=True, exist_ok=True)
    tests(version, folder)
    with running(sys.executable, str(FOLDER / version / "server.py"), "--port", "0") as url:
        record(url, folder)
        check(url, folder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("versions", nargs="*", default=["before", "after"])
    with ThreadPoolExecutor() as pool:
        list(pool.map(make, parser.parse_args().versions))


if __name__ == "__main__":
    main()
