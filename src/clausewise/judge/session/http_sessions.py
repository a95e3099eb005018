"""The sessions of an HTTP recording: by MCP-Session-Id, by label, or by initialize request."""

from __future__ import annotations

from collections.abc import Callable

from clausewise.core.vocabulary import TransportKind
from clausewise.judge.session.exchanges import Exchange, session_id_of
from clausewise.judge.session.sessions import Session
from clausewise.trace.events import Event, EventKind
from clausewise.wire.jsonrpc import MessageClass, classify

MAX_LIVE_SESSIONS = 1024
"""Sessions followed at a time; beyond it the older half is judged as ended."""

_Key = tuple[str, str | int]


class HttpSessions:
    """Every session that may still get traffic, and how to find it.

    `make` creates a session, `end` is called once for each that is over.
    """

    def __init__(self, make: Callable[..., Session], end: Callable[[Session], None]) -> None:
        self._make = make
        self._end = end
        self._by_key: dict[_Key, Session] = {}
        self._live: dict[Session, list[_Key]] = {}
        self._without_id: list[Session] = []
        self._stray: Session | None = None
        self._modern: Session | None = None
        self._has_other = False

    @property
    def latest(self) -> Session | None:
        """The session that began last."""
        return next(reversed(self._live), None)

    def only(self) -> Session | None:
        """The session, if there is just one."""
        return self.latest if len(self._live) == 1 else None

    def of_label(self, label: str | int | None) -> Session | None:
        """The session with the recorder's label, if there is one."""
        return None if label is None else self._by_key.get(("label", label))

    def labelled(self, label: str | int, *, begun: bool) -> Session:
        """The session with the recorder's label."""
        return self._keyed(("label", label), begun=begun)

    def with_id(self, session_id: str) -> Session:
        """The session with this MCP-Session-Id; one not seen to begin if it is new."""
        session = self._keyed(("id", session_id), begun=False)
        session.session_id = session_id
        return session

    def modern(self) -> Session:
        """All stateless traffic of the modern era, which has no sessions."""
        if self._modern is None:
            self._modern = self._new(begun=False)
        return self._modern

    def begin(self) -> Session:
        """A session that an initialize request opens."""
        session = self._new(begun=True)
        self._without_id.append(session)
        return session

    def without_id(self, *, is_message: bool, operates: bool = False) -> Session:
        """The session of a request without MCP-Session-Id that does not initialize.

        It is the latest that got no id. Where there are several, or one whose beginning was
        not recorded, messages of either may come here from now on, and the session is marked
        so. With `operates` the request is one that only a session already begun should have.
        """
        if self._without_id:
            session = self._without_id[-1]
            if is_message and (len(self._without_id) > 1 or self._has_other):
                session.shared = True
            return session
        if self._modern is not None:
            # Beside traffic of the modern era, a request without any sign is rather of it.
            return self._modern
        only = self.only()
        if only is not None:
            return only
        if self._stray is None:
            self._stray = self._new(begun=False)
        self._has_other = self._has_other or operates
        return self._stray

    def note_other(self) -> None:
        """Take in that a session may be at work whose beginning was not recorded."""
        self._has_other = True

    def bind(self, label: str | int, session: Session) -> None:
        """Find `session` by this label from now on, unless another has it."""
        key = ("label", label)
        if session in self._live and key not in self._by_key:
            self._by_key[key] = session
            self._live[session].append(key)

    def answered(self, exchange: Exchange) -> None:
        """Take in a response head: an initialize request got its session id or was refused."""
        session = exchange.session
        if not exchange.initializes or session not in self._live or exchange.response is None:
            return
        if exchange.is_refused:
            self._forget_without_id(session)
            return
        session_id = session_id_of(exchange.response)
        if session_id is None:
            session_id = exchange.sent_id
        if session_id is None:
            return
        self._forget_without_id(session)
        previous = self._by_key.get(("id", session_id))
        if previous is not None and previous is not session:
            self._finish(previous)
        session.session_id = session_id
        self._by_key["id", session_id] = session
        self._live[session].append(("id", session_id))

    def delivered(self, exchange: Exchange, event: Event) -> None:
        """Take in what came back: an initialize request answered by an error opens nothing."""
        if (
            exchange.initializes
            and event.kind is EventKind.MESSAGE
            and classify(event.payload) is MessageClass.ERROR
        ):
            self._forget_without_id(exchange.session)

    def settled(self, exchange: Exchange) -> None:
        """End the session whose DELETE was accepted."""
        status = exchange.status
        if exchange.method == "DELETE" and status is not None and 200 <= status < 300:
            self._finish(exchange.session)

    def finish(self) -> None:
        """End every session, in the order in which they began."""
        for session in list(self._live):
            self._finish(session)

    def _keyed(self, key: _Key, *, begun: bool) -> Session:
        session = self._by_key.get(key)
        if session is None:
            session = self._by_key[key] = self._new(begun=begun)
            self._live[session].append(key)
        return session

    def _new(self, *, begun: bool) -> Session:
        if len(self._live) >= MAX_LIVE_SESSIONS:
            for session in list(self._live)[: MAX_LIVE_SESSIONS // 2]:
                self._finish(session)
        session = self._make(TransportKind.HTTP, begun=begun)
        self._live[session] = []
        return session

    def _finish(self, session: Session) -> None:
        keys = self._live.pop(session, None)
        if keys is None:
            return
        for key in keys:
            if self._by_key.get(key) is session:
                del self._by_key[key]
        self._forget_without_id(session)
        if session is self._stray:
            self._stray = None
        if session is self._modern:
            self._modern = None
        self._end(session)

    def _forget_without_id(self, session: Session) -> None:
        if session in self._without_id:
            self._without_id.remove(session)
