"""What the client of a legacy session declares, and what it answers to the server's requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from clausewise.core.vocabulary import Revision
from clausewise.probe.conversation.request import CLIENT_INFO
from clausewise.wire.codes import ErrorCode

_ELICIT = "elicitation/create"
_USER_REJECTED = -1
"""As the example of a refusal in client/sampling#error-handling has it."""


@dataclass(frozen=True, slots=True)
class LegacyClient:
    """A client of 2025-11-25.

    Attributes:
        capabilities: what it declares in `initialize`.
        results: the result that it gives, by the method of the server's request.
        errors: code and message of the error that it gives, by method.
        silent_on: the methods that it never answers.
        name: what it calls itself.
        proposed: the version that it proposes.
    """

    capabilities: Mapping[str, Any] = field(default_factory=dict)
    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    errors: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    silent_on: frozenset[str] = frozenset()
    name: str = CLIENT_INFO["name"]
    proposed: str = Revision.LEGACY.value

    def response(self, asked: Mapping[str, Any]) -> dict[str, Any] | None:
        """The response message to a request of the server, or None for silence."""
        method = str(asked.get("method"))
        if method in self.silent_on:
            return None
        response: dict[str, Any] = {"jsonrpc": "2.0", "id": asked.get("id")}
        if method == "ping":
            response["result"] = {}
        elif method == _ELICIT and self._lacks_mode(asked.get("params")):
            code = ErrorCode.INVALID_PARAMS.value
            response["error"] = {"code": code, "message": "The mode was not declared"}
        elif method in self.results:
            response["result"] = dict(self.results[method])
        else:
            unknown = (ErrorCode.METHOD_NOT_FOUND.value, "Method not found")
            code, message = self.errors.get(method, unknown)
            response["error"] = {"code": code, "message": message}
        return response

    def _lacks_mode(self, params: Any) -> bool:
        """Whether an elicitation has a mode that was not declared, where one was."""
        declared = self.capabilities.get("elicitation")
        mode = params.get("mode", "form") if isinstance(params, dict) else "form"
        return declared is not None and mode not in declared


BARE_CLIENT = LegacyClient()
"""Declares nothing, so the server has nothing to ask of it but `ping`."""

_EVERYTHING: Mapping[str, Any] = {
    "roots": {},
    "sampling": {"tools": {}, "context": {}},
    "elicitation": {"form": {}, "url": {}},
}
_REJECTED = {"sampling/createMessage": (_USER_REJECTED, "User rejected sampling request")}

DECLINING_CLIENT = LegacyClient(
    _EVERYTHING,
    results={"roots/list": {"roots": []}, _ELICIT: {"action": "decline"}},
    errors=_REJECTED,
)
"""Declares everything and shows nothing: its user has no roots and declines whatever is asked."""

CONSENTING_CLIENT = LegacyClient(
    {"elicitation": {"url": {}}, "sampling": {}},
    results={_ELICIT: {"action": "accept"}},
    errors=_REJECTED,
)
"""Its user agrees to open each URL that is asked for, but nobody opens it.

Of what a client may declare in parts it declares a part only: no forms, no tools in sampling.
"""

BYSTANDING_CLIENT = replace(CONSENTING_CLIENT, name="clausewise-bystander")
"""Another client like that: who is told what belongs to the first one hears too much."""

SILENT_CLIENT = LegacyClient(
    _EVERYTHING, silent_on=frozenset({"sampling/createMessage", _ELICIT, "roots/list"})
)
"""Declares everything and never answers."""
