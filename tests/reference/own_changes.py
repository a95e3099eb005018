"""The defects of our own rules: which requests of the survey are answered differently."""

from __future__ import annotations

from collections.abc import Mapping

PROMPTS = {"prompts", "no client info", "session id", "last event id"}
UNKNOWN_NAMES = {"call unknown", "name that looks encoded", "prompt unknown"}
DISCOVER = {"discover", "discover with credentials"}
ASKING = {"call asking"}
ASKING_OTHERWISE = {"call asking", "call asking, incapable"}
"""The tool asks for something that needs another capability."""

CALLS = {
    "call",
    "call streaming",
    "headers in lower case",
    "limit as a fraction",
    "limit null",
    "name encoded",
    "region",
}
UNASKED = (
    "numeric-text-id-as-number",
    "unknown-notification-served",
    "refused-notification-ok-status",
    "prompt-in-latin-1",
    "structured-content-misfit",
    "arguments-unvalidated",
    "image-as-data-uri",
    "audio-without-type",
    "anything-read",
    "missing-note-empty",
    "blob-as-data-uri",
    "later-page-private",
    "name-header-of-reads-optional",
    "unwanted-change",
    "acknowledgement-second",
    "subscription-id-missing",
    "subscription-ends-silently",
    "cancelled-call-goes-on",
    "progress-after-response",
    "log-without-capability",
    "log-on-subscription",
    "prompts-list-asks",
    "any-capability-will-do",
    "request-state-unverified",
    "any-mode-will-do",
)
"""Defects that no request of the survey brings out; the rules that do are named by each."""

CHANGED_BY_OURS: Mapping[str, set[str]] = {
    **{name: set() for name in UNASKED},
    "unknown-name-without-id": UNKNOWN_NAMES,
    "unknown-name-without-message": UNKNOWN_NAMES,
    "unknown-name-code-as-text": UNKNOWN_NAMES,
    "unknown-tool-as-unsupported-version": UNKNOWN_NAMES - {"prompt unknown"},
    "prompts-list-without-jsonrpc": PROMPTS,
    "prompts-list-with-error": PROMPTS,
    "progress-with-id": {"call streaming"},
    "change-on-response-stream": PROMPTS,
    "metadata-key-malformed": PROMPTS,
    "metadata-key-reserved": PROMPTS,
    "trace-parent-malformed": PROMPTS,
    "message-over-lines": PROMPTS,
    "log-line-on-stdout": PROMPTS,
    "tools-not-discoverable": DISCOVER,
    "tools-list-refused": {
        "tools",
        "tools again",
        "tools with credentials",
        "more tools",
        "warm tools",
    },
    "prompts-not-discoverable": DISCOVER,
    "prompts-vary-per-connection": {"no client info", "session id"},
    "embedded-resource-without-type": {"prompt"},
    "resources-not-discoverable": DISCOVER,
    "resources-vary-per-connection": {"resources"},
    "resource-uri-with-space": {"resources"},
    "completions-not-discoverable": DISCOVER,
    "extension-type-undeclared": {"prompt"},
    "method-header-unmatched": {"header mismatch"},
    "request-cancelled-by-server": PROMPTS,
    "progress-at-a-standstill": {"call streaming"},
    "progress-token-changed": {"call streaming"},
    "log-unasked": CALLS,
    "log-repeats-credentials": DISCOVER,
    "input-required-for-nothing": ASKING,
    "input-request-of-unknown-method": ASKING,
    "input-request-key-twice": ASKING,
    "form-without-message": ASKING,
    "form-without-schema": ASKING,
    "form-for-a-password": ASKING,
    "visit-without-mode": ASKING_OTHERWISE,
    "visit-without-url": ASKING_OTHERWISE,
    "visit-of-a-path": ASKING_OTHERWISE,
    "visit-with-token": ASKING_OTHERWISE,
    "sampling-with-undeclared-tools": ASKING_OTHERWISE,
    "sampling-mixed-results": ASKING_OTHERWISE,
    "sampling-of-a-system-message": ASKING_OTHERWISE,
}
