"""The reserved `_meta` keys that both sides read and write (basic/index#meta)."""

from __future__ import annotations

META_PREFIX = "io.modelcontextprotocol/"

PROTOCOL_VERSION = META_PREFIX + "protocolVersion"
CLIENT_INFO = META_PREFIX + "clientInfo"
CLIENT_CAPABILITIES = META_PREFIX + "clientCapabilities"
LOG_LEVEL = META_PREFIX + "logLevel"
SERVER_INFO = META_PREFIX + "serverInfo"
SUBSCRIPTION_ID = META_PREFIX + "subscriptionId"
RELATED_TASK = META_PREFIX + "related-task"
"""2025-11-25: names the task that a message belongs to."""
