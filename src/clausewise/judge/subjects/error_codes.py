"""The code of an error response, as far as it is one."""

from __future__ import annotations

from clausewise.judge.session.messages import Message


def error_code(message: Message) -> int | float | None:
    """The code of an error response; None if it is no number or there is none.

    `-32602.0` is the number -32602.
    """
    error = message.member("error")
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, (int, float)) and not isinstance(code, bool) else None
