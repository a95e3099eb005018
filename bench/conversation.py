"""One session between a client and a server that keep 2025-11-25, as turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from clausewise.core.vocabulary import Party, Revision

Message = dict[str, Any]

_LINES = (
    "def read(path: str) -> str:\n"
    '    """Read a file, with \\n at the ends of lines — as text."""\n'
    "    with open(path, encoding='utf-8') as file:\n"
    "        return file.read()\n\n"
    '{"level": "info", "logger": "files", "message": "naïve paths are normalised"}\n'
)
_TEXT = _LINES * 40

CLIENT_CAPABILITIES = {
    "roots": {"listChanged": True},
    "sampling": {"tools": {}, "context": {}},
    "elicitation": {"form": {}, "url": {}},
}
SERVER_CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "completions": {},
    "logging": {},
    "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A message and who sent it."""

    sender: Party
    message: Message


@dataclass(frozen=True, slots=True)
class Turn:
    """What belongs together on the wire.

    Attributes:
        asked: the client's message; None where the server begins on its own.
        between: what either side sends before the answer.
        answer: the server's answer; None for notifications and for what stays unanswered.
    """

    asked: Message | None
    between: tuple[Sent, ...] = ()
    answer: Message | None = None


class Voice:
    """Makes the messages of one session: counts ids and draws texts and choices."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self._by_client = 0
        self._by_server = 0

    def text(self, mean: int) -> str:
        """Some lines of text, of about `mean` characters."""
        size = self.random.randrange(mean // 2, mean * 3 // 2)
        start = self.random.randrange(len(_LINES))
        return _TEXT[start : start + size]

    def records(self, count: int) -> list[Message]:
        """Rows as a database or a search gives them."""
        return [
            {
                "id": self.random.getrandbits(32),
                "name": f"record {number}",
                "score": round(self.random.random(), 3),
                "tags": ["new", "checked"],
                "archived": False,
                "parent": None,
            }
            for number in range(count)
        ]

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def request(self, method: str, **params: Any) -> Message:
        """A request of the client, with the next id."""
        self._by_client += 1
        return _request(self._by_client, method, params)

    def server_request(self, method: str, **params: Any) -> Message:
        """A request of the server, with the next id."""
        self._by_server += 1
        return _request(f"s-{self._by_server}", method, params)

    def call(self, method: str, result: Message, **params: Any) -> Turn:
        """A turn of a client's request and its result."""
        asked = self.request(method, **params)
        return Turn(asked, (), answered(asked, result))

    def refused(self, method: str, code: int, **params: Any) -> Turn:
        """A turn of a client's request and its error."""
        asked = self.request(method, **params)
        return Turn(asked, (), failed(asked, code, self.text(60)))

    def exchange(self, method: str, result: Message, **params: Any) -> tuple[Sent, Sent]:
        """A server's request and the client's result."""
        asked = self.server_request(method, **params)
        return by_server(asked), by_client(answered(asked, result))


def _request(number: int | str, method: str, params: Message) -> Message:
    message: Message = {"jsonrpc": "2.0", "id": number, "method": method}
    return {**message, "params": params} if params else message


def notice(method: str, **params: Any) -> Message:
    """A notification."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    return {**message, "params": params} if params else message


def answered(request: Message, result: Message) -> Message:
    """The result response to `request`."""
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def failed(request: Message, code: int, text: str) -> Message:
    """The error response to `request`."""
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": text}}


def by_server(message: Message) -> Sent:
    """The server sends `message`."""
    return Sent(Party.SERVER, message)


def by_client(message: Message) -> Sent:
    """The client sends `message`."""
    return Sent(Party.CLIENT, message)


def handshake(voice: Voice) -> Iterator[Turn]:
    """The initialization phase."""
    version = Revision.LEGACY.value
    yield voice.call(
        "initialize",
        {
            "protocolVersion": version,
            "capabilities": SERVER_CAPABILITIES,
            "serverInfo": {"name": "bench-server", "version": "1.4.2"},
            "instructions": voice.text(200),
        },
        protocolVersion=version,
        capabilities=CLIENT_CAPABILITIES,
        clientInfo={"name": "bench-client", "title": "Bench client", "version": "2.0.0"},
    )
    yield Turn(notice("notifications/initialized"))
