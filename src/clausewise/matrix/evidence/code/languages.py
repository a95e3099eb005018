"""The languages by the endings of file names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from clausewise.matrix.evidence.code import golang, java, python, rust, script
from clausewise.matrix.evidence.code.blocks import Block

BlocksIn = Callable[[PurePosixPath, str], list[Block]]

LANGUAGES: Mapping[str, BlocksIn] = {
    ".py": python.blocks_in,
    **dict.fromkeys(
        (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"), script.blocks_in
    ),
    ".go": golang.blocks_in,
    ".rs": rust.blocks_in,
    ".java": java.blocks_in,
}
"""What finds the tests of a file, by its ending."""
