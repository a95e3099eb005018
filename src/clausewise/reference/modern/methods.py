"""The request methods of the modern era."""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.reference.call import Outlet
from clausewise.reference.features.methods import SHARED_METHODS, Method
from clausewise.reference.identity import INSTRUCTIONS
from clausewise.reference.messages import JsonObject
from clausewise.reference.modern.call import ModernCall
from clausewise.reference.modern.parts import Handle, Incoming, ModernParts
from clausewise.reference.modern.subscriptions import listen


async def discover(_incoming: Incoming, _outlet: Outlet, parts: ModernParts) -> JsonObject:
    """Source: server/discover."""
    return {
        "supportedVersions": list(parts.versions),
        "capabilities": parts.capabilities,
        "instructions": INSTRUCTIONS,
    }


def shared(method: Method) -> Handle:
    """A method of both eras as one of the modern era."""

    async def handle(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
        return await method(ModernCall(incoming, outlet, parts), parts.content)

    return handle


METHODS: Mapping[str, Handle] = {
    "server/discover": discover,
    "subscriptions/listen": listen,
    **{name: shared(method) for name, method in SHARED_METHODS.items()},
}
