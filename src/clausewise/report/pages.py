"""HTML templates: all text that goes into them is escaped."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from clausewise.report.text import visible


@cache
def template(name: str) -> Template:
    """The template NAME in `templates/`; its filter `visible` is that of `report.text`."""
    environment = Environment(
        loader=PackageLoader("clausewise.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["visible"] = visible
    return environment.get_template(name)
