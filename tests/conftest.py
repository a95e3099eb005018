"""What every test may ask for: the shared material, the async backend."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure() -> None:
    """Hear signals: a run in the background inherits that some are ignored, and hands it on."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the specification and recorded sessions; skips where it is absent."""
    folder = Path(os.environ.get("CLAUSEWISE_SHARED", ROOT.parent / "shared"))
    if not (folder / "spec").is_dir():
        pytest.skip(f"no specification at {folder}; set CLAUSEWISE_SHARED to a copy")
    return folder
