"""Make the evidence in evidence/ anew; the real server and clients are in the .cache folder.

make real-servers real-clients official-suite
.venv/bin/python examples/library_audit/evidence.py
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
EVIDENCE = FOLDER / "evidence"
PYTHON = ROOT / ".cache" / "real-servers" / "python-sdk" / "bin" / "python"
SERVER = (str(PYTHON), str(ROOT / "examples" / "servers" / "python_sdk_server.py"))
MODULES = ROOT / ".cache" / "official" / "node_modules"
SUITE = (
    str(MODULES / "node" / "bin" / "node"),
    str(MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"),
)
INSPECTOR = (
    ROOT / ".cache" / "real-clients" / "node_modules" / "@modelcontextprotocol" / "inspector-cli"
)
SCENARIOS = (
    "server-initialize",
    "ping",
    "tools-list",
    "resources-list",
    "dns-rebinding-protection",
)
INSPECTIONS = (
    ("tools/list",),
    ("tools/call", "--tool-name", "find_book", "--tool-arg", "key=emma"),
    ("resources/read", "--uri", "library://catalogue"),
)
CLAUSEWISE = (sys.executable, "-m", "clausewise")


@contextmanager
def serving() -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    quiet = subprocess.DEVNULL
    with subprocess.Popen([*SERVER, "--http", address], stdout=quiet, stderr=quiet) as server:
        time.sleep(3)
        try:
            yield f"http://{address}/mcp"
        finally:
            server.terminate()


def tests() -> None:
    """The tests need a server on the SDK, and themselves only pytest."""
    site = subprocess.check_output(
        [
            sys.executable,
            "-c",
            "import pytest, pathlib; print(pathlib.Path(pytest.__file__).parents[1])",
        ],
        text=True,
    ).strip()
    runner = (
        f"import sys; sys.path.append({site!r}); import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    )
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-c", "/dev/null")
    report = f"--junitxml={EVIDENCE / 'junit.xml'}"
    command = [str(PYTHON), "-c", runner, *options, f"--rootdir={FOLDER}", report, "tests"]
    subprocess.run(command, cwd=FOLDER, check=False)


def official(url: str) -> None:
    for scenario in SCENARIOS:
        options = ("--spec-version", "2025-11-25", "-o", str(EVIDENCE / "official"))
        command = [*SUITE, "server", "--url", url, "--scenario", scenario, *options]
        subprocess.run(command, check=False)


def probe(url: str) -> None:
    result = EVIDENCE / "check.json"
    options = ("--revision", "2025-11-25", "-q", "--report", f"json={result}")
    subprocess.run([*CLAUSEWISE, "check", url, *options], check=False)
    # The port is of this one run.
    text = result.read_text(encoding="utf-8").replace(url, "http://127.0.0.1:3001/mcp")
    result.write_text(text, encoding="utf-8")


def inspector(url: str) -> None:
    trace = EVIDENCE / "inspector.jsonl"
    record = ["record", "-o", str(trace), "--upstream", url, "--listen", "127.0.0.1:0"]
    with subprocess.Popen([*CLAUSEWISE, *record], stdout=subprocess.PIPE, text=True) as proxy:
        assert proxy.stdout is not None
        through = proxy.stdout.readline().strip()
        for inspection in INSPECTIONS:
            # It looks for its own package.json from the current directory on.
            command = ["node", "cli.js", "--cli", through, "--method", *inspection]
            subprocess.run(command, cwd=INSPECTOR / "build", check=True)
        proxy.terminate()


def main() -> None:
    shutil.rmtree(EVIDENCE, ignore_errors=True)
    EVIDENCE.mkdir()
    tests()
    with serving() as url:
        official(url)
        probe(url)
        inspector(url)


if __name__ == "__main__":
    main()
