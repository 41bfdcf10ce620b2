"""The measurement of private rows as an audit sees it: the actual one, run again for every draw.

Every draw is one call of `moment.measure_exactly` on a `PrivateDataset`, with the share and shape that the
method requests when `release_private` runs it: rows to whole numbers, exact sum, noise from the operating system.
No ledger is involved, as the rows are simulated and nothing is released. The attacker sees every whole number that is
measured, so also every function of them that a release holds: nothing is rounded, down to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from privcov.attacks.bounds import AuditableGuarantee, weaker
from privcov.attacks.faults import twice
from privcov.core.guarantees import Event
from privcov.measurements.exact.integer_gram import UNIT
from privcov.measurements.exact.private_moment import NoisySum, measure_exactly, planned_events
from privcov.measurements.noise_theory.free_groups import groups_of
from privcov.releases.private_request import private_request
from privcov.tables.dataset import Dataset
from privcov.tables.private_dataset import PrivateDataset
from privcov.tables.public_facts import PublicFacts

FAULTS = ("half-noise", "no-clipping", "wrong-n")


def request(method: str, facts: PublicFacts, guarantee: AuditableGuarantee) -> dict:
    """Return what `release_private` would pass to `measure_exactly` beside the rows, by name."""
    return vars(private_request(method, facts, guarantee).measurement_request)


def private_rows(table: Dataset, hidden_n: bool, bounded: bool = False) -> PrivateDataset:
    """Return the simulated rows, declared private.

    hidden_n: the number of rows is not public. bounded: every cell is within 1 / sqrt(d) of zero, in units of the row
    bound, so that the corners of the bounds have its length.
    """
    limits: dict[str, Any] = {"row_bound": table.row_bound}
    if bounded:
        limits = {"bounds": [(-_cell(table), _cell(table))] * table.d}
    return PrivateDataset.from_rows(table.rows, n_public=not hidden_n, name=table.name, **limits)


def _cell(table: Dataset) -> float:
    return table.row_bound / math.sqrt(table.d)


def matrix_of_answer(noisy: NoisySum) -> np.ndarray:
    """Return all whole numbers of the answer in one symmetric matrix, in units of R^2.

    They are the sum, and in corners of their own the second measurements of sums of squares. Exact below 2^53 steps, as
    UNIT is a power of two.
    """
    return _bordered(noisy.total, noisy.sums) / UNIT**2


def noiseless(table: Dataset, noisy: NoisySum, *, clip: bool = True) -> np.ndarray:
    """Return `matrix_of_answer` without noise, up to truncation; an attacker with every row knows it."""
    rows = np.asarray(table.rows) / table.row_bound
    if clip and noisy.facts.bounds is not None:
        rows = np.clip(rows, -1 / math.sqrt(table.d), 1 / math.sqrt(table.d))
    if clip:
        rows = rows / np.maximum(1.0, np.linalg.norm(rows, axis=1, keepdims=True))
    z = np.hstack([rows, np.full((len(rows), noisy.n_anchors), noisy.anchor / UNIT)])
    groups = groups_of(noisy.facts, noisy.facts.flagged) if noisy.sums else ()
    more = [np.sum(rows[:, list(g.columns)] ** 2) for g in groups if len(g.columns) > 1]
    return _bordered(z.T @ z, more)


def _bordered(matrix: np.ndarray, corners: Sequence[float]) -> np.ndarray:
    """Return the matrix with one more row and column for each of these, which hold only the corner."""
    size = len(matrix)
    bordered = np.pad(matrix, ((0, len(corners)), (0, len(corners))))
    for place, corner in enumerate(corners, size):
        bordered[place, place] = corner
    return bordered


def sampler(
    method: str, table: Dataset, claim: AuditableGuarantee, *, hidden_n: bool, bounded: bool = False, fault: str = ""
) -> tuple[Callable[..., np.ndarray], np.ndarray, Event]:
    """Return (draw(count) -> count x p x p, answer without noise, the event of the sound measurement).

    fault: "" for the measurement as it is; "half-noise": noise for a claim that permits it; "no-clipping": what
    clipping took away is put back; "wrong-n": every row stands in the table twice, and counts as two people.
    """
    facts = private_rows(table, hidden_n, bounded).facts
    event = planned_events(facts, **request(method, facts, claim))[-1]
    if fault == "wrong-n":
        table = twice(table)
    private = private_rows(table, hidden_n, bounded)
    how = request(method, private.facts, weaker(claim, 2.0) if fault == "half-noise" else claim)
    once = measure_exactly(private, **how)
    centre, long = (noiseless(table, once, clip=clip) for clip in (True, False))
    more = long - centre if fault == "no-clipping" else 0.0

    def draw(count: int, *_names: Any) -> np.ndarray:
        return np.array([matrix_of_answer(measure_exactly(private, **how)) for _ in range(count)]) + more

    return draw, centre + more, event
