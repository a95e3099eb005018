"""The formats by name, each imported when it is used."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module

from clausewise.core.results import RunResult
from clausewise.report.options import ReportOptions


class Format(StrEnum):
    """A report format; its module in this package has the same name."""

    HUMAN = "human"
    JSON = "json"
    JSONL = "jsonl"
    JUNIT = "junit"
    MARKDOWN = "markdown"
    SARIF = "sarif"
    GITHUB = "github"
    HTML = "html"


def render(result: RunResult, format_: Format, options: ReportOptions) -> str:
    """`result` in one format; the text ends with a newline unless it is empty."""
    text = import_module(f"clausewise.report.{format_.value}").render(result, options)
    if not isinstance(text, str):
        raise TypeError(f"the {format_} report is no text")
    return text
