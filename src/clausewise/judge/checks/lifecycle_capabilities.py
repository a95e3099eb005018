"""Lifecycle, Operation: only negotiated capabilities are used."""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.core.vocabulary import Direction, Outcome, Party
from clausewise.judge.ledger import Sheet
from clausewise.judge.registration import check
from clausewise.judge.session.messages import Message
from clausewise.judge.session.sessions import MIXED, Session

_BY_CLIENT = {
    "completion/complete": "completions",
    "logging/setLevel": "logging",
    "prompts/get": "prompts",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/read": "resources",
    "resources/subscribe": "resources.subscribe",
    "resources/templates/list": "resources",
    "resources/unsubscribe": "resources.subscribe",
    "tools/call": "tools",
    "tools/list": "tools",
}
"""The server's capability that each request of a client needs."""

_BY_SERVER = {
    "elicitation/create": "elicitation",
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
}
"""The client's capability that each request of a server needs."""

_BY_EITHER = {
    "tasks/cancel": "tasks.cancel",
    "tasks/get": "tasks",
    "tasks/list": "tasks.list",
    "tasks/result": "tasks",
}
"""The receiver's capability that a request of either side needs."""

_ANNOUNCED: Mapping[str, tuple[Party, str]] = {
    "notifications/message": (Party.SERVER, "logging"),
    "notifications/prompts/list_changed": (Party.SERVER, "prompts.listChanged"),
    "notifications/resources/list_changed": (Party.SERVER, "resources.listChanged"),
    "notifications/resources/updated": (Party.SERVER, "resources.subscribe"),
    "notifications/roots/list_changed": (Party.CLIENT, "roots.listChanged"),
    "notifications/tools/list_changed": (Party.SERVER, "tools.listChanged"),
}
"""The sender, and its own capability, of each notification that needs one."""

_TASK_STATUS = "notifications/tasks/status"
_OWN_TASKS = "tasks"
"""What either side needs to send that notification of a task it was asked for."""

_AS_TASK: Mapping[str, str] = {
    "elicitation/create": "tasks.requests.elicitation.create",
    "sampling/createMessage": "tasks.requests.sampling.createMessage",
    "tools/call": "tasks.requests.tools.call",
}
"""The receiver's capability that a request with `params.task` needs besides."""

_CLIENT_NEEDS: Mapping[str | None, tuple[Party, str]] = {
    **{method: (Party.SERVER, need) for method, need in (_BY_CLIENT | _BY_EITHER).items()},
    **{method: need for method, need in _ANNOUNCED.items() if need[0] is Party.CLIENT},
    _TASK_STATUS: (Party.CLIENT, _OWN_TASKS),
}
"""Whose capability each message of a client needs, and which."""

_SERVER_NEEDS: Mapping[str | None, tuple[Party, str]] = {
    **{method: (Party.CLIENT, need) for method, need in (_BY_SERVER | _BY_EITHER).items()},
    **{method: need for method, need in _ANNOUNCED.items() if need[0] is Party.SERVER},
    _TASK_STATUS: (Party.SERVER, _OWN_TASKS),
}
"""The same for messages of a server."""

_C2S = Direction.CLIENT_TO_SERVER

_METHODS = (
    *(f"request:{method}" for method in (*_BY_CLIENT, *_BY_SERVER, *_BY_EITHER)),
    *(f"notification:{method}" for method in (*_ANNOUNCED, _TASK_STATUS)),
)


@check(
    "lifecycle.negotiated-capabilities-only",
    on=_METHODS,
    subject="message that needs a capability",
)
def negotiated_capabilities_only(message: Message, session: Session, out: Sheet) -> None:
    """A message needs a capability that its owner did not declare at initialization.

    Why: the other side has not said that it can handle it, and is free to refuse or ignore it.
    Fix: declare the capability in initialize, or look at the other side's declarations before
    sending.
    """
    # A message on the wrong side needs none: it is no message of this protocol.
    needs = _CLIENT_NEEDS if message.direction is _C2S else _SERVER_NEEDS
    need = needs.get(message.method)
    if need is None:
        return
    owner, capability = need
    declared = session.handshake.declares(owner, capability)
    if declared is None:
        return
    if session.shared:
        out.undecided(message, MIXED)
    elif not declared:
        _undeclared(message, owner, capability, out)
    elif "task" in message.params and message.method in _AS_TASK:
        _judge_task(message, session, owner, out)
    else:
        out.held(message)


def _judge_task(message: Message, session: Session, owner: Party, out: Sheet) -> None:
    capability = _AS_TASK[message.method or ""]
    if session.handshake.declares(owner, capability):
        out.held(message)
    elif message.method == "tools/call":
        _undeclared(message, owner, capability, out)
    else:
        # The tasks page lets the receiver ignore the member here.
        _undeclared(message, owner, capability, out, Outcome.WARN)


def _undeclared(
    message: Message, owner: Party, capability: str, out: Sheet, severity: Outcome | None = None
) -> None:
    out.broke(
        message,
        f"{message.method} is used although the {owner.value} did not declare {capability}",
        seen=f"no {capability} in the {owner.value}'s capabilities",
        expected=f"{capability} declared at initialization",
        severity=severity,
    )
