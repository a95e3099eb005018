"""The methods of each revision: who may send them, and the names of their definitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeVar

from clausewise.core.vocabulary import Party, Revision

_CLIENT = frozenset({Party.CLIENT})
_SERVER = frozenset({Party.SERVER})
_BOTH = frozenset({Party.CLIENT, Party.SERVER})


@dataclass(frozen=True, slots=True)
class RequestMethod:
    """A request method of one revision.

    `stem` is what the names of its definitions share (`CallTool` of `CallToolRequest`).
    `params` and `result` name definitions, by default after the stem. `taskable` requests may
    carry `task` and are then answered by a CreateTaskResult (2025-11-25). `may_ask_input`
    requests may be answered by an InputRequiredResult (2026-07-28).
    """

    method: str
    stem: str
    senders: frozenset[Party] = _CLIENT
    params: str = ""
    params_required: bool = True
    result: str = ""
    taskable: bool = False
    may_ask_input: bool = False

    def __post_init__(self) -> None:
        if not self.params:
            object.__setattr__(self, "params", f"{self.stem}RequestParams")
        if not self.result:
            object.__setattr__(self, "result", f"{self.stem}Result")

    @property
    def definition(self) -> str:
        return f"{self.stem}Request"


@dataclass(frozen=True, slots=True)
class NotificationMethod:
    """A notification method of one revision; `params` names a definition, as for requests."""

    method: str
    stem: str
    senders: frozenset[Party]
    params: str = ""
    params_required: bool = True

    def __post_init__(self) -> None:
        if not self.params:
            object.__setattr__(self, "params", f"{self.stem}NotificationParams")

    @property
    def definition(self) -> str:
        return f"{self.stem}Notification"


def requests(revision: Revision) -> Mapping[str, RequestMethod]:
    """The methods that are sent as JSON-RPC requests, by name."""
    return _REQUESTS[revision]


def notifications(revision: Revision) -> Mapping[str, NotificationMethod]:
    """The methods that are sent as notifications, by name."""
    return _NOTIFICATIONS[revision]


def input_requests() -> Mapping[str, RequestMethod]:
    """The methods of 2026-07-28 that a server sends inside an InputRequiredResult.

    They have no JSON-RPC envelope; their results travel in `inputResponses` of the retry.
    """
    return _INPUT_REQUESTS


_Row = TypeVar("_Row", RequestMethod, NotificationMethod)


def _by_method(rows: Iterable[_Row]) -> Mapping[str, _Row]:
    return MappingProxyType({row.method: row for row in rows})


def _legacy_list(method: str, stem: str, senders: frozenset[Party] = _CLIENT) -> RequestMethod:
    return RequestMethod(
        method, stem, senders, params="PaginatedRequestParams", params_required=False
    )


def _empty(method: str, stem: str, params: str = "") -> RequestMethod:
    return RequestMethod(method, stem, params=params, result="EmptyResult")


def _modern_list(method: str, stem: str) -> RequestMethod:
    return RequestMethod(method, stem, params="PaginatedRequestParams")


def _bare(method: str, stem: str, senders: frozenset[Party]) -> NotificationMethod:
    return NotificationMethod(method, stem, senders, "NotificationParams", params_required=False)


_REQUESTS: Mapping[Revision, Mapping[str, RequestMethod]] = {
    Revision.LEGACY: _by_method(
        (
            RequestMethod("initialize", "Initialize"),
            RequestMethod(
                "ping",
                "Ping",
                _BOTH,
                params="RequestParams",
                params_required=False,
                result="EmptyResult",
            ),
            RequestMethod("completion/complete", "Complete"),
            _empty("logging/setLevel", "SetLevel"),
            RequestMethod("prompts/get", "GetPrompt"),
            _legacy_list("prompts/list", "ListPrompts"),
            _legacy_list("resources/list", "ListResources"),
            RequestMethod("resources/read", "ReadResource"),
            _empty("resources/subscribe", "Subscribe"),
            _legacy_list("resources/templates/list", "ListResourceTemplates"),
            _empty("resources/unsubscribe", "Unsubscribe"),
            RequestMethod("tools/call", "CallTool", taskable=True),
            _legacy_list("tools/list", "ListTools"),
            RequestMethod("tasks/get", "GetTask", _BOTH),
            RequestMethod("tasks/result", "GetTaskPayload", _BOTH),
            _legacy_list("tasks/list", "ListTasks", _BOTH),
            RequestMethod("tasks/cancel", "CancelTask", _BOTH),
            RequestMethod("elicitation/create", "Elicit", _SERVER, taskable=True),
            RequestMethod(
                "roots/list", "ListRoots", _SERVER, params="RequestParams", params_required=False
            ),
            RequestMethod("sampling/createMessage", "CreateMessage", _SERVER, taskable=True),
        )
    ),
    Revision.MODERN: _by_method(
        (
            RequestMethod("completion/complete", "Complete"),
            RequestMethod("prompts/get", "GetPrompt", may_ask_input=True),
            _modern_list("prompts/list", "ListPrompts"),
            _modern_list("resources/list", "ListResources"),
            RequestMethod("resources/read", "ReadResource", may_ask_input=True),
            _modern_list("resources/templates/list", "ListResourceTemplates"),
            RequestMethod("server/discover", "Discover", params="RequestParams"),
            RequestMethod("subscriptions/listen", "SubscriptionsListen"),
            RequestMethod("tools/call", "CallTool", may_ask_input=True),
            _modern_list("tools/list", "ListTools"),
        )
    ),
}

_INPUT_REQUESTS = _by_method(
    (
        RequestMethod("elicitation/create", "Elicit", _SERVER),
        RequestMethod("roots/list", "ListRoots", _SERVER, params_required=False),
        RequestMethod("sampling/createMessage", "CreateMessage", _SERVER),
    )
)

_NOTIFICATIONS: Mapping[Revision, Mapping[str, NotificationMethod]] = {
    Revision.LEGACY: _by_method(
        (
            NotificationMethod("notifications/cancelled", "Cancelled", _BOTH),
            _bare("notifications/initialized", "Initialized", _CLIENT),
            NotificationMethod("notifications/tasks/status", "TaskStatus", _BOTH),
            NotificationMethod("notifications/message", "LoggingMessage", _SERVER),
            NotificationMethod("notifications/progress", "Progress", _BOTH),
            _bare("notifications/prompts/list_changed", "PromptListChanged", _SERVER),
            _bare("notifications/resources/list_changed", "ResourceListChanged", _SERVER),
            NotificationMethod("notifications/resources/updated", "ResourceUpdated", _SERVER),
            _bare("notifications/roots/list_changed", "RootsListChanged", _CLIENT),
            _bare("notifications/tools/list_changed", "ToolListChanged", _SERVER),
            NotificationMethod(
                "notifications/elicitation/complete", "ElicitationComplete", _SERVER
            ),
        )
    ),
    Revision.MODERN: _by_method(
        (
            NotificationMethod("notifications/cancelled", "Cancelled", _BOTH),
            NotificationMethod("notifications/message", "LoggingMessage", _SERVER),
            NotificationMethod("notifications/progress", "Progress", _SERVER),
            _bare("notifications/prompts/list_changed", "PromptListChanged", _SERVER),
            _bare("notifications/resources/list_changed", "ResourceListChanged", _SERVER),
            NotificationMethod("notifications/resources/updated", "ResourceUpdated", _SERVER),
            NotificationMethod(
                "notifications/subscriptions/acknowledged", "SubscriptionsAcknowledged", _SERVER
            ),
            _bare("notifications/tools/list_changed", "ToolListChanged", _SERVER),
        )
    ),
}
