"""The written page of an audit and the record beside it: write them, see whether they hold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clausewise.core.errors import UsageError
from clausewise.core.matrix import Matrix
from clausewise.matrix.ratchet import Fall, LostTag, changed_rows, falls, lost_tags, to_record
from clausewise.report.matrix import json
from clausewise.report.matrix.markdown import page


@dataclass(frozen=True, slots=True)
class Comparison:
    """What became of the recorded matrix, and which of the two files are not what they should be.

    `stale` names the files that are missing or hold something else, `changed` the rows that
    the record has otherwise.
    """

    falls: tuple[Fall, ...] = ()
    lost: tuple[LostTag, ...] = ()
    stale: tuple[Path, ...] = ()
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page at `name`, relative to the folder `root` of the audited project.

    The record, the matrix as JSON, has the same name but for the ending `.json`.
    """

    root: Path
    name: str

    @property
    def path(self) -> Path:
        return self.root / self.name

    @property
    def record(self) -> Path:
        return self.path.with_suffix(".json")

    def compare(self, matrix: Matrix) -> Comparison:
        """`matrix` beside the page and record as they are.

        Raises:
            UsageError: one cannot be read, or the record holds no matrix.
        """
        due = to_record(matrix)
        recorded = self._recorded()
        stale = [] if self._text() == self._page(due) else [self.path]
        if recorded is None:
            return Comparison(stale=(*stale, self.record))
        if recorded != due:
            stale.append(self.record)
        return Comparison(
            tuple(falls(recorded, due)),
            tuple(lost_tags(recorded, due)),
            tuple(stale),
            tuple(changed_rows(recorded, due)),
        )

    def write(self, matrix: Matrix) -> None:
        """Write page and record.

        Raises:
            UsageError: one cannot be written.
        """
        due = to_record(matrix)
        for path, text in ((self.path, self._page(due)), (self.record, json.render(due))):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="\n")
            except OSError as error:
                raise UsageError(f"cannot write {path}: {error.strerror}") from None

    def _page(self, matrix: Matrix) -> str:
        return page(matrix, PurePosixPath(self.name))

    def _text(self) -> str | None:
        content = _read(self.path)
        return None if content is None else content.decode("utf-8", "replace")

    def _recorded(self) -> Matrix | None:
        content = _read(self.record)
        return None if content is None else json.load(content, str(self.record))


def _read(path: Path) -> bytes | None:
    """The content of a file; None where there is none."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
