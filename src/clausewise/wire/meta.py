"""The reserved `_meta` keys that both sides read and write (basic/index#meta)."""

from __future__ import annotations

META_PREFIX = "io.modelcontextprotocol/"

META_VERSION = META_PREFIX + "protocolVersion"
META_CLIENT_INFO = META_PREFIX + "clientInfo"
META_CAPABILITIES = META_PREFIX + "clientCapabilities"
META_LOG_LEVEL = META_PREFIX + "logLevel"
META_SERVER_INFO = META_PREFIX + "serverInfo"
META_SUBSCRIPTION = META_PREFIX + "subscriptionId"
META_RELATED_TASK = META_PREFIX + "related-task"
"""2025-11-25: names the task that a message belongs to."""
