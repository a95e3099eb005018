"""Every definition of a revision by its official name, and self-contained schemas of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType

from clausewise.core.vocabulary import Revision
from clausewise.wire import methods
from clausewise.wire.methods import NotificationMethod, RequestMethod
from clausewise.wire.shapes.common import base as common_base
from clausewise.wire.shapes.common import client as common_client
from clausewise.wire.shapes.common import content as common_content
from clausewise.wire.shapes.common import server as common_server
from clausewise.wire.shapes.legacy import base as legacy_base
from clausewise.wire.shapes.legacy import client as legacy_client
from clausewise.wire.shapes.legacy import server as legacy_server
from clausewise.wire.shapes.legacy import tasks as legacy_tasks
from clausewise.wire.shapes.modern import base as modern_base
from clausewise.wire.shapes.modern import client as modern_client
from clausewise.wire.shapes.modern import server as modern_server
from clausewise.wire.shapes.notation import (
    JSONRPC_VERSION,
    REQUEST_ENVELOPE,
    Definitions,
    Schema,
    any_ref,
    enveloped,
    message,
    obj,
    ref,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_COMMON = (common_base, common_content, common_server, common_client)
_MODULES = {
    Revision.LEGACY: (*_COMMON, legacy_base, legacy_server, legacy_client, legacy_tasks),
    Revision.MODERN: (*_COMMON, modern_base, modern_server, modern_client),
}


@cache
def definitions(revision: Revision) -> Definitions:
    """All definitions of a revision: those written out and those its method table implies."""
    collected: dict[str, Schema] = {}
    for module in _MODULES[revision]:
        collected |= module.DEFINITIONS
    collected |= _messages(revision)
    if revision is Revision.MODERN:
        collected |= _input_requests()
        collected |= _result_responses()
    return MappingProxyType(collected)


def self_contained(revision: Revision, schema: Schema) -> Schema:
    """`schema` as a document of its own, carrying only the definitions it reaches."""
    known = definitions(revision)
    reached: dict[str, Schema] = {}
    waiting = list(_references(schema))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached[name] = known[name]
            waiting.extend(_references(known[name]))
    return {"$schema": DIALECT, **schema, "$defs": reached}


def body(row: RequestMethod | NotificationMethod) -> Schema:
    """A message without its envelope: `method` and `params`."""
    return message(row.method, row.params, params_required=row.params_required)


def _messages(revision: Revision) -> dict[str, Schema]:
    requests = methods.requests(revision).values()
    notifications = methods.notifications(revision).values()
    return {row.definition: enveloped(body(row), REQUEST_ENVELOPE) for row in requests} | {
        row.definition: enveloped(body(row), JSONRPC_VERSION) for row in notifications
    }


def _input_requests() -> dict[str, Schema]:
    return {row.definition: body(row) for row in methods.input_requests().values()}


def _result_responses() -> dict[str, Schema]:
    rows = methods.requests(Revision.MODERN).values()
    return {
        f"{row.stem}ResultResponse": obj({**REQUEST_ENVELOPE, "result": _answer(row)})
        for row in rows
    }


def _answer(row: RequestMethod) -> Schema:
    return any_ref("InputRequiredResult", row.result) if row.may_ask_input else ref(row.result)


def _references(schema: object) -> Iterator[str]:
    """The names of the definitions that `schema` refers to directly."""
    if isinstance(schema, Mapping):
        target = schema.get("$ref")
        if isinstance(target, str):
            yield target.removeprefix("#/$defs/")
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)
