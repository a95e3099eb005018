"""Quirks of messages: errors, versions, what comes ahead of a response."""

from __future__ import annotations

from typing import Any

from clausewise.reference.defects.legacy_rewiring import legacy, on_legacy_error
from clausewise.reference.defects.rewiring import Rewire, modern, on_error, without_method
from clausewise.reference.messages import JsonObject, RpcError, notification
from clausewise.reference.modern.parts import Incoming
from clausewise.reference.options import ServerOptions
from clausewise.reference.wiring import Wiring
from clausewise.wire.meta import META_SERVER_INFO
from tests.probe.quirks.features import every_modern_result, every_result, in_turn
from tests.probe.quirks.serving import Quirk


def _all_errors(change: Any) -> Rewire:
    return in_turn(
        on_error(lambda _i, _e: True, change), on_legacy_error(lambda _m, _e: True, change)
    )


def _worded(error: RpcError) -> RpcError:
    message = "Ошибка: " + "très grave 🎉 " * 200 + error.message
    return RpcError(error.code, message, error.data, status=error.status)


def _with_more_data(error: RpcError) -> RpcError:
    data = error.data if isinstance(error.data, dict) else {}
    data = {**data, "trace": ["a", None], "help": "https://example.com/errors"}
    return RpcError(error.code, error.message, data, status=error.status)


def _with_text_data(error: RpcError) -> RpcError:
    if isinstance(error.data, dict):
        return error
    return RpcError(error.code, error.message, "ask the operator", status=error.status)


def _no_missing_uri(error: RpcError) -> RpcError:
    keeps = isinstance(error.data, dict) and "uri" not in error.data
    return RpcError(error.code, error.message, error.data if keeps else None, status=error.status)


def _ok_status(error: RpcError) -> RpcError:
    """HTTP 200 where the pages name no status."""
    fixed = error.code in (-32020, -32021, -32022, -32601) or error.status != 400
    return (
        error
        if fixed or (error.code == -32602 and "_meta" in error.message)
        else RpcError(error.code, error.message, error.data, status=200)
    )


def _terse_discovery(method: str, result: JsonObject) -> JsonObject:
    if method in ("server/discover", "initialize"):
        return {k: v for k, v in result.items() if k != "instructions"}
    return result


def _renamed(method: str, result: JsonObject) -> JsonObject:
    info = {"name": "Mein Server – 中文", "version": "v1-beta+exp.sha"}
    if method == "initialize":
        return {**result, "serverInfo": info}
    meta = result.get("_meta", {})
    if META_SERVER_INFO in meta:
        return {**result, "_meta": {**meta, META_SERVER_INFO: info}}
    return result


def _more_versions(wiring: Wiring) -> Wiring:
    return modern(wiring, versions=(*wiring.modern.versions, "DRAFT-2027-v1", "2027-01-01"))


def _tells_legacy_versions(method: str, result: JsonObject) -> JsonObject:
    if method != "server/discover":
        return result
    return {**result, "supportedVersions": ["2025-11-25", *result["supportedVersions"]]}


def _progress_always(wiring: Wiring) -> Wiring:
    """Progress ahead of each response to a request that wants it, in floats without a total."""
    right, then = wiring.modern.deliver, wiring.legacy.deliver
    lists = ("tools/list", "prompts/list", "resources/list", "resources/read", "prompts/get")

    def steps(params: JsonObject) -> list[JsonObject]:
        token = (params.get("_meta") or {}).get("progressToken")
        about = [{"progressToken": token, "progress": at} for at in (-1, 0, 0.001, 1e3)]
        return [] if token is None else [notification("notifications/progress", a) for a in about]

    async def deliver(incoming: Incoming, outlet: Any, message: JsonObject, status: int) -> None:
        if incoming.method in lists and "result" in message:
            for step in steps(incoming.params):
                await outlet.send(step)
        await right(incoming, outlet, message, status)

    async def legacy_deliver(
        message: JsonObject, outlet: Any, session: Any, response: JsonObject
    ) -> None:
        if message["method"] in lists and "result" in response:
            for step in steps(message.get("params") or {}):
                await outlet.send(step)
        await then(message, outlet, session, response)

    return legacy(modern(wiring, deliver=deliver), deliver=legacy_deliver)


QUIRKS = (
    Quirk("words its errors at length", _all_errors(_worded)),
    Quirk("adds data to each error", _all_errors(_with_more_data)),
    Quirk("has text for the data of errors", _all_errors(_with_text_data)),
    Quirk("tells no URI that is missing", _all_errors(_no_missing_uri)),
    Quirk("answers errors of parameters with 200", on_error(lambda _i, _e: True, _ok_status)),
    Quirk("gives no instructions", every_result(_terse_discovery)),
    Quirk("has an odd name and version", every_result(_renamed)),
    Quirk("speaks versions of the future, too", _more_versions),
    Quirk("tells the legacy versions that it speaks", every_modern_result(_tells_legacy_versions)),
    Quirk("tells progress wherever it is asked to", _progress_always),
    Quirk("has the fixtures of the official suite", options=ServerOptions(fixtures=True)),
    Quirk("has no completion", without_method("completion/complete")),
)
