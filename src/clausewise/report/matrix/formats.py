"""The formats of a matrix by name, each imported when it is used."""

from __future__ import annotations

from enum import StrEnum
from importlib import import_module

from clausewise.core.matrix import Matrix
from clausewise.report.options import ReportOptions


class MatrixFormat(StrEnum):
    """A format of a matrix; its module in this package has the same name."""

    HUMAN = "human"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


def render(matrix: Matrix, format_: MatrixFormat, options: ReportOptions) -> str:
    """`matrix` in one format; the text ends with a newline."""
    text = import_module(f"clausewise.report.matrix.{format_.value}").render(matrix, options)
    if not isinstance(text, str):
        raise TypeError(f"the {format_} report is no text")
    return text
