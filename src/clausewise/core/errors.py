"""The error tree: each message names the thing that went wrong and the next step."""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """What the process exit status says."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    NOTHING_JUDGED = 3


class ClausewiseError(Exception):
    """Base of every error that a user may see.

    Args:
        message: what went wrong, naming the thing.
        hint: the next step, a full sentence; empty when there is none.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ClausewiseError):
    """An argument, id or option that cannot be used as given."""


class ConfigError(UsageError):
    """A configuration file with an unknown key or a wrong value."""


class InternalError(ClausewiseError):
    """A fault of Clausewise itself."""


class NothingJudgedError(ClausewiseError):
    """The target or file gave nothing to judge; the run exits with 3."""

    exit_code = ExitCode.NOTHING_JUDGED


class TargetError(NothingJudgedError):
    """A live target cannot be reached, does not speak MCP, or never answers."""


class BarredError(TargetError):
    """A live target is there and lets nobody in, for want of credentials."""


class CertificateError(BarredError):
    """A live target's certificate is not trusted.

    `verify_code` is OpenSSL's number of the fault (`X509_V_ERR_…`), 0 where it is not known.
    """

    def __init__(self, message: str, hint: str = "", verify_code: int = 0) -> None:
        super().__init__(message, hint)
        self.verify_code = verify_code


class TraceError(NothingJudgedError):
    """A trace cannot be read; the message names the line."""
