"""Roots: changes of the list are announced."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.core.vocabulary import Direction, Party
from clausewise.judge.ledger import Sheet, Spot
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message, Request
from clausewise.judge.session.sessions import MIXED, Session
from clausewise.judge.wording import counted

_LIST = "roots/list"
_CHANGED = "notifications/roots/list_changed"
_C2S = Direction.CLIENT_TO_SERVER


@dataclass(slots=True)
class _Roots:
    """The roots as the client listed them last.

    Attributes:
        uris: of that list; None before there is one.
        asked: seq of the request for it.
        announced: seq of the last change notification.
        silent: where a list differs that no notification announced yet, and what differs.
        asked_since: a request that the client has sent after that.
        heard: whether the client has answered a later request after that: it had the time.
    """

    uris: frozenset[str] | None = None
    asked: int = -1
    announced: int = -1
    silent: Spot | None = None
    seen: str = ""
    asked_since: Request | None = None
    heard: bool = False

    @property
    def had_time(self) -> bool:
        """Whether a request has gone to and fro since the silent change."""
        asked = self.asked_since
        return self.heard or (asked is not None and asked.answered is not None)


@check(
    "roots.changes-announced",
    on=f"client result:{_LIST}",
    subject="change of the roots between two lists",
)
def changes_announced(message: Message, session: Session, out: Sheet) -> None:
    """The roots change and the client, which declared listChanged, does not say so.

    Why: the server goes on in folders that are closed, and never looks into new ones.
    Fix: send notifications/roots/list_changed whenever the list changes.
    """
    request, roots = message.request, session.state(_Roots)
    uris = _uris(message)
    if request is None or uris is None:
        return
    if not session.handshake.declares(Party.CLIENT, "roots.listChanged"):
        return
    before, roots.uris = roots.uris, uris
    asked, roots.asked = roots.asked, request.seq
    if before is None or before == uris or roots.silent is not None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif roots.announced > asked:
        out.held(message)
    else:
        roots.silent = Spot(message.seq, message.direction)
        roots.seen = (
            f"{counted(len(uris - before), 'new root')} and {len(before - uris)} gone, "
            "without a notification since the list before"
        )


@changes_announced.on(f"client notification:{_CHANGED}")
def _announced(message: Message, session: Session, out: Sheet) -> None:
    roots = session.state(_Roots)
    roots.announced = message.seq
    if roots.silent is not None:
        # It may follow the list, as nothing says how soon it is due.
        out.held(roots.silent)
        roots.silent, roots.asked_since, roots.heard = None, None, False


@changes_announced.on("client request")
def _asks(message: Message, session: Session, out: Sheet) -> None:
    roots = session.state(_Roots)
    if roots.silent is not None and roots.asked_since is None:
        roots.asked_since = message.request


@changes_announced.on("client result", "client error")
def _answers(message: Message, session: Session, out: Sheet) -> None:
    roots, request = session.state(_Roots), message.request
    if roots.silent is not None and request is not None and request.seq > roots.silent.seq:
        roots.heard = True


@changes_announced.on("session-end")
def _never_announced(end: Spot, session: Session, out: Sheet) -> None:
    roots = session.state(_Roots)
    if roots.silent is None:
        return
    if not roots.had_time:
        out.undecided(roots.silent, "the recording ends too soon after the list to tell")
        return
    out.broke(
        roots.silent,
        "the roots have changed and the client did not say so",
        seen=roots.seen,
        expected=f"{_CHANGED} when the roots change",
    )


def _uris(message: Message) -> frozenset[str] | None:
    """The URIs of a list of roots; None if it is no proper list."""
    roots = message.result.get("roots")
    if message.direction is not _C2S or not isinstance(roots, list):
        return None
    uris = [root.get("uri") if isinstance(root, dict) else None for root in roots]
    found = frozenset(uri for uri in uris if isinstance(uri, str))
    return found if all(isinstance(uri, str) for uri in uris) else None
