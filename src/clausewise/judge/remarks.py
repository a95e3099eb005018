"""Remarks about a recording as a whole: which revisions it speaks, what was not judged."""

from __future__ import annotations

from clausewise.core.results import Implementation
from clausewise.core.vocabulary import Revision
from clausewise.judge.gate import Gate
from clausewise.judge.session.sessions import Session
from clausewise.judge.wording import counted

MAX_REMARKS = 20
"""Different remarks about sessions; further ones become one."""

MAX_NAMED = 3
"""Sessions that one remark names; of more it gives the number."""


class Remarks:
    """Collects, session by session, what a reader of the verdicts should know."""

    def __init__(self) -> None:
        self._revisions: set[str] = set()
        self._sessions: dict[str, list[int]] = {}
        self._counts: dict[str, int] = {}
        self.server: Implementation | None = None

    def session_ended(self, session: Session, gate: Gate, *, was_heard: bool) -> None:
        """Take in a session that is over; `was_heard`: messages of it were judged."""
        remark = gate.remark
        if not was_heard and remark is None:
            return
        if gate.is_spoken:
            self._revisions.add(gate.revision)
        if self.server is None:
            self.server = _introduction(session)
        if remark is None:
            return
        if remark not in self._counts and len(self._counts) >= MAX_REMARKS:
            remark = "speaks yet another revision and is not wholly judged"
        self._counts[remark] = self._counts.get(remark, 0) + 1
        named = self._sessions.setdefault(remark, [])
        if len(named) < MAX_NAMED:
            named.append(session.number)

    @property
    def revisions(self) -> tuple[Revision, ...]:
        """The judged revisions that sessions speak, oldest first."""
        return tuple(r for r in Revision if r.value in self._revisions)

    def notes(self, lost: int, older: int) -> tuple[str, ...]:
        """The remarks as sentences.

        `lost` messages could not be given to any session, `older` ones travelled over HTTP+SSE.
        """
        notes = [
            _sentence(remark, named, self._counts[remark])
            for remark, named in self._sessions.items()
        ]
        if older:
            notes.append(
                f"not judged: {counted(older, 'message')} over HTTP+SSE, the transport of "
                "2024-11-05, which Streamable HTTP has replaced"
            )
        if lost:
            notes.append(
                f"not judged: {counted(lost, 'message')} from servers, of which the "
                "recording does not show to what session or exchange they belong"
            )
        return tuple(notes)


def _sentence(remark: str, named: list[int], count: int) -> str:
    if count == 1:
        return f"session {named[0]} {remark}"
    numbers = ", ".join(str(number) for number in named)
    more = f" and {count - len(named)} more" if count > len(named) else ""
    return f"sessions {numbers}{more}: each {remark}"


def _introduction(session: Session) -> Implementation | None:
    info = (session.handshake.result or {}).get("serverInfo")
    if not isinstance(info, dict):
        return None
    name, version = info.get("name"), info.get("version")
    if not (isinstance(name, str) and isinstance(version, str)):
        return None
    return Implementation(name, version)
