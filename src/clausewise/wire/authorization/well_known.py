"""Where OAuth metadata is: well-known URLs made from a resource or an issuer."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit, urlunsplit

_RESOURCE = "/.well-known/oauth-protected-resource"
_OAUTH_SERVER = "/.well-known/oauth-authorization-server"
_OPENID_PROVIDER = "/.well-known/openid-configuration"


def resource_metadata_urls(endpoint: str) -> tuple[str, ...]:
    """The URLs of Protected Resource Metadata for an MCP endpoint, in the order of clients.

    The first is made from the whole URL, its query included; the second is at the root.

    Source: RFC 9728 section 3.1; basic/authorization/authorization-server-discovery.
    """
    parts = urlsplit(endpoint)
    path = "" if parts.path == "/" else parts.path
    inserted = urlunsplit((parts.scheme, parts.netloc, _RESOURCE + path, parts.query, ""))
    return tuple(dict.fromkeys((inserted, _at_root(parts, _RESOURCE))))


def issuer_metadata_urls(issuer: str) -> tuple[str, ...]:
    """The URLs of authorization server metadata for an issuer, in the order of clients.

    Source: RFC 8414 sections 3.1 and 5, OpenID Connect Discovery section 4;
    basic/authorization/authorization-server-discovery.
    """
    parts = urlsplit(issuer)
    path = parts.path.removesuffix("/")
    urls = [_at_root(parts, _OAUTH_SERVER + path), _at_root(parts, _OPENID_PROVIDER + path)]
    if path:
        urls.append(_at_root(parts, path + _OPENID_PROVIDER))
    return tuple(urls)


def _at_root(parts: SplitResult, path: str) -> str:
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
