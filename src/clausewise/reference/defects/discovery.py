"""Defects of rule group DSC: what server/discover tells."""

from __future__ import annotations

from clausewise.reference.defects.defect import Defect
from clausewise.reference.defects.rewiring import modern, on_result, without_method
from clausewise.reference.messages import JsonObject
from clausewise.reference.modern.parts import VERSION, Incoming, ModernParts
from clausewise.reference.wiring import Wiring
from clausewise.wire.meta import META_SERVER_INFO, META_VERSION


def _with_extension(identifier: str) -> Defect:
    def apply(wiring: Wiring) -> Wiring:
        capabilities = {**wiring.modern.capabilities, "extensions": {identifier: {}}}
        return modern(wiring, capabilities=capabilities)

    return Defect(
        "extension-without-prefix",
        f"server/discover advertises the extension {identifier!r}, which has no prefix.",
        apply,
        rules=("MCP-DSC-004",),
    )


def _names_draft(wiring: Wiring) -> Wiring:
    """The right version is served, a draft's name is listed wherever versions are."""
    right = wiring.modern
    draft = (f"DRAFT-{VERSION}-v1",)

    def version_supported(incoming: Incoming, parts: ModernParts) -> None:
        if incoming.meta.get(META_VERSION) not in right.versions:
            right.checks["version-supported"](incoming, parts)

    checks = {**right.checks, "version-supported": version_supported}
    return modern(wiring, versions=draft, checks=checks)


def _without_server_info(result: JsonObject) -> JsonObject:
    meta = {key: value for key, value in result["_meta"].items() if key != META_SERVER_INFO}
    return {**result, "_meta": meta}


DEFECTS = (
    Defect(
        "no-discover",
        "server/discover is not implemented.",
        without_method("server/discover"),
        rules=("MCP-DSC-001",),
    ),
    Defect(
        "discover-version-number",
        "server/discover lists a number among its versions.",
        on_result(
            "server/discover",
            lambda result: {
                **result,
                "supportedVersions": [*result["supportedVersions"], 20260728],
            },
        ),
        rules=("MCP-DSC-002",),
    ),
    Defect(
        "discover-unpublished-version",
        "The server lists only a version that was never published, not the one it serves.",
        _names_draft,
        rules=("MCP-DSC-002", "MCP-DSC-003"),
    ),
    _with_extension("turbo"),
    Defect(
        "tools-list-without-server-info",
        "The result of tools/list does not say which server it comes from.",
        on_result("tools/list", _without_server_info),
        rules=("MCP-DSC-005",),
    ),
)
