"""The moves that defects of the legacy era are made of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from clausewise.core.vocabulary import Era
from clausewise.reference.call import Outlet
from clausewise.reference.defects.defect import BOTH_TRANSPORTS, HTTP_ONLY, STDIO_ONLY, Defect
from clausewise.reference.defects.rewiring import ChangeObject, Rewire
from clausewise.reference.legacy.parts import Handle, LegacyParts
from clausewise.reference.legacy.sessions import LegacySession
from clausewise.reference.messages import JsonObject, RpcError
from clausewise.reference.wiring import Wiring

LEGACY_ERAS = frozenset({Era.DUAL, Era.LEGACY})


def legacy_defect(
    name: str, summary: str, apply: Rewire, *clauses: str, rules: tuple[str, ...] = ()
) -> Defect:
    """A defect that shows in legacy sessions only, in the same way on either transport."""
    return Defect(name, summary, apply, rules, clauses, LEGACY_ERAS, BOTH_TRANSPORTS, alike=True)


def legacy_http_defect(name: str, summary: str, apply: Rewire, *clauses: str) -> Defect:
    """A defect that shows in legacy sessions over HTTP."""
    return Defect(name, summary, apply, (), clauses, LEGACY_ERAS, HTTP_ONLY, alike=True)


def legacy_stdio_defect(name: str, summary: str, apply: Rewire, *clauses: str) -> Defect:
    """A defect that shows in legacy sessions on stdio."""
    return Defect(name, summary, apply, (), clauses, LEGACY_ERAS, STDIO_ONLY, alike=True)


def legacy(wiring: Wiring, **changes: Any) -> Wiring:
    """`wiring` with these parts of the legacy era replaced."""
    return replace(wiring, legacy=replace(wiring.legacy, **changes))


def undeclared(name: str) -> Rewire:
    """Have a feature without declaring its capability."""

    def rewire(wiring: Wiring) -> Wiring:
        kept = {key: one for key, one in wiring.legacy.capabilities.items() if key != name}
        return legacy(wiring, capabilities=kept)

    return rewire


def on_legacy_result(method: str, change: ChangeObject) -> Rewire:
    """Change the result of one method."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.legacy.result

        def result(message: JsonObject, bare: JsonObject) -> JsonObject:
            finished = right(message, bare)
            return change(finished) if message["method"] == method else finished

        return legacy(wiring, result=result)

    return rewire


def on_legacy_response(
    applies: Callable[[JsonObject, JsonObject], bool], change: ChangeObject
) -> Rewire:
    """Change the response messages that `applies(request, response)` picks."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.legacy.deliver

        async def deliver(
            message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
        ) -> None:
            changed = change(response) if applies(message, response) else response
            await right(message, outlet, session, changed)

        return legacy(wiring, deliver=deliver)

    return rewire


def before_legacy_response(
    method: str, messages: Callable[[LegacySession], tuple[JsonObject, ...]]
) -> Rewire:
    """Send messages of one's own ahead of each response to `method`."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.legacy.deliver

        async def deliver(
            message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
        ) -> None:
            if message["method"] == method:
                for aside in messages(session):
                    await outlet.send(aside)
            await right(message, outlet, session, response)

        return legacy(wiring, deliver=deliver)

    return rewire


def is_tools_list(message: JsonObject, _response: JsonObject) -> bool:
    """Picks the responses to tools/list."""
    return bool(message["method"] == "tools/list")


def is_error(_message: JsonObject, response: JsonObject) -> bool:
    """Picks the error responses."""
    return "error" in response


def on_tool(name: str, change: ChangeObject) -> Rewire:
    """Change the definition of one tool in tools/list."""

    def changed(result: JsonObject) -> JsonObject:
        tools = [change(tool) if tool["name"] == name else tool for tool in result["tools"]]
        return {**result, "tools": tools}

    return on_legacy_result("tools/list", changed)


def after_legacy_response(
    method: str, messages: Callable[[LegacySession, JsonObject], tuple[JsonObject, ...]]
) -> Rewire:
    """Send messages, made of session and request, after each response to `method`.

    Over HTTP they come on the stream of that response.
    """

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.legacy.deliver

        async def deliver(
            message: JsonObject, outlet: Outlet, session: LegacySession, response: JsonObject
        ) -> None:
            asides = messages(session, message) if message["method"] == method else ()
            if not asides:
                await right(message, outlet, session, response)
                return
            await outlet.send(response)
            for aside in asides[:-1]:
                await outlet.send(aside)
            await outlet.finish(asides[-1])

        return legacy(wiring, deliver=deliver)

    return rewire


def on_legacy_error(
    applies: Callable[[JsonObject, RpcError], bool], change: Callable[[RpcError], RpcError]
) -> Rewire:
    """Change the errors that `applies(request, error)` picks."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.legacy.error

        def error(message: JsonObject, raised: RpcError) -> RpcError:
            finished = right(message, raised)
            return change(finished) if applies(message, finished) else finished

        return legacy(wiring, error=error)

    return rewire


def around_legacy_method(method: str, around: Callable[[Handle], Handle]) -> Rewire:
    """Put something around what answers one method."""

    def rewire(wiring: Wiring) -> Wiring:
        methods = wiring.legacy.methods
        return legacy(wiring, methods={**methods, method: around(methods[method])})

    return rewire


def forgiving_legacy(method: str, forgives: Callable[[RpcError], bool], bare: JsonObject) -> Rewire:
    """Give the result `bare` instead of the errors that `forgives` picks."""

    def around(right: Handle) -> Handle:
        async def handle(
            message: JsonObject, outlet: Outlet, session: LegacySession, parts: LegacyParts
        ) -> JsonObject:
            try:
                return await right(message, outlet, session, parts)
            except RpcError as error:
                if forgives(error):
                    return bare
                raise

        return handle

    return around_legacy_method(method, around)
