"""The main job on a real server: start one on the official Python SDK, check it, stop it.

Exits with 0 when the check ran to its end, whatever it found; the report is what to read.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import time
from pathlib import Path

SERVER = Path(__file__).parent / "servers" / "python_sdk_server.py"
START_WITHIN_S = 30.0
NOTHING_JUDGED = 3


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_listening(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_WITHIN_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SystemExit(f"the server exited with {server.returncode} before it listened")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=0.2).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"the server did not listen within {START_WITHIN_S:.0f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", required=True, help="an interpreter that has `mcp` 2.3.0")
    options = parser.parse_args()
    port = free_port()
    command = [options.python, str(SERVER), "--http", f"127.0.0.1:{port}"]
    print(f"$ {SERVER.name} --http 127.0.0.1:{port} &", flush=True)
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet) as server:
        try:
            wait_until_listening(server, port)
            url = f"http://127.0.0.1:{port}/mcp"
            print(f"$ clausewise check {url}", flush=True)
            code = subprocess.call([sys.executable, "-m", "clausewise", "check", url])
        finally:
            server.terminate()
    print(f"exit code {code}")
    return 0 if code in (0, 1) else code


if __name__ == "__main__":
    sys.exit(main())
