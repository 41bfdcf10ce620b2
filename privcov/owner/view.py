"""The owner's view of a private table: the exact answer, what clipping does to it, and a throw-away draw of the noise.

For the owner alone. NOT private, and no part of a release: a release measures the rows anew.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from privcov.measurements.exact_reading import flags_of
from privcov.measurements.integer_gram import flag_of
from privcov.measurements.noise import NoiseDistribution
from privcov.owner.preview import planned_noise
from privcov.owner.simulated_table import measured, planned_anchor
from privcov.postprocess.matrices import Noisy, derive
from privcov.privacy import Guarantee
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import PublicFacts


class LookError(ValueError):
    """Reason why there is nothing to look at; its sentence holds nothing of a cell."""


@dataclass(frozen=True, eq=False, repr=False)
class Look:
    """Exact answers and one throw-away draw, not private.

    ``raw``, ``kept`` and ``draw`` are correlations d x d: of the rows, of the clipped rows, of one throw-away release.
    ``clipped`` and ``missing`` are fractions of each column's cells; ``bias`` and ``noise`` are relative Frobenius
    changes of the covariance (working units) by clipping and by the draw.
    """

    raw: np.ndarray
    kept: np.ndarray
    draw: np.ndarray
    clipped: np.ndarray
    missing: np.ndarray
    bias: float
    noise: float
    rows: int


def owner_look(private: PrivateDataset, guarantee: Guarantee, rng: np.random.Generator) -> Look:
    """Return the exact answer and a draw. rng: for the throw-away noise; it is simulated and never released."""
    facts = private.facts
    if facts.bounds is None:
        raise LookError("The owner's view needs bounds per column: without them there is no clipping to show.")
    cells = private._rows
    used = np.ones(len(cells), dtype=bool) if private._class_of is None else private._class_of >= 0
    holes = ~np.isfinite(cells)
    if facts.missing == "drop-row":
        used &= ~holes.any(axis=1)
    if used.sum() < 2:
        raise LookError("Fewer than two rows are left by the declared rules, so there is nothing to look at.")
    cells, holes = cells[used], holes[used]
    y = np.where(holes, 0.0, (np.where(holes, 0.0, cells) - facts.origin) / facts.scale)
    low, high = ((facts.bounds - facts.origin[:, None]) / facts.scale[:, None]).T
    inside = np.clip(y, low, high)
    n, distribution = len(y), planned_noise(facts, guarantee, len(y))
    if facts.flagged:
        there = np.ones(y.shape)
        there[:, facts.flagged] -= holes[:, facts.flagged]
        raw, kept = (_of_pairs(x, there) for x in (y, inside))
        noisy = _with_flags(inside, there, facts, distribution, rng)
    else:
        anchor = planned_anchor(facts, distribution.shape)
        raw, kept = (np.cov(x, rowvar=False, bias=True).reshape(facts.d, facts.d) for x in (y, inside))
        noisy = measured(kept, inside.mean(axis=0), n, facts.row_bound, distribution, rng, anchor=anchor)
    drawn = derive(noisy)
    return Look(
        _correlation(raw),
        _correlation(kept),
        drawn.correlation,
        ((y < low) | (y > high)).mean(axis=0),
        holes.mean(axis=0),
        _relative(kept - raw, raw),
        _relative(drawn.covariance - kept, kept),
        n,
    )


def _of_pairs(x: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the covariance of every two columns over the rows that have both; zero where there are none."""
    rows = np.maximum(there.T @ there, 1.0)
    means = (x.T @ there) / rows
    return x.T @ x / rows - means * means.T


def _with_flags(
    x: np.ndarray, there: np.ndarray, facts: PublicFacts, distribution: NoiseDistribution, rng: np.random.Generator
) -> Noisy:
    """Draw the joint measurement of these rows with their flags, in working units."""
    flags = flags_of(facts.d, facts.flagged, distribution, weight=flag_of(facts.units, facts.flagged))
    assert flags is not None, "missing cells are measured"
    gone = (1 - there[:, facts.flagged]) * flags.weight
    anchor = np.full((len(x), 1), planned_anchor(facts, distribution.shape))
    z = np.concatenate([x / facts.row_bound, gone, anchor], axis=1)
    std, ones = distribution.off_diagonal_std, np.ones(facts.d)
    whole = z.T @ z / len(x) + distribution.draw(rng)
    return Noisy(whole, True, facts.row_bound, ones, 0 * ones, len(x), std, distribution.diagonal_std, std, flags)


def _correlation(covariance: np.ndarray) -> np.ndarray:
    spread = np.sqrt(np.diag(covariance))
    spread = np.where(spread > 0, spread, 1.0)
    return covariance / np.outer(spread, spread)


def _relative(difference: np.ndarray, reference: np.ndarray) -> float:
    size = float(np.linalg.norm(reference))
    return float(np.linalg.norm(difference)) / size if size > 0 else math.inf
