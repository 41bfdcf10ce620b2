"""Show a release outside the app: as text and as a labelled table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privcov.core import checks
from privcov.postprocess.matrices import correlation

if TYPE_CHECKING:
    import pandas as pd

    from privcov.releases.release import Release

_WHICH = ("covariance", "second_moment", "precision", "correlation")
_NAMES = 4  # of columns in a repr
_LETTERS = 20  # of a name there


def headline(rel: Release) -> str:
    """Return what a release is, in one line: matrix, columns, rows and method."""
    d = len(rel.columns)
    short = [name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…" for name in rel.columns[:_NAMES]]
    names = ", ".join([*short, *(["…"] if d > _NAMES else [])])
    unit = rel.neighbours.count_unit
    rows = f"about {rel.count:,.0f} {unit}" if rel.n is None else f"{rel.n:,} {unit}"
    text = f"{rel.method}: {rel.target} of {d} column{'s' if d > 1 else ''} ({names}), {rows}"
    return " ".join(text.split())


def brief(rel: Release) -> str:
    """Return a release in four lines: what it is, its guarantee, its neighbours, and where the rest is."""
    has = [*rel.matrices, *(name for name in ("mean", "class_means", "path") if getattr(rel, name) is not None)]
    measured = rel.noisy_moment is not None and rel.target == "covariance"
    report = "; privcov.answers(release) has what to report" if measured else ""
    return (
        f"Release of {headline(rel)}\n"
        f"  Guarantee: {rel.statement['Guarantee']}\n"
        f"  Neighbours: {rel.neighbours.key}, R = {rel.row_bound:.6g}\n"
        f"  It has {', '.join(has)}{report}; print(release.statement) says what was measured."
    )


def matrix_of(rel: Release, which: str = "") -> np.ndarray:
    """Return one matrix of a release, in the data's units."""
    if not which:
        return rel.matrix
    checks.one_of("which", which, _WHICH)
    try:
        matrix = getattr(rel, "covariance" if which == "correlation" else which)
    except AttributeError as none:
        raise ValueError(str(none)) from None
    if which != "correlation":
        return matrix
    noise = 0.0 if rel.noisy_moment is None else rel.noisy_moment.distribution.diagonal_std * rel.row_bound**2
    return correlation(matrix / np.outer(rel.scale, rel.scale), floor=max(noise, 1e-300))


def frame(rel: Release, which: str = "") -> pd.DataFrame:
    """Return one matrix of a release with the names of the columns."""
    import pandas as pd

    names = list(rel.columns)
    return pd.DataFrame(matrix_of(rel, which), index=names, columns=names)
