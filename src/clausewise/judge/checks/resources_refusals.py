"""Resources: the error code of a resource that is not found."""

from __future__ import annotations

import re

from clausewise.core.vocabulary import Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import Session
from clausewise.judge.subjects.error_codes import error_code
from clausewise.judge.subjects.refusals import error_text
from clausewise.judge.wording import shown
from clausewise.wire.codes import ErrorCode

_NOT_FOUND = re.compile(r"not found|no such|not exist|unknown resource", re.IGNORECASE)
_OTHER_THINGS = re.compile(
    r"method|session|tool|prompt|server not|upstream|database|module"
    r"|\b(?:host|dns|table|column|relation|command)\b",
    re.IGNORECASE,
)


@check(
    "resources.not-found-code",
    on="server error:resources/read",
    subject="error that says a resource is not found",
)
def not_found_code(message: Message, session: Session, out: Sheet) -> None:
    """A resource that is not found is refused with another code than -32002.

    Why: by the code a client tells a resource that is gone from one that could not be read just
    now.
    Fix: answer resources/read for an unknown URI with error -32002, the URI in `error.data.uri`.
    """
    code = error_code(message)
    if code is None or not session.handshake.declares(Party.SERVER, "resources"):
        return
    if code == ErrorCode.RESOURCE_NOT_FOUND:
        out.held(message)
    elif message.status is not None and message.status >= 400:
        return
    elif code != ErrorCode.METHOD_NOT_FOUND and _says_not_found(message):
        out.broke(
            message,
            "a resource that is not found is refused with another code",
            seen=f"error code {shown(code)} with message {shown(error_text(message))}",
            expected=f"error code {ErrorCode.RESOURCE_NOT_FOUND.value}",
        )


def _says_not_found(message: Message) -> bool:
    """Whether the error's text says that the resource asked for is not found."""
    text = error_text(message)
    request = message.request
    params = request.params if request is not None else None
    uri = params.get("uri") if isinstance(params, dict) else None
    # The URI may hold any word.
    words = text.replace(uri, "resource") if isinstance(uri, str) and uri else text
    if _NOT_FOUND.search(words) is None or _OTHER_THINGS.search(words) is not None:
        return False
    return "resource" in words.lower() or _names_uri(message, uri)


def _names_uri(message: Message, uri: object) -> bool:
    error = message.member("error")
    data = error.get("data") if isinstance(error, dict) else None
    return isinstance(data, dict) and isinstance(uri, str) and data.get("uri") == uri
