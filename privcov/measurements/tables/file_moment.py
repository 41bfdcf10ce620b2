"""What a table in files is asked for: its sums, once, and for public rows the moments that follow from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privcov.dataset import Dataset, FileRows
from privcov.measurements.integer_gram import UNIT
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import PublicFacts

if TYPE_CHECKING:  # the readers of files are loaded where a file is read, not where a stored sum is
    from privcov.measurements.tables.table_sums import Sums, SumSpec


def sums_of(private: PrivateDataset, numbers: tuple[int, ...] | None = None) -> Sums:
    """The exact sums of a private table in files, made by its one pass and kept: NOT private.

    numbers: secrets of the ledger's sketch, so that the pass makes it too. Only the exact measurement and the ledger's
    fingerprint call it; the fingerprint comes first, so a release reads the files once.
    """
    from privcov.measurements.tables.table_pass import add_up

    files, facts = private.files, private.facts
    assert files is not None, "rows in memory are summed from themselves"
    made = files.private_pass
    # Sums under other facts, such as another bound, would have another sensitivity.
    if made is None or made[0] is not facts or (numbers is not None and made[1] != numbers):
        drop = facts.missing == "drop-row"
        made = files.private_pass = (
            facts,
            numbers,
            add_up(files, _spec(files, facts, facts.classes, True, drop, numbers)),
        )
    return made[2]


def public_sums(dataset: Dataset) -> Sums:
    """The exact sums of a public table in files under its row bound; one pass for each bound, kept.

    Raises ValueError for missing cells, unless their rows are to be left out, and for labels outside the list.
    """
    from privcov.measurements.tables.table_pass import add_up

    files = dataset.rows
    assert isinstance(files, FileRows), "rows in memory have their moments from themselves"

    def compute() -> Sums:
        found = add_up(files, _spec(files, dataset, dataset.classes, False, files.missing == "drop-row", None))
        _check_public(found, dataset, files.missing)
        return found

    return dataset.kept.once(("sums", dataset.row_bound), compute)


def moments(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """(second moment d x d, mean d) of the clipped rows in unit-ball units, within 2^-20 of the float answer.

    Every quotient of whole numbers is rounded once, so the bits are the same however the files are cut.
    """
    found, n = public_sums(dataset), dataset.n
    second = np.array([[v / (n * UNIT**2) for v in line] for line in found.second()], dtype=np.float64)
    return second, found.lines.sum(axis=1) / (n * UNIT)


def class_moments(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """(sum of the clipped rows of each class over n, d x k; share of each class, k), in unit-ball units."""
    found = public_sums(dataset)
    return found.lines / (dataset.n * UNIT), found.counts / dataset.n


def rows_shortened(dataset: Dataset) -> int:
    """Number of rows of a public table in files that the row bound shortened."""
    return public_sums(dataset).long


def _spec(
    files: FileRows,
    of: Dataset | PublicFacts,
    classes: tuple[str, ...],
    private: bool,
    drop: bool,
    numbers: tuple[int, ...] | None,
) -> SumSpec:
    from privcov.measurements.tables.table_sums import SumSpec

    return SumSpec(of.columns, files.table.label, classes, of.units, private, drop, secrets=numbers)


def _check_public(found: Sums, dataset: Dataset, missing: str) -> None:
    holes = dict(zip(dataset.columns, found.holes.tolist(), strict=True))
    if any(holes.values()) and missing != "drop-row":
        worst = max(holes, key=lambda name: holes[name])
        raise ValueError(
            f"Column {worst!r} of {dataset.name!r} has {holes[worst]:,} missing or infinite cells. "
            "Give missing='drop-row' to leave such rows out, or leave the column out."
        )
    if found.unlisted:
        raise ValueError(
            f"{found.unlisted:,} rows of {dataset.name!r} have a label that is not in classes. "
            "List every class, with those of rows that are hard to place."
        )
    if found.seen - found.dropped != dataset.n:
        from privcov.table_files import TableFileError

        raise TableFileError("The files changed since they were opened: they hold other rows. Open them again.")
