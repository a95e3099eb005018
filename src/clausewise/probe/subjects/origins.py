"""Origins that are not a server's own, and what it means that one of them is served."""

from __future__ import annotations

from clausewise.core.vocabulary import Outcome
from clausewise.probe.conversation.reply import Reply
from clausewise.probe.observation import Observation, broke
from clausewise.transport.addresses import Neighbourhood, look_up, neighbourhood
from clausewise.transport.targets import HttpTarget

FOREIGN_ORIGIN = "https://evil.example"


def look_alike(target: HttpTarget) -> str:
    """An origin of somebody else that begins like the server's own."""
    scheme = "https" if target.is_tls else "http"
    host = "localhost" if ":" in target.host else target.host
    return f"{scheme}://{host}.evil.example:{target.port}"


async def served_foreign_origin(
    target: HttpTarget, reply: Reply, seconds: float, origin: str = FOREIGN_ORIGIN
) -> Observation:
    """The fault that `reply`, a success for a request of that origin, shows.

    A public server may mean to be open to every page, and says so to browsers.
    """
    allowed = reply.header("access-control-allow-origin")
    open_to_all = allowed in ("*", origin) and await _is_public(target, seconds)
    declared = f", and Access-Control-Allow-Origin: {allowed}" if allowed else ""
    return broke(
        "a request with a foreign Origin is served",
        seen=f"{reply.shown}, for Origin {origin}{declared}",
        expected="HTTP 403, unless the server means every origin to be valid"
        if open_to_all
        else "HTTP 403",
        severity=Outcome.WARN if open_to_all else None,
        evidence=reply,
    )


async def _is_public(target: HttpTarget, seconds: float) -> bool:
    addresses = await look_up(target.host, target.port, seconds)
    return all(neighbourhood(one) is Neighbourhood.PUBLIC for one in addresses)
