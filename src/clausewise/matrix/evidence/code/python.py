"""Tests of Python: functions whose names begin with `test`, in modules and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TypeGuard

from clausewise.core.errors import UsageError
from clausewise.matrix.evidence.code.blocks import Block, Naming


def blocks_in(path: PurePosixPath, text: str) -> list[Block]:
    """The tests of a module and its groups: the module's docstring, its classes.

    Raises:
        UsageError: it cannot be parsed; the message names the line.
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else str(error)
        raise UsageError(f"{path}{line} cannot be parsed: {what}") from None
    lines = text.split("\n")
    owner = tuple(part for part in path.with_suffix("").parts if part != "__init__")
    found = list(_blocks(module, owner, lines))
    docstring = module.body[0] if module.body else None
    if isinstance(docstring, ast.Expr) and isinstance(docstring.value, ast.Constant):
        area = (docstring.lineno, docstring.end_lineno or docstring.lineno)
        found.append(Block(Naming.IDENTIFIERS, owner, area, False, (1, len(lines))))
    return found


def _blocks(
    node: ast.Module | ast.ClassDef, owner: tuple[str, ...], lines: list[str]
) -> Iterator[Block]:
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            area, names = _area(child, lines), (*owner, child.name)
            yield Block(Naming.IDENTIFIERS, names, area, False, area)
            yield from _blocks(child, names, lines)
        elif _is_function(child) and child.name.startswith("test"):
            yield Block(Naming.IDENTIFIERS, (*owner, child.name), _area(child, lines))


def _is_function(node: ast.stmt) -> TypeGuard[ast.FunctionDef | ast.AsyncFunctionDef]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)


def _area(
    node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]
) -> tuple[int, int]:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    return first, node.end_lineno or node.lineno
