"""Each defect changes exactly the answers it says it changes, and no others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import anyio
import pytest

from clausewise.core.errors import UsageError
from clausewise.core.vocabulary import Era, Revision
from clausewise.reference.defects import Defect, list_defects
from clausewise.reference.options import ServerOptions
from clausewise.reference.server import build
from clausewise.registry import clauses, rules
from tests.reference.clause_changes import CHANGED_BY_CLAUSES
from tests.reference.own_changes import CHANGED_BY_OURS
from tests.reference.survey import HEADED, MODERN, WARM, survey
from tests.reference.test_auth_defects import CHANGED as CHANGED_OF_PROTECTED

FIRST_PAGE = {"tools", "tools again", "tools with credentials", "warm tools"}
TOOLS = FIRST_PAGE | {"more tools"}
PROMPTS = {"prompts", "no client info", "session id", "last event id"}
FIRST_TOOLS = (
    "output-schema-invalid",
    "icon-of-unsafe-scheme",
    "icon-over-plain-http",
    "icon-of-another-origin",
)
"""Defects that only change how tools/list shows one tool of its first page."""

LATER_TOOLS = (
    "annotation-empty",
    "annotation-with-space",
    "annotation-with-line-break",
    "annotations-collide",
    "annotation-on-number",
    "annotation-on-untyped",
    "annotation-in-items",
    "input-schema-without-type",
    "input-schema-dangling-reference",
    "tool-name-with-space",
    "schema-network-reference",
    "schema-too-deep",
)
"""Defects that only change how tools/list shows one tool of its second page."""

DISCOVER = {"discover", "discover with credentials"}
UNKNOWN_METHODS = {
    "unknown method",
    "cookie, unknown method",
    "ping",
    "set level",
    "subscribe",
    "modern initialize",
}
UNJUDGED_ERRORS = {
    "call unknown",
    "name that looks encoded",
    "prompt unknown",
    "bad cursor",
    "set level",
}
LEGACY_ERRORS = {"legacy unknown method", "legacy read missing"}
LEGACY_INITIALIZE = {"legacy initialize", "legacy initialize again"}

CHANGED: Mapping[str, set[str]] = {
    "prompts-list-without-ttl": PROMPTS,
    "discover-without-ttl": DISCOVER,
    "prompts-list-without-scope": PROMPTS,
    "prompts-list-unknown-scope": PROMPTS,
    "prompts-list-negative-ttl": PROMPTS,
    "prompts-list-text-ttl": PROMPTS,
    "personal-tools-list-public": TOOLS - {"tools with credentials"},
    "ping-answered": {"ping"},
    "set-level-answered": {"set level"},
    "subscribe-answered": {"subscribe"},
    "legacy-sse-endpoint": {"get sse"},
    "logging-advertised": DISCOVER,
    "initialize-error-without-versions": {"modern initialize", "legacy initialize"},
    "no-discover": DISCOVER,
    "discover-version-number": DISCOVER,
    "discover-unpublished-version": DISCOVER | {"old version", "notification"},
    "extension-without-prefix": DISCOVER,
    "tools-list-without-server-info": TOOLS,
    "unsupported-version-code": {"old version"},
    "unsupported-version-unlisted": {"old version"},
    "unknown-method-ok-status": UNKNOWN_METHODS,
    "unknown-method-code": UNKNOWN_METHODS,
    "resource-not-found-retired-code": {"read missing"},
    "url-elicitation-code": UNJUDGED_ERRORS,
    "undefined-reserved-code": UNJUDGED_ERRORS,
    "missing-capabilities-accepted": {"no capabilities"},
    "missing-capabilities-ok-status": {"no capabilities"},
    "client-info-required": {"no client info", "warm without params"},
    "required-capabilities-array": {"call asking, incapable"},
    "missing-capability-ignored": {"call asking, incapable"},
    "legacy-range-code": UNJUDGED_ERRORS,
    "fractional-request-id": {"legacy tools"},
    "null-request-id": {"legacy tools"},
    "request-id-reused": {"legacy tools"},
    "result-id-altered": {"legacy tools"},
    "notification-with-id": {"legacy tools"},
    "error-without-message": LEGACY_ERRORS,
    "error-code-text": {"legacy unknown method"},
    "jsonrpc-version-one": {"legacy tools"},
    "error-id-altered": LEGACY_ERRORS,
    "result-null": {"legacy tools"},
    "tool-schema-invalid": {"legacy tools"},
    "meta-prefix-malformed": {"legacy tools"},
    "meta-name-malformed": {"legacy tools"},
    "tool-schema-older-dialect": {"legacy tools"},
    "request-before-initialized": LEGACY_INITIALIZE,
    "initialize-version-unsteady": {"legacy initialize again"},
    "legacy-notification-answered-200": {"legacy notification"},
    "legacy-tools-list-text-plain": {"legacy tools"},
    "legacy-get-page": {"get"},
    "list-changed-undeclared": {*LEGACY_INITIALIZE, "legacy tools"},
    "initialize-without-server-version": LEGACY_INITIALIZE,
    "tools-list-without-result-type": TOOLS,
    "tools-list-unknown-result-type": TOOLS | DISCOVER,
    "request-before-response": TOOLS,
    "notification-answered-200": {"notification"},
    "tools-list-text-plain": TOOLS,
    "stream-left-open": TOOLS,
    "message-after-response": TOOLS,
    "stream-buffered": {"call streaming"},
    "tools-list-unordered": TOOLS - {"tools"},
    "session-id-minted": {*MODERN, *HEADED, *WARM} - {"foreign origin"},
    "session-id-refused": {"session id"},
    "discovery-required": TOOLS - {"warm tools"},
    "metadata-remembered": {"warm without params"},
    "get-answered": {"get", "delete"},
    "delete-answered": {"get", "delete"},
    "last-event-id-refused": {"last event id"},
    "tools-vary-per-connection": {"tools", "tools with credentials"},
    "method-header-optional": {"no method header", "unknown without method header"},
    "name-header-optional": {"no name header"},
    "name-header-unmatched": {"name of another", "name in upper case"},
    "name-header-any-case": {"name in upper case"},
    "version-header-optional": {"no version header"},
    "version-header-unmatched": {"version of another"},
    "header-names-exact": {"headers in lower case"},
    "name-header-not-decoded": {"name encoded", "name that looks encoded"},
    "name-header-decoded-twice": {"name that looks encoded"},
    "parameter-headers-unmatched": {"region mismatch", "region missing"},
    "null-parameter-wants-header": {"limit null"},
    "integer-header-as-text": {"limit as a fraction"},
    "parameter-header-any-character": {"region with control"},
    "parameter-header-loose-base64": {"region in loose base64"},
    "method-before-headers": {"unknown without method header"},
    **dict.fromkeys(FIRST_TOOLS, FIRST_PAGE),
    **{name: {"more tools"} for name in LATER_TOOLS},
    "prompt-name-beyond-ascii": PROMPTS,
    "foreign-origin-served": {"foreign origin"},
    "foreign-origin-bad-request": {"foreign origin"},
    "error-repeats-cookies": {"cookie, unknown method"},
    "authorization-reflected": {"discover with credentials"},
    "error-repeats-environment": set(),
    **CHANGED_BY_OURS,
    **CHANGED_BY_CLAUSES,
}
"""By defect, the requests of the survey that are answered differently."""


UNPROTECTED = [defect for defect in list_defects() if not defect.protected]
"""Those of a protected server are surveyed in `test_auth_defects`."""


@cache
def right_answers(era: Era) -> Mapping[str, str]:
    return anyio.run(survey, ServerOptions(era=era))


def test_two_right_servers_answer_alike() -> None:
    assert anyio.run(survey, ServerOptions()) == right_answers(Era.DUAL)


@pytest.mark.parametrize("defect", UNPROTECTED, ids=lambda defect: defect.name)
def test_a_defect_changes_what_it_says_and_nothing_else(defect: Defect) -> None:
    era = next(era for era in (Era.DUAL, Era.MODERN, Era.LEGACY) if era in defect.eras)
    wrong = anyio.run(survey, ServerOptions(era=era, defects=(defect.name,)))
    right = right_answers(era)
    assert wrong.keys() == right.keys()
    assert {label for label in right if right[label] != wrong[label]} == CHANGED[defect.name]


def test_names_are_unique_and_every_defect_is_tested() -> None:
    names = [defect.name for defect in list_defects()]
    assert sorted(names) == sorted((*CHANGED, *CHANGED_OF_PROTECTED))


@pytest.mark.parametrize("defect", list_defects(), ids=lambda defect: defect.name)
def test_a_defect_names_rules_or_clauses_that_exist(defect: Defect) -> None:
    assert defect.rules or defect.clauses
    assert set(defect.rules) <= rules().keys()
    assert set(defect.clauses) <= clauses(Revision.LEGACY).keys()


def test_every_rule_of_these_groups_that_can_be_broken_has_a_defect() -> None:
    groups = ("DSC", "STL", "RES", "ERR", "CAC", "DEP", "HDR", "SCH", "SEC", "AUT")
    broken = {rule for defect in list_defects() for rule in defect.rules}
    due = {r for r in rules() if r.startswith("MCP-") and r.split("-")[1] in groups}
    # Both answers to `initialize` are allowed, so MCP-DEP-006 cannot be broken; a server on
    # loopback needs no certificate, which is what MCP-SEC-002 is about.
    assert due - broken == {"MCP-DEP-006", "MCP-SEC-002"}


def test_every_rule_of_our_own_has_a_defect() -> None:
    broken = {rule for defect in list_defects() for rule in defect.rules}
    assert {rule for rule in rules() if rule.startswith("CW-")} <= broken


def test_several_defects_add_up() -> None:
    names = ("ping-answered", "discover-without-ttl")
    wrong = anyio.run(survey, ServerOptions(defects=names))
    right = right_answers(Era.DUAL)
    assert {label for label in right if right[label] != wrong[label]} == {"ping"} | DISCOVER


def test_an_unknown_defect_is_a_usage_error_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match="unknown defect 'ping-answer'") as caught:
        build(ServerOptions(defects=("ping-answer",)))
    assert "ping-answered" in caught.value.hint
