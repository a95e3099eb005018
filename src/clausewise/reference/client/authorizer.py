"""What a client that meets a protected server turns to."""

from __future__ import annotations

from typing import Protocol

Headers = tuple[tuple[str, str], ...]
"""Names and values, in order."""


class Authorizer(Protocol):
    """Gets tokens, and says which headers carry them."""

    async def headers(self, url: str) -> Headers:
        """What to add to a request for `url`."""

    async def challenged(self, url: str, status: int, headers: Headers, sent: Headers) -> bool:
        """Deal with a refusal (401 or 403); whether the request is worth another try.

        `sent` is what `headers` gave for the request.
        """
