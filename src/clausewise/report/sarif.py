"""SARIF 2.1.0, for forges and editors that gather findings of many tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from clausewise import __version__
from clausewise.core.results import Finding, RunResult, Verdict
from clausewise.core.vocabulary import Outcome
from clausewise.report.options import DEFAULTS, ReportOptions
from clausewise.report.subjects import Titles, registered_title
from clausewise.report.text import linkable, shortened, visible

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS = {Outcome.FAIL: "error", Outcome.WARN: "warning", Outcome.INFO: "note"}
_SHOWN_CHARACTERS = 600
_SHOWN_COMMAND = 4000
_UNRESERVED = "/-._~"


def render(
    result: RunResult,
    options: ReportOptions = DEFAULTS,
    titles: Titles = registered_title,
) -> str:
    """The findings as one SARIF run; findings of the baseline are marked as suppressed.

    What crashed or stayed inconclusive is a notification, for it is no finding.
    """
    broken = [verdict for verdict in result.verdicts if verdict.findings]
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "clausewise",
                "version": __version__,
                "rules": [_rule(verdict, titles(verdict)) for verdict in broken],
            }
        },
        "automationDetails": {"id": f"clausewise/{result.command}"},
        "invocations": [_invocation(result)],
        "results": [
            _result(result, verdict, index, finding, options)
            for index, verdict in enumerate(broken)
            for finding in verdict.findings
        ],
        "columnKind": "unicodeCodePoints",
        "properties": _facts(result),
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(verdict: Verdict, title: str) -> dict[str, Any]:
    first = verdict.findings[0]
    rule: dict[str, Any] = {"id": visible(verdict.id)}
    if title:
        rule["shortDescription"] = _message(title)
    if linkable(first.url):
        rule["helpUri"] = first.url
    if first.fix:
        rule["help"] = _message(first.fix)
    rule["defaultConfiguration"] = {"level": _LEVELS[verdict.level.severity]}
    rule["properties"] = {
        "kind": verdict.kind.value,
        "revision": verdict.revision.value,
        "level": verdict.level.value,
    }
    return rule


def _result(
    result: RunResult, verdict: Verdict, index: int, finding: Finding, options: ReportOptions
) -> dict[str, Any]:
    record: dict[str, Any] = {
        "ruleId": visible(verdict.id),
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": _message("\n".join(_told(finding))),
        "locations": [_location(result, finding)],
        "partialFingerprints": {"clausewise/1": _fingerprint(verdict, finding)},
        "properties": {"check": visible(finding.check), "party": finding.party.value},
    }
    if finding.reproduce:
        record["properties"]["reproduce"] = shortened(visible(finding.reproduce), _SHOWN_COMMAND)
    if (verdict.id, finding) in options.known:
        record["suppressions"] = [{"kind": "external", "justification": "in the baseline"}]
    return record


def _told(finding: Finding) -> Iterator[str]:
    yield visible(f"{finding.party}: {finding.message}")
    for label, text in (("seen", finding.seen), ("expected", finding.expected)):
        if text:
            yield f"{label}: {visible(text)}"
    if finding.fix:
        yield f"fix: {visible(finding.fix)}"


def _location(result: RunResult, finding: Finding) -> dict[str, Any]:
    """The trace and the event in it; for a recording that was not kept, the target."""
    place = finding.at
    file = place.file if place is not None else None
    name = file or result.target.name
    location: dict[str, Any] = {}
    if file is not None:
        location["physicalLocation"] = _artifact(quote(visible(file), safe=_UNRESERVED))
    elif linkable(name):
        location["physicalLocation"] = _artifact(name)
    else:
        location["message"] = _message(name)
    if place is not None:
        event = f"seq {place.seq}"
        location["logicalLocations"] = [
            {"name": event, "fullyQualifiedName": f"{visible(name)} {event}", "kind": "event"}
        ]
    return location


def _artifact(uri: str) -> dict[str, Any]:
    return {"artifactLocation": {"uri": uri}}


def _invocation(result: RunResult) -> dict[str, Any]:
    crashed = any(verdict.outcome is Outcome.CRASHED for verdict in result.verdicts)
    invocation: dict[str, Any] = {"executionSuccessful": not crashed}
    if result.started is not None:
        invocation["startTimeUtc"] = result.started
    told = [_notification(v) for v in result.verdicts if v.outcome in _NOTIFIED]
    if told:
        invocation["toolExecutionNotifications"] = told
    return invocation


_NOTIFIED = {Outcome.CRASHED: "error", Outcome.INCONCLUSIVE: "warning"}


def _notification(verdict: Verdict) -> dict[str, Any]:
    return {
        "level": _NOTIFIED[verdict.outcome],
        "message": _message(f"{verdict.id} is {verdict.outcome}: {verdict.reason or 'no reason'}"),
        "descriptor": {"id": visible(verdict.id)},
    }


def _facts(result: RunResult) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "target": visible(result.target.name),
        "verdict": result.outcome.value,
        "revisions": [revision.value for revision in result.revisions],
    }
    if result.era is not None:
        facts["era"] = result.era.value
    return facts


def _fingerprint(verdict: Verdict, finding: Finding) -> str:
    """The same for the same fault in another run: no place, no id of a request."""
    parts = (verdict.id, finding.check, finding.party.value, finding.message)
    text = "\0".join(parts).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()


def _message(text: str) -> dict[str, str]:
    """A plain text message: braces doubled, brackets escaped (SARIF sections 3.11.5, 3.11.6).

    Otherwise text of the target could be a placeholder or a link.
    """
    lines = text.split("\n")
    shown = "\n".join(shortened(visible(line), _SHOWN_CHARACTERS) for line in lines)
    shown = shown.replace("{", "{{").replace("}", "}}")
    for character in "\\[]":
        shown = shown.replace(character, f"\\{character}")
    return {"text": shown}
