"""Replicates of steps that are not whole yet, so that a run that is stopped loses at most those under way.

A file per table in "unfinished" has one replicate a line (JSON). A line that a stop cut short counts as not there.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from replication.base import Number

FOLDER = "unfinished"


@dataclass(frozen=True)
class Made:
    """One replicate: how many seconds it took, and its numbers; None where the data set of its step is not there."""

    seconds: float
    numbers: tuple[Number, ...] | None


class Unfinished:
    """The replicates of one table that are kept until their steps are whole."""

    def __init__(self, folder: Path, table: str) -> None:
        self.path = folder / FOLDER / f"{table}.jsonl"

    def of(self, step: Sequence[object]) -> dict[int, Made]:
        """Return the replicates of a step by their number; ``step`` is all that its numbers depend on, as JSON."""
        wanted = json.loads(json.dumps(list(step)))
        return {
            line["replicate"]: Made(line["seconds"], tuple(Number(*number) for number in line["numbers"]))
            for line in self._lines()
            if line["step"] == wanted
        }

    def add(self, step: Sequence[object], replicate: int, made: Made) -> None:
        """Append one replicate; it is on the disk when this returns."""
        assert made.numbers is not None
        numbers = [(dict(n.keys), n.metric, n.value, n.problem) for n in made.numbers]
        line = {"step": list(step), "replicate": replicate, "seconds": made.seconds, "numbers": numbers}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                if file.read(1) != b"\n":  # a stop cut the line before short; this one begins anew
                    file.write(b"\n")
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def forget(self, step: Sequence[object] | None = None) -> None:
        """Take a step's replicates away, or all; the file goes with the last one, the folder with the last file."""
        wanted = None if step is None else json.loads(json.dumps(list(step)))
        left = [line for line in self._lines() if step is not None and line["step"] != wanted]
        if left:
            draft = self.path.with_suffix(".part")
            draft.write_text("".join(json.dumps(line) + "\n" for line in left), encoding="utf-8")
            os.replace(draft, self.path)
            return
        self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not there, or not empty
            self.path.parent.rmdir()

    def _lines(self) -> Iterator[dict]:
        if not self.path.exists():
            return
        with self.path.open(encoding="utf-8", errors="replace") as file:
            for text in file:
                with contextlib.suppress(json.JSONDecodeError):
                    yield json.loads(text)
