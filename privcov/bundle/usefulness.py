"""Whether a release is useful, in words, compared with answers without noise; the same on a page and in a report."""

from __future__ import annotations

import numpy as np

from privcov.core.words import percent
from privcov.estimators.base import METHODS
from privcov.metrics.errors import baseline_errors, reference_matrix, waterfall
from privcov.postprocess.matrices import correlation
from privcov.releases.display import matrix_of
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

WORSE = "worse than the zero matrix here"
_USEFUL, _WORTH = 1 / 3, 0.75  # fractions of the smaller error of the zero matrix and the diagonal
_SMALL = 0.1  # an error below a tenth is useful, even if a trivial answer is as good
_REMEDY = "More rows, fewer columns or a weaker guarantee would help. "
_NEAR = 0.05  # the same for correlations, where their noise is below it too
STILL = 1e-24  # a variance that rounding alone may leave, in working units


def verdict(relative_error: float, data: Dataset, rel: Release, *, correlations: bool = False) -> tuple[str, str]:
    """Return whether the release of a covariance is useful, and the reasons, with the errors of answers without noise.

    With ``correlations`` the error of the correlations decides: a few columns may dominate the covariance.
    """
    baselines, sample = baseline_errors(data, rel.target), reference_matrix(data, rel.target, "sample")
    if np.trace(sample) <= data.d * STILL:
        return "Nothing varies in these rows.", ""
    trivial = baselines[:1] if data.d == 1 else baselines[:2]  # the diagonal of one column is all of the sample
    word, error_note = _word(relative_error, min(level for _, level in trivial), _SMALL), ""
    if correlations:
        spread = np.sqrt(np.maximum(np.diag(sample), STILL))
        size = _off_diagonal(true := correlation(sample, floor=STILL))
        off = _off_diagonal(matrix_of(rel, "correlation") - true)
        noise = noise_on_entries(rel) * _off_diagonal(1 / np.outer(spread, spread))
        word = _word(off, size, _NEAR if noise <= _NEAR else 0.0)
        error_note = f"The typical error of a correlation is {off:.2g}; the typical correlation is {size:.2g}. "
    remedy = ""
    if word != "Useful" and METHODS.get(rel.method).standing != "reference":
        stages = dict(waterfall(rel, data))
        cut = stages.get("Clipped", 0.0) - stages["Sample"]
        remedy = "A larger row bound would help. " if cut > stages["Post-processed"] / 2 else _REMEDY
    more = f"It is {WORSE}. " if relative_error > 1 else ""
    if word == "Useful" and data.truth is not None and relative_error < baselines[-1][1]:
        more = "Nearer the truth than the sample: shrinkage removes sampling error. "
    zero, *rest = (f"{name.removesuffix(' (not private)')} {percent(level)}" for name, level in baselines)
    purpose = " for correlations" if correlations else " for covariances" if data.bounds is not None else ""
    return f"{word} here{purpose}.", f"{error_note}{more}{remedy}Other errors: {zero}; not private: {', '.join(rest)}."


def noise_on_entries(rel: Release) -> float:
    """Return the deviation of the noise on an entry off the diagonal before repairs, in working units."""
    return 0.0 if rel.noisy_moment is None else rel.noisy_moment.distribution.off_diagonal_std * rel.row_bound**2


def _word(relative_error: float, best: float, small: float) -> str:
    """Return a word for an error. best: error of the trivial answer; errors up to ``small`` are always useful."""
    if relative_error <= max(_USEFUL * best, small):
        return "Useful"
    return "Rough" if relative_error < max(_WORTH * best, 2 * small) else "Useless"


def _off_diagonal(matrix: np.ndarray) -> float:
    return float(np.sqrt(np.mean(matrix[np.triu_indices(len(matrix), 1)] ** 2)))
