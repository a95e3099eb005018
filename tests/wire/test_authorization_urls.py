"""URLs of metadata, and identifiers of resources in a form in which equal ones are equal."""

from __future__ import annotations

import pytest

from clausewise.wire.authorization.canonical_uri import canonical
from clausewise.wire.authorization.well_known import issuer_metadata_urls, resource_metadata_urls

RESOURCE = "/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("endpoint", "urls"),
    [
        (
            "https://a.example/mcp",
            (f"https://a.example{RESOURCE}/mcp", f"https://a.example{RESOURCE}"),
        ),
        ("https://a.example", (f"https://a.example{RESOURCE}",)),
        ("https://a.example/", (f"https://a.example{RESOURCE}",)),
        (
            "https://a.example:8443/x/mcp?t=1",
            (
                f"https://a.example:8443{RESOURCE}/x/mcp?t=1",
                f"https://a.example:8443{RESOURCE}",
            ),
        ),
    ],
)
def test_the_metadata_of_a_resource_is_at_its_path_else_at_the_root(
    endpoint: str, urls: tuple[str, ...]
) -> None:
    assert resource_metadata_urls(endpoint) == urls


def test_the_metadata_of_an_issuer_with_a_path_is_at_three_places_in_order() -> None:
    assert issuer_metadata_urls("https://as.example/tenant") == (
        "https://as.example/.well-known/oauth-authorization-server/tenant",
        "https://as.example/.well-known/openid-configuration/tenant",
        "https://as.example/tenant/.well-known/openid-configuration",
    )


@pytest.mark.parametrize("issuer", ["https://as.example", "https://as.example/"])
def test_the_metadata_of_an_issuer_without_a_path_is_at_two_places(issuer: str) -> None:
    assert issuer_metadata_urls(issuer) == (
        "https://as.example/.well-known/oauth-authorization-server",
        "https://as.example/.well-known/openid-configuration",
    )


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("HTTPS://A.example/Mcp", "https://a.example/Mcp", True),
        ("https://a.example:443/mcp", "https://a.example/mcp", True),
        ("http://[::1]:80/mcp", "http://[::1]/mcp", True),
        ("https://a.example/Mcp", "https://a.example/mcp", False),
        ("https://a.example:80/mcp", "https://a.example/mcp", False),
        ("https://a.example/mcp?x=1", "https://a.example/mcp", False),
    ],
)
def test_only_case_of_scheme_and_host_and_default_ports_make_no_difference(
    one: str, other: str, equal: bool
) -> None:
    assert (canonical(one) == canonical(other)) is equal


@pytest.mark.parametrize(
    ("above", "below", "is_parent"),
    [
        ("https://a.example", "https://a.example/mcp", True),
        ("https://a.example/", "https://a.example/mcp", True),
        ("https://a.example/x", "https://a.example/x/mcp", True),
        ("https://a.example/x", "https://a.example/xy/mcp", False),
        ("https://a.example/mcp", "https://a.example/mcp", False),
        ("http://a.example", "https://a.example/mcp", False),
        ("https://a.example/?q", "https://a.example/mcp", False),
    ],
)
def test_a_parent_is_above_on_the_same_origin(above: str, below: str, is_parent: bool) -> None:
    assert canonical(above).is_parent_of(canonical(below)) is is_parent
