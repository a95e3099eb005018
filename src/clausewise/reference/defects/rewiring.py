"""The moves that defects are made of: each gives a function from wiring to wiring."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from clausewise.core.vocabulary import Era
from clausewise.reference.call import Outlet
from clausewise.reference.features.tools import Tool
from clausewise.reference.http_layer import HttpExchange, HttpHead
from clausewise.reference.messages import JsonObject, RpcError
from clausewise.reference.modern.methods import METHODS
from clausewise.reference.modern.parts import Check, Handle, Incoming, ModernParts
from clausewise.reference.wiring import Answered, Route, Runtime, Wiring

Rewire = Callable[[Wiring], Wiring]
ChangeObject = Callable[[JsonObject], JsonObject]
ChangeAnswer = Callable[[Incoming, JsonObject], JsonObject]
ChangeError = Callable[[RpcError], RpcError]


def modern(wiring: Wiring, **changes: Any) -> Wiring:
    """`wiring` with these parts of the modern era replaced."""
    return replace(wiring, modern=replace(wiring.modern, **changes))


def on_result(method: str, change: ChangeObject) -> Rewire:
    """Change the finished result of one method."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.modern.result

        def result(incoming: Incoming, bare: JsonObject) -> JsonObject:
            finished = right(incoming, bare)
            return change(finished) if incoming.method == method else finished

        return modern(wiring, result=result)

    return rewire


def on_request(method: str, change: ChangeAnswer) -> Rewire:
    """Change the finished result of one method as its request asks for."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.modern.result

        def result(incoming: Incoming, bare: JsonObject) -> JsonObject:
            finished = right(incoming, bare)
            return change(incoming, finished) if incoming.method == method else finished

        return modern(wiring, result=result)

    return rewire


def on_delivered(
    applies: Callable[[Incoming, JsonObject], bool], change: Callable[[JsonObject], JsonObject]
) -> Rewire:
    """Change the response messages that `applies` picks, envelope included."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.modern.deliver

        async def deliver(
            incoming: Incoming, outlet: Outlet, message: JsonObject, status: int
        ) -> None:
            finished = change(message) if applies(incoming, message) else message
            await right(incoming, outlet, finished, status)

        return modern(wiring, deliver=deliver)

    return rewire


def on_sent(method: str, change: Callable[[JsonObject], Sequence[JsonObject]]) -> Rewire:
    """Replace each message that one method sends ahead of its response by those of `change`."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.modern.methods[method]

        async def handle(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
            return await right(incoming, _Changing(outlet, change), parts)

        return with_method(method, handle)(wiring)

    return rewire


class _Changing:
    """An outlet that sends other messages than it is given."""

    def __init__(
        self, outlet: Outlet, change: Callable[[JsonObject], Sequence[JsonObject]]
    ) -> None:
        self._outlet = outlet
        self._change = change

    async def send(self, message: JsonObject) -> None:
        for changed in self._change(message):
            await self._outlet.send(changed)

    async def finish(self, message: JsonObject, status: int = 200) -> None:
        await self._outlet.finish(message, status)

    async def hang_up(self, retry_ms: int) -> None:
        await self._outlet.hang_up(retry_ms)


def on_error(applies: Callable[[Incoming, RpcError], bool], change: ChangeError) -> Rewire:
    """Change the errors of the modern era that `applies` picks."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.modern.error

        def error(incoming: Incoming, raised: RpcError) -> RpcError:
            finished = right(incoming, raised)
            return change(finished) if applies(incoming, finished) else finished

        return modern(wiring, error=error)

    return rewire


def recoded(code: int) -> ChangeError:
    """Changes an error's code alone."""
    return lambda error: RpcError(code, error.message, error.data, status=error.status)


def with_status(status: int) -> ChangeError:
    """Changes an error's HTTP status alone."""
    return lambda error: RpcError(error.code, error.message, error.data, status=status)


def with_data(change: Callable[[Any], Any]) -> ChangeError:
    """Changes an error's data alone."""
    return lambda error: RpcError(
        error.code, error.message, change(error.data), status=error.status
    )


def with_method(method: str, handle: Handle) -> Rewire:
    """Add or replace a request method of the modern era."""
    return lambda wiring: modern(wiring, methods={**wiring.modern.methods, method: handle})


def answering(method: str, result: JsonObject) -> Rewire:
    """Add a request method of the modern era that always gives `result`."""

    async def handle(_incoming: Incoming, _outlet: Outlet, _parts: ModernParts) -> JsonObject:
        return result

    return with_method(method, handle)


def without_method(method: str) -> Rewire:
    """Remove a request method of the modern era."""

    def rewire(wiring: Wiring) -> Wiring:
        kept = {name: handle for name, handle in wiring.modern.methods.items() if name != method}
        return modern(wiring, methods=kept)

    return rewire


def on_listed(method: str, member: str, name: str, change: ChangeObject) -> Rewire:
    """Change the entry called `name` in a list of the modern era; `member` holds the entries."""

    def changed(result: JsonObject) -> JsonObject:
        entries = [change(one) if one["name"] == name else one for one in result[member]]
        return {**result, member: entries}

    return on_result(method, changed)


def listing_tools(
    choose: Callable[[Incoming, tuple[Tool, ...]], tuple[Tool, ...]],
) -> Rewire:
    """Let `choose` say which tools tools/list shows for a request, and in which order."""

    async def handle(incoming: Incoming, outlet: Outlet, parts: ModernParts) -> JsonObject:
        content = replace(parts.content, tools=choose(incoming, parts.content.tools))
        return await METHODS["tools/list"](incoming, outlet, replace(parts, content=content))

    return with_method("tools/list", handle)


def without_check(name: str) -> Rewire:
    """Leave out one check of the modern era."""

    def rewire(wiring: Wiring) -> Wiring:
        return modern(wiring, checks={k: v for k, v in wiring.modern.checks.items() if k != name})

    return rewire


def with_stricter(name: str, check: Check) -> Rewire:
    """Let `check` refuse more, after the check called `name` of the modern era."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.modern.checks[name]

        def both(incoming: Incoming, parts: ModernParts) -> None:
            right(incoming, parts)
            check(incoming, parts)

        return modern(wiring, checks={**wiring.modern.checks, name: both})

    return rewire


def forgiving(forgives: Callable[[Incoming], bool], *names: str) -> Rewire:
    """Let pass what the named checks of the modern era refuse, where `forgives` says so."""

    def rewire(wiring: Wiring) -> Wiring:
        checks = dict(wiring.modern.checks)
        for name in names:
            checks[name] = _lenient(checks[name], forgives)
        return modern(wiring, checks=checks)

    return rewire


def _lenient(right: Check, forgives: Callable[[Incoming], bool]) -> Check:
    def check(incoming: Incoming, parts: ModernParts) -> None:
        try:
            right(incoming, parts)
        except RpcError:
            if not forgives(incoming):
                raise

    return check


def with_check_first(name: str, check: Check) -> Rewire:
    """Add a check that runs before all others."""
    return lambda wiring: modern(wiring, checks={name: check, **wiring.modern.checks})


def on_head(
    applies: Callable[[Answered, HttpHead], bool], change: Callable[[HttpHead], HttpHead]
) -> Rewire:
    """Change the heads of the HTTP answers that `applies` picks."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.http.head

        def head(answered: Answered, built: HttpHead) -> HttpHead:
            finished = right(answered, built)
            return change(finished) if applies(answered, finished) else finished

        return replace(wiring, http=replace(wiring.http, head=head))

    return rewire


def retyped(era: Era, method: str, media_type: str) -> Rewire:
    """Give the JSON answers to one method of an era another media type."""

    def applies(answered: Answered, head: HttpHead) -> bool:
        is_json = ("Content-Type", "application/json") in head.headers
        return answered.era is era and answered.method == method and is_json

    def change(head: HttpHead) -> HttpHead:
        others = tuple(header for header in head.headers if header[0] != "Content-Type")
        return replace(head, headers=(("Content-Type", media_type), *others))

    return on_head(applies, change)


async def landing_page(exchange: HttpExchange, _runtime: Runtime) -> None:
    """A route that answers with a page for people."""
    await exchange.respond(HttpHead(200, (("Content-Type", "text/html"),)), b"<p>An MCP server.")


def with_route(method: str, path: str, route: Route) -> Rewire:
    """Add or replace what answers an HTTP method on a path."""

    def rewire(wiring: Wiring) -> Wiring:
        table = {**wiring.http.routes, (method, path): route}
        return replace(wiring, http=replace(wiring.http, routes=table))

    return rewire


def deliver_with(
    method: str,
    *,
    before: JsonObject | None = None,
    after: JsonObject | None = None,
) -> Rewire:
    """Send a message of one's own before or after the result of one method."""

    def rewire(wiring: Wiring) -> Wiring:
        right = wiring.modern.deliver

        async def deliver(
            incoming: Incoming, outlet: Outlet, message: JsonObject, status: int
        ) -> None:
            is_meant = incoming.method == method and "result" in message
            if is_meant and before is not None:
                await outlet.send(before)
            if is_meant and after is not None:
                await outlet.send(message)
                message = after
            await right(incoming, outlet, message, status)

        return modern(wiring, deliver=deliver)

    return rewire
