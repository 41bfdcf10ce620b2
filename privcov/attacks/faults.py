"""Mechanisms that are broken on purpose, to show that an audit detects it. None of them is a method that can be used.

Each runs a sound method under circumstances in which its proof does not hold, and still makes the requested claim.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from privcov.attacks.bounds import AuditableGuarantee, weaker
from privcov.attacks.pairs import LONG
from privcov.core.guarantees import Event
from privcov.tables.dataset import Dataset


@dataclass(frozen=True)
class Fault:
    """A fault: apply(table, claim, event of the sound run) -> (table, guarantee to run under, factor on the answer)."""

    key: str
    label: str
    sentence: str
    apply: Callable[[Dataset, AuditableGuarantee, Event], tuple[Dataset, AuditableGuarantee, float]]


def _half(dataset: Dataset, claim: AuditableGuarantee, event: Event) -> tuple[Dataset, AuditableGuarantee, float]:
    return dataset, weaker(claim, 2.0), 1.0


def _unclipped(dataset: Dataset, claim: AuditableGuarantee, event: Event) -> tuple[Dataset, AuditableGuarantee, float]:
    # Under the larger bound no row is clipped; the noise is that of bound 1, and so is the unit of the answer.
    return dataset.with_row_bound(LONG * dataset.row_bound), weaker(claim, LONG**2), LONG**2


def twice(dataset: Dataset) -> Dataset:
    """Return the table with every row in it two times."""
    return Dataset.from_rows(
        np.repeat(dataset.rows, 2, axis=0), dataset.row_bound, name=dataset.name, provenance=dataset.provenance
    )


def _wrong_n(dataset: Dataset, claim: AuditableGuarantee, event: Event) -> tuple[Dataset, AuditableGuarantee, float]:
    return twice(dataset), claim, 1.0


def _one_over_n(dataset: Dataset, claim: AuditableGuarantee, event: Event) -> tuple[Dataset, AuditableGuarantee, float]:
    return dataset, weaker(claim, event.sensitivity * dataset.n), 1.0


FAULTS = {
    f.key: f
    for f in (
        Fault("half-noise", "Half the noise", "The noise has half the scale that the guarantee needs.", _half),
        Fault(
            "no-clipping",
            "Clipping skipped",
            f"Rows are not clipped: one that is {LONG:g} times too long counts {LONG**2:g} times.",
            _unclipped,
        ),
        Fault(
            "wrong-n",
            "n misstated",
            "The table holds every row twice, and n counts both: the noise is made for twice as many people.",
            _wrong_n,
        ),
        Fault(
            "one-over-n",
            "Sensitivity 1/n",
            "The noise is made for a sensitivity of R squared / n. With one column that is right; with more, replacing "
            "a row changes more.",
            _one_over_n,
        ),
    )
}
