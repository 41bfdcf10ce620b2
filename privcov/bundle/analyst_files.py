"""The folder extras of a bundle, for analysts: tables with intervals, and readers without privcov.

Every file follows from the measurement, bit for bit on every machine, so the check derives it again: no function here
uses more than quotients, roots and sums in a fixed order. What needs more, such as a regression, is
`privcov.answers(privcov.open_bundle(path))`.

**Rows for programs without privacy noise.** They take the variance of a correlation r of n rows for (1 - r^2)^2 / n.
With the variance of the privacy noise on it as well, v, n_eff is the number of rows at which both sums over all pairs
agree:

    sum (1 - r^2)^2 / n_eff = sum [(1 - r^2)^2 / n + v].

With one column it is that of the variance c: 2 c^2 / n_eff = 2 c^2 / n + N, N the variance of the noise on c.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from privcov.bundle.codebook import HEADINGS, codebook
from privcov.bundle.safe import cells, table
from privcov.inference import entries
from privcov.inference.contrasts import classes_of
from privcov.inference.unbiased import REASONS, Intervals, UnbiasedMoments
from privcov.measurements.exact.private_moment import NoisySum
from privcov.measurements.exact.reading import count_std, read_sum
from privcov.postprocess.matrices import Matrices

TEMPLATES = Path(__file__).with_name("templates")  # of the files that are alike in every bundle
LEVEL = 0.95
_ENDS = ("estimate", "low", "high")


def extra_files(
    total: NoisySum, matrices: Matrices, moments: UnbiasedMoments, correlations: Intervals
) -> dict[str, bytes]:
    """Return the files of the folder extras that follow from a measurement."""
    facts = total.facts
    units, one = moments.scale[:, None] * moments.scale[None, :], moments.scale * moments.scale
    names, pairs = cells(moments.columns), np.triu_indices(moments.d, 1)
    alone = [[name] for name in names]
    both = [[names[i], names[j]] for i, j in zip(*pairs, strict=True)]
    means = _rescale(entries.means(moments, LEVEL), moments.scale, moments.origin)
    variances = _rescale(entries.variances(moments, LEVEL, 0.0), one)
    covariances = _rescale(_above(entries.covariances(moments, LEVEL, 0.0), pairs), units[pairs])
    files = {
        "extras/rows.csv": _lines(("what", "value", "noise_std"), _rows(total, moments, matrices)),
        "extras/means.csv": _interval_lines(("column",), alone, means),
        "extras/variances.csv": _interval_lines(("column",), alone, variances),
        "extras/covariances.csv": _interval_lines(("first", "second"), both, covariances),
        "extras/correlations.csv": _interval_lines(("first", "second"), both, _above(correlations, pairs)),
        "extras/codebook.csv": _lines(HEADINGS, codebook(facts)),
        "extras/about.csv": _lines(("about",), [[f"Every number is about {moments.population}."]]),
        "extras/read.py": (TEMPLATES / "read.py.txt").read_bytes(),
        "extras/read.R": (TEMPLATES / "read.R").read_bytes(),
    }
    if facts.classes and total.n_anchors > 1:
        files |= _of_classes(total, moments)
    if matrices.shares is not None and matrices.shares_std is not None:
        missing, std = 1.0 - np.diag(matrices.shares), np.diag(matrices.shares_std)
        lines = ([name, *map(_number, pair)] for name, *pair in zip(names, missing, std, strict=True))
        files["extras/missing.csv"] = _lines(("column", "share", "noise_std"), lines)
    return files


def n_eff(moments: UnbiasedMoments, matrices: Matrices) -> float:
    """Return the number of rows whose sampling alone makes correlations as uncertain as here, as derived above."""
    variances = np.diag(matrices.regular)
    if moments.d == 1:
        noise = matrices.noise_std[0, 0] / variances[0]
        return float(1 / (1 / moments.n_rows + noise * noise / 2))
    r, spread = matrices.correlation, np.sqrt(variances) / moments.scale
    noise, sampling = (v[np.triu_indices(moments.d, 1)] for v in entries.correlation_variances(moments, r, spread))
    own = (1 - r * r)[np.triu_indices(moments.d, 1)]
    there = ~np.isnan(noise)
    total = math.fsum((noise + sampling)[there].tolist())
    return math.fsum((own * own)[there].tolist()) / total if there.any() else math.nan


def _rows(total: NoisySum, moments: UnbiasedMoments, matrices: Matrices) -> Iterable[Sequence[object]]:
    noisy_moment = moments.noisy_moment
    std = 0.0 if noisy_moment.count is None else count_std(total)
    share = moments.n_rows / noisy_moment.n_rows
    yield "rows", _number(noisy_moment.n_rows), _number(std)
    yield "independent", _number(moments.n_rows), _number(std * share)
    yield "n_eff", _number(n_eff(moments, matrices)), _number(0.0)


def _of_classes(total: NoisySum, moments: UnbiasedMoments) -> dict[str, bytes]:
    """Return counts and means of the classes; a class with too few rows for its noise has no mean."""
    whole, names = read_sum(total, "classes"), cells(total.facts.classes)
    classes = classes_of(whole, moments.d)
    std = math.sqrt(classes.of_count + max(classes.shared, 0.0)) * whole.n_rows
    counts = (
        [name, _number(share * whole.n_rows), _number(std)] for name, share in zip(names, classes.shares, strict=True)
    )
    files = {"extras/class_counts.csv": _lines(("class", "rows", "noise_std"), counts)}
    if whole.flags is None:
        means = np.where(classes.small[:, None], np.nan, moments.origin + moments.scale * classes.means.T)
        files["extras/class_means.csv"] = table(means, moments.columns, total.facts.classes, corner="class").encode()
    return files


def _rescale(intervals: Intervals, unit: np.ndarray, origin: np.ndarray | float = 0.0) -> Intervals:
    estimate, low, high = (origin + unit * getattr(intervals, end) for end in _ENDS)
    return Intervals(estimate, low, high, intervals.reason_code)


def _above(intervals: Intervals, pairs: tuple[np.ndarray, ...]) -> Intervals:
    return Intervals(
        intervals.estimate[pairs], intervals.low[pairs], intervals.high[pairs], intervals.reason_code[pairs]
    )


def _interval_lines(heads: tuple[str, ...], names: Iterable[list[str]], intervals: Intervals) -> bytes:
    """Return CSV of intervals; one that is not identified has no ends, and a reason."""
    ends = np.where(intervals.identified, [intervals.low, intervals.high], np.nan)
    numbers = zip(intervals.estimate, *ends, intervals.reason_code, strict=True)
    lines = ([*name, *map(_number, at), REASONS[why]] for name, (*at, why) in zip(names, numbers, strict=True))
    return _lines((*heads, "estimate", "ci_low", "ci_high", "reason"), lines)


def _lines(head: Sequence[str], lines: Iterable[Sequence[object]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return out.getvalue().encode()


def _number(value: float) -> str:
    return repr(float(value))
