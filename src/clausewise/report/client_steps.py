"""What the reference client did, step by step: a line for people, a record for programs."""

from __future__ import annotations

import json
from typing import Any

from clausewise.core.vocabulary import Revision
from clausewise.reference.client.script.step import Do, StepResult
from clausewise.reference.client.session import Session
from clausewise.report.text import count, shortened, visible

SCHEMA = "clausewise.client-step/1"
_SUBJECTS = ("what", "tool", "uri", "prompt", "template", "level", "notification", "method", "of")
_SHOWN = 160


def session_line(session: Session) -> str:
    """How the session was opened: with whom, in which version, over what."""
    info = session.server_info
    name = " ".join(str(info[member]) for member in ("name", "version") if member in info)
    version = getattr(session, "version", None) or Revision.LEGACY.value
    return visible(
        f"connected to {name or 'a server without a name'}: {version}, {session.channel.kind}"
    )


def step_line(result: StepResult) -> str:
    """One step in a line, and in further ones what the server asked and the complaints."""
    step = result.step
    subject = next((str(step.values[name]) for name in _SUBJECTS if name in step.values), "")
    sign = "FAIL" if result.complaints else "ok"
    line = f"{sign:>4} {result.number:>3}  {step.do} {subject}".rstrip()
    gist = "" if result.complaints else _gist(result)
    first = visible(f"{line}  {gist}".rstrip())
    further = [*map(_question, result.outcome.get("asked", ())), *result.complaints]
    return "\n".join([first, *(f"          {visible(one)}" for one in further)])


def closing_line(steps: int, failed: int) -> str:
    """How many steps there were, and how many came out otherwise than expected."""
    return f"{count(steps, 'step')}, {failed} not as expected"


def step_record(result: StepResult) -> str:
    """One step as a line of JSON, after `client-step-1.schema.json`."""
    step = result.step
    record = {
        "schema": SCHEMA,
        "step": result.number,
        "do": step.do.value,
        "name": step.name or None,
        "values": step.values,
        "ok": not result.complaints,
        "complaints": list(result.complaints),
        "outcome": result.outcome,
    }
    return json.dumps(record, ensure_ascii=False)


def _question(asked: dict[str, Any]) -> str:
    """What the server asked, a URL in full, and what was answered."""
    params = asked.get("params")
    members = params if isinstance(params, dict) else {}
    said = [str(members[name]) for name in ("message", "url") if name in members]
    error, result = asked.get("error"), asked.get("result", {})
    answered = error["message"] if error is not None else result.get("action", "answered")
    return f"asked: {' '.join([str(asked.get('method')), *said])} -> {answered}"


def _gist(result: StepResult) -> str:
    """The outcome in a few words."""
    outcome = result.outcome
    if "error" in outcome:
        return f"error {shortened(json.dumps(outcome['error'], ensure_ascii=False), _SHOWN)}"
    found = outcome.get("result")
    if result.step.do is Do.LIST and isinstance(found, dict):
        entries = next(iter(found.values()))
        rejected = "".join(f"; left out {name}: {why}" for name, why in _rejected(outcome))
        return f"{len(entries)} in {count(outcome['pages'], 'page')}{rejected}"
    text = _text(found)
    return shortened(text, _SHOWN) if text is not None else ""


def _rejected(outcome: dict[str, Any]) -> list[tuple[str, str]]:
    return sorted(outcome.get("rejected", {}).items())


def _text(result: Any) -> str | None:
    """The first text that a result of any kind has."""
    if not isinstance(result, dict):
        return None
    for name in ("content", "contents"):
        blocks = result.get(name)
        for block in blocks if isinstance(blocks, list) else ():
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                return json.dumps(block["text"], ensure_ascii=False)
    return None
