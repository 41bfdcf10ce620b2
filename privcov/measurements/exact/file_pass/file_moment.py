"""The sums of a table in files, computed once, and for public rows the moments that follow from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from privcov.measurements.exact.integer_gram import ANCHOR, UNIT
from privcov.tables.dataset import Dataset, FileRows
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import PublicFacts

if TYPE_CHECKING:  # the readers of files are loaded where a file is read, not where a stored sum is
    from privcov.measurements.exact.file_pass.table_sums import Sums, SumSpec


class Pass(NamedTuple):
    """A pass over the files of a private table: its facts, the secrets of the ledger, the anchor, and the sums."""

    facts: PublicFacts
    secrets: tuple[int, ...] | None
    anchor: int
    sums: Sums


def sums_of(private: PrivateDataset, secrets: tuple[int, ...] | None = None, anchor: int | None = None) -> Sums:
    """Return the exact sums of a private table in files, computed by its one pass and kept: NOT private.

    The ledger's fingerprint asks for them before the exact measurement, so a release reads the files once.
    """
    from privcov.measurements.exact.file_pass.table_pass import add_up

    files, facts = private.files, private.facts
    assert files is not None, "rows in memory are summed from themselves"
    last: Pass | None = files.private_pass
    if anchor is None or not facts.person:  # without weights the anchor is multiplied with sums of rows
        anchor = ANCHOR if last is None else last.anchor
    # Sums under other facts, such as another bound, would have another sensitivity.
    if last is not None and last.facts is facts and last.anchor == anchor and secrets in (None, last.secrets):
        return last.sums
    drop = facts.missing == "drop-row"
    spec = _spec(files, facts, facts.classes, True, drop, secrets, facts.flagged)
    spec = replace(spec, person=facts.person, anchor=anchor, kinds=facts.kinds)
    sums = add_up(files, spec)
    if last is None or last.secrets is None or secrets is not None:  # one with secrets also serves who gives none
        files.private_pass = Pass(facts, secrets, anchor, sums)
    return sums


def public_sums(dataset: Dataset) -> Sums:
    """Return the exact sums of a public table in files under its row bound; one pass for each bound, kept."""
    from privcov.measurements.exact.file_pass.table_pass import add_up

    files = dataset.rows
    assert isinstance(files, FileRows), "rows in memory have their moments from themselves"

    def compute() -> Sums:
        spec = _spec(files, dataset, dataset.classes, False, files.missing == "drop-row", None)
        sums = add_up(files, replace(spec, kinds=files.kinds))
        _check_public(sums, dataset, files.missing)
        return sums

    return dataset.kept.once(("sums", dataset.row_bound), compute)


def moments(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return the second moment and the mean of the clipped rows, unit-ball units, every quotient rounded once."""
    sums, n = public_sums(dataset), dataset.n
    second = np.array([[v / (n * UNIT**2) for v in line] for line in sums.second()], dtype=np.float64)
    return second, sums.lines.sum(axis=1) / (n * UNIT)


def class_moments(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return each class's sum of clipped rows over n and its fraction of the rows, in unit-ball units."""
    sums = public_sums(dataset)
    return sums.lines / (dataset.n * UNIT), sums.counts / dataset.n


def rows_shortened(dataset: Dataset) -> int:
    """Return the number of rows of a public table in files that the row bound shortened."""
    return public_sums(dataset).long


def _spec(
    files: FileRows,
    of: Dataset | PublicFacts,
    classes: tuple[str, ...],
    private: bool,
    drop: bool,
    numbers: tuple[int, ...] | None,
    flagged: tuple[int, ...] = (),
) -> SumSpec:
    """Return what the workers of a pass need."""
    from privcov.measurements.exact.file_pass.table_sums import SumSpec

    return SumSpec(of.columns, files.table.label, classes, of.units, private, drop, flagged, secrets=numbers)


def _check_public(sums: Sums, dataset: Dataset, missing: str) -> None:
    """Raise where the sums of a public table are not those of the rows that were declared."""
    holes = dict(zip(dataset.columns, sums.holes.tolist(), strict=True))
    if any(holes.values()) and missing != "drop-row":
        worst = max(holes, key=lambda name: holes[name])
        raise ValueError(
            f"Column {worst!r} of {dataset.name!r} has {holes[worst]:,} missing or infinite cells. "
            "Give missing='drop-row' to leave such rows out, or leave the column out."
        )
    if sums.unlisted:
        raise ValueError(
            f"{sums.unlisted:,} rows of {dataset.name!r} have a label that is not in classes. "
            "List every class, with those of rows that are hard to place."
        )
    if sums.seen - sums.dropped != dataset.n:
        from privcov.tables.readers import TableFileError

        raise TableFileError("The files changed since they were opened: they hold other rows. Open them again.")
