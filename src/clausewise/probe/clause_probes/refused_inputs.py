"""Logging, prompts and completion: requests that must be refused with -32602."""

from __future__ import annotations

from clausewise.probe.acquaintance import ask_pages
from clausewise.probe.clause_registration import clause_probe
from clausewise.probe.conversation.legacy_peer import LegacyPeer
from clausewise.probe.observation import Observation, left_to_the_recording, not_observed
from clausewise.probe.offered import Items, prompt_arguments
from clausewise.probe.walk import UNKNOWN_NAME


@clause_probe("logging.unknown-level", needs=("logging",))
async def unknown_level(peer: LegacyPeer) -> Observation:
    """A log level that does not exist is accepted, or refused with another code than -32602.

    Why: the client takes the level for set and waits for log messages that never come.

    Fix: answer `logging/setLevel` with error -32602 (Invalid params) unless the level is one
    of the eight.
    """
    async with peer.session() as session:
        level = {"level": "clausewise"}
        await session.attempt("logging/setLevel", level, rule="logging.unknown-level")
    return left_to_the_recording()


@clause_probe("prompts.missing-argument", needs=("prompts",), impact="reads")
async def missing_argument(peer: LegacyPeer) -> Observation:
    """A prompt without one of its required arguments is given, or refused with another code.

    Why: the model gets a text with a gap in it; or the client cannot tell that it is at fault.

    Fix: look for the required arguments first, and answer -32602 (Invalid params).
    """
    name = _demanding(peer.listed("prompts/list"))
    if name is None:
        return not_observed("no prompt has a required argument")
    async with peer.session() as session:
        await ask_pages("prompts/list", session.request)
        await session.attempt("prompts/get", {"name": name}, rule="prompts.missing-argument")
    return left_to_the_recording()


def _demanding(prompts: Items) -> str | None:
    """The first listed prompt that has a required argument."""
    for prompt in prompts:
        required = any(one.get("required") is True for one in prompt_arguments(prompt))
        if required and isinstance(prompt.get("name"), str):
            return str(prompt["name"])
    return None


@clause_probe("completion.unknown-prompt", needs=("completions",))
async def unknown_prompt(peer: LegacyPeer) -> Observation:
    """A completion for an unknown prompt, or without an argument, is refused with another code.

    Why: by the code a client tells whether to stop asking for completions or to mend its
    request.

    Fix: answer -32602 (Invalid params) to both.
    """
    reference = {"type": "ref/prompt", "name": UNKNOWN_NAME}
    argument = {"name": "clausewise", "value": ""}
    rule = "completion.unknown-prompt"
    async with peer.session() as session:
        if peer.offers("prompts"):
            await ask_pages("prompts/list", session.request)
        params = {"ref": reference, "argument": argument}
        await session.attempt("completion/complete", params, rule=rule)
        await session.attempt("completion/complete", {"ref": reference}, rule=rule)
    return left_to_the_recording()
