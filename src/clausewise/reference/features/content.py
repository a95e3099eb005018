"""Everything the server offers, in one place."""

from __future__ import annotations

from dataclasses import dataclass

from clausewise.reference.features.asking_tools import ASKING_TOOLS
from clausewise.reference.features.changes import ChangeFeed
from clausewise.reference.features.prompts import PROMPTS, Prompt
from clausewise.reference.features.resources import RESOURCES, TEMPLATES, Resource, Template
from clausewise.reference.features.tools import TOOLS, Tool


@dataclass(frozen=True, slots=True)
class Content:
    """What the server offers, and the feed of its changes."""

    feed: ChangeFeed
    tools: tuple[Tool, ...] = TOOLS + ASKING_TOOLS
    resources: tuple[Resource, ...] = RESOURCES
    templates: tuple[Template, ...] = TEMPLATES
    prompts: tuple[Prompt, ...] = PROMPTS
    page_size: int = 5
