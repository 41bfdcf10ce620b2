"""The papers' own data sets: not shipped, read from a folder of files.

Each set is one module of this package that names the files it is read from, how they are checked, and its public
limits. Nothing is downloaded here; see `fetch`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from privcov.core.paths import data_folder
from privcov.data_sources.base import Source
from privcov.data_sources.bundled import BundledColumn
from privcov.tables.dataset import Dataset

if TYPE_CHECKING:
    import pandas as pd

GROUP = "Papers' own data"
MAX_BYTES = 300_000_000  # of one file, and of the content of a compressed one


class MissingData(ValueError):
    """Raised where the files of a set are absent; the message names them, their folder, and how to get them."""


@dataclass(frozen=True, eq=False)
class Raw:
    """A set as it was published, n x d, in the order of its files; its values are made read-only."""

    values: np.ndarray
    labels: np.ndarray | None
    columns: tuple[str, ...]

    def __post_init__(self) -> None:
        self.values.flags.writeable = False


@dataclass(frozen=True)
class OpenML:
    """Name of a set for scikit-learn's fetch_openml, and about how many megabytes are downloaded."""

    name: str
    version: int
    megabytes: int


def facts(table: Sequence[BundledColumn]) -> dict[str, Any]:
    """Return columns with their public limits, as arguments of `Dataset.from_rows`."""
    return {
        "columns": [column.name for column in table],
        "bounds": [(column.low, column.high) for column in table],
        "typical": [column.typical for column in table],
    }


class PaperData(Source):
    """Base of the papers' sets.

    title: name in messages. size: shape, in words. files: combinations of file names, best first; one complete
    combination is enough. openml: where it can be downloaded from, or None.
    """

    title: ClassVar[str]
    size: ClassVar[str]
    files: ClassVar[tuple[tuple[str, ...], ...]]
    openml: ClassVar[OpenML | None] = None

    @classmethod
    def parse(cls, parts: Sequence[bytes]) -> Raw:
        """Read the set from the bytes of its files, in any order, or raise a ValueError of one sentence."""
        raise NotImplementedError

    @classmethod
    def from_openml(cls, values: pd.DataFrame, labels: pd.Series) -> Raw:
        """Take the set from OpenML's table (pandas) and label column; it is checked as `parse` checks."""
        raise NotImplementedError

    @classmethod
    def pack(cls, raw: Raw) -> tuple[str, bytes]:
        """Return the name and the bytes of the file in which a download is kept; `parse` reads it."""
        raise NotImplementedError

    def arrange(self, raw: Raw) -> dict[str, Any]:
        """Return the arguments of `Dataset.from_rows` but row_bound: X, bounds, typical, labels, columns, graphs."""
        raise NotImplementedError

    @classmethod
    def names(cls) -> str:
        """Return the files in words: "a or b with c"."""
        return " or ".join(" with ".join(together) for together in cls.files)

    @classmethod
    def found(cls) -> tuple[Path, ...]:
        """Return the files of the first combination that is complete in the data folder, or ()."""
        for names in cls.files:
            paths = tuple(data_folder() / name for name in names)
            if all(path.is_file() for path in paths):
                return paths
        return ()

    @classmethod
    def state(cls) -> str:
        """Return name, size and time of the files that would be read, "" where absent; a new state means new rows."""
        return "; ".join(f"{p.name} {p.stat().st_size} {p.stat().st_mtime_ns}" for p in cls.found())

    @classmethod
    def read(cls) -> Raw:
        """Read the set from the data folder; MissingData where it is absent, ValueError where a file is not the set."""
        paths = cls.found()
        if not paths:
            raise MissingData(cls.missing())
        return _read(cls, paths, cls.state())  # type: ignore[arg-type] # a class can be hashed; mypy sees a protocol

    @classmethod
    def missing(cls) -> str:
        """Return what to do where the files are absent."""
        online = ""
        if cls.openml is not None:
            key = cls.card.key
            online = f" Or download it (about {cls.openml.megabytes} MB): python -m replication fetch {key}."
        return (
            f"The {cls.title} set ({cls.size}) is not on this machine. Put {cls.names()} into {data_folder()}, or "
            f"name the folder that has it in PRIVCOV_DATA_DIR.{online}"
        )

    def make(self, rng: np.random.Generator, seed: int, row_bound: float) -> Dataset:
        """Return the set as it is in the data folder; nothing is drawn."""
        return self.make_from(self.read(), row_bound)

    def make_from(self, raw: Raw, row_bound: float | None = None) -> Dataset:
        """Return the data set of a set that was read elsewhere; the default of ``row_bound`` is that of the source."""
        bound = self.default_row_bound(0) if row_bound is None else row_bound
        named = {"name": self.card.key, "provenance": "public"}
        return Dataset.from_rows(**named | self.arrange(raw), row_bound=bound)


# One set is read once and used by every draw; a file that changes is another state.
@lru_cache(maxsize=3)
def _read(cls: type[PaperData], paths: tuple[Path, ...], state: str) -> Raw:
    names = " and ".join(path.name for path in paths)
    try:
        large = next((p for p in paths if p.stat().st_size > MAX_BYTES), None)
        if large is not None:
            raise ValueError(
                f"the file has {large.stat().st_size / 1e6:,.0f} MB, and the limit is {MAX_BYTES / 1e6:,.0f}."
            )
        return cls.parse([path.read_bytes() for path in paths])
    except OSError as problem:
        raise ValueError(f"{names} in {paths[0].parent} cannot be read: {problem.strerror or problem}.") from None
    except ValueError as problem:
        raise ValueError(f"{names} in {paths[0].parent}: {problem}") from None
