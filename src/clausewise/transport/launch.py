"""Start a server's process, or say why it cannot be started."""

from __future__ import annotations

import os
from pathlib import Path
from subprocess import PIPE

import anyio
from anyio.abc import Process

from clausewise.core.errors import TargetError
from clausewise.transport.targets import StdioTarget


async def launch(target: StdioTarget) -> Process:
    """Start the command in a session and process group of its own, its three streams piped.

    Raises:
        TargetError: the command is empty, does not exist or cannot be executed, or the
            folder does not exist.
    """
    if not target.command:
        raise TargetError("the command is empty", "Give the server's command after --.")
    try:
        return await anyio.open_process(
            list(target.command),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            cwd=target.cwd,
            env={**os.environ, **target.env},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise unlaunchable(target, error) from None


def unlaunchable(target: StdioTarget, error: OSError | ValueError) -> TargetError:
    """Why the command could not be started, as an error to tell the user."""
    program = target.command[0]
    if target.cwd is not None and not Path(target.cwd).is_dir():
        return TargetError(f"there is no folder {target.cwd}", "Give --cwd a folder that exists.")
    if isinstance(error, FileNotFoundError):
        return TargetError(
            f"the command {program} was not found", "Check its spelling and the PATH."
        )
    if isinstance(error, PermissionError):
        return TargetError(
            f"the command {program} may not be executed",
            "Make the file executable, or name its interpreter first.",
        )
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return TargetError(
        f"the command {program} cannot be launched: {reason}",
        "Run it by hand in a shell to see whether it starts.",
    )
