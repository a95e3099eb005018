"""The metadata documents of the protected mode, and where they are.

Source: RFC 9728, RFC 8414, OpenID Connect Discovery 1.0;
basic/authorization/authorization-server-discovery.
"""

from __future__ import annotations

from collections.abc import Mapping

from clausewise.reference.auth.claims import ALGORITHM
from clausewise.reference.auth.parts import (
    AUTHORIZE_PATH,
    ISSUER_PATH,
    KEYS_PATH,
    RESOURCE_METADATA_PATH,
    TOKEN_PATH,
)
from clausewise.reference.auth.scopes import OPENID, SUPPORTED
from clausewise.reference.messages import JsonObject


def resource_metadata(origin: str, endpoint: str) -> Mapping[str, JsonObject]:
    """Protected Resource Metadata, for the endpoint and at the root, by path."""
    document: JsonObject = {
        "resource": origin + endpoint,
        "resource_name": "Clausewise reference server",
        "authorization_servers": [origin + ISSUER_PATH],
        "scopes_supported": list(SUPPORTED),
        "bearer_methods_supported": ["header"],
    }
    paths = (RESOURCE_METADATA_PATH + endpoint, RESOURCE_METADATA_PATH)
    return dict.fromkeys(paths, document)


def server_metadata(origin: str) -> Mapping[str, JsonObject]:
    """Authorization server metadata, as OAuth and as OpenID Connect have it, by path."""
    oauth: JsonObject = {
        "issuer": origin + ISSUER_PATH,
        "authorization_endpoint": origin + AUTHORIZE_PATH,
        "token_endpoint": origin + TOKEN_PATH,
        "jwks_uri": origin + KEYS_PATH,
        "scopes_supported": [*SUPPORTED, OPENID],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code"],
        "token_endpoint_auth_methods_supported": ["none"],
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
    }
    openid = oauth | {
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
    }
    return {
        f"/.well-known/oauth-authorization-server{ISSUER_PATH}": oauth,
        f"/.well-known/openid-configuration{ISSUER_PATH}": openid,
        f"{ISSUER_PATH}/.well-known/openid-configuration": openid,
    }
