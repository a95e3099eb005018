"""Whether an error response has the code that the specification names for the failure."""

from __future__ import annotations

import re

from clausewise.judge.ledger import Sheet
from clausewise.judge.session.messages import Message
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.wording import shown
from clausewise.wire.codes import LEGACY_CODES, ErrorCode

_OF_ITS_OWN = frozenset({ErrorCode.INTERNAL_ERROR, ErrorCode.URL_ELICITATION_REQUIRED})
_NAMES_THE_INPUT = re.compile(
    r"not found|unknown|no such|not exist|missing|required|invalid|unsupported|not supported",
    re.IGNORECASE,
)
_NAMES_THE_FAILURE = re.compile(
    r"unknown prompt|prompt\b.*\b(?:unknown|not found|not exist)|invalid (?:log )?level"
    r"|missing (?:required )?(?:argument|parameter)|required (?:argument|parameter)",
    re.IGNORECASE,
)
"""Names in such a text may hold any word."""

_NAMES_ANOTHER_CAUSE = re.compile(
    r"authenti|authori[sz]|credential|\btoken|api.?key|permission|forbidden|denied|rate.?limit"
    r"|too many|quota|\bsession\b|timed? ?out|unavailable|overload",
    re.IGNORECASE,
)
MAX_TEXT = 2048
"""Characters of an error's message that are read."""


def judge_refusal(
    message: Message, out: Sheet, failure: str, due: ErrorCode = ErrorCode.INVALID_PARAMS
) -> None:
    """Book an occasion: `message` is an error response to a request with this `failure`.

    A refusal by HTTP (for the session, the token, the load) is none, and one whose text speaks
    of such a cause decides nothing. Nor does a code for failures of the server's own, unless its
    text is about the input.
    """
    code = error_code(message)
    if code is None:
        return
    if code == due:
        out.held(message)
    elif message.status is not None and message.status >= 400:
        return
    elif _may_have_another_cause(message, code):
        out.undecided(message, f"error {shown(code)} may have another cause than {failure}")
    else:
        out.broke(
            message,
            f"{failure} is refused with another code",
            seen=f"error code {shown(code)}",
            expected=f"error code {due.value}",
        )


def error_text(message: Message) -> str:
    """The beginning of the `message` of an error response; empty if it is no string."""
    error = message.member("error")
    text = error.get("message") if isinstance(error, dict) else None
    return text[:MAX_TEXT] if isinstance(text, str) else ""


def _may_have_another_cause(message: Message, code: float) -> bool:
    text = error_text(message)
    if _NAMES_THE_FAILURE.search(text) is not None:
        return False
    if _NAMES_ANOTHER_CAUSE.search(text) is not None:
        return True
    is_own = code in _OF_ITS_OWN or code in LEGACY_CODES
    return is_own and _NAMES_THE_INPUT.search(text) is None
