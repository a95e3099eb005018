"""The rule that the list of tools does not depend on the connection (STL-008)."""

from __future__ import annotations

from clausewise.probe.conversation.peer import Peer
from clausewise.probe.observation import Observation
from clausewise.probe.registration import Turn, probe
from clausewise.probe.subjects.repeated_lists import does_not_vary


@probe("MCP-STL-008", needs=("tools",), turn=Turn.ALONE, beside=True)
async def tools_do_not_depend_on_the_connection(peer: Peer) -> Observation:
    """`tools/list` gives other tools on another connection, or after other requests.

    Why: requests of one client may travel over any connection; a tool that is there on
    one and not on another cannot be relied on.

    Fix: derive the set of tools from the credentials alone, not from the connection or
    from what was asked before.
    """
    return await does_not_vary(peer, "tools/list")
