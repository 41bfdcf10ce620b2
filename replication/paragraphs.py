"""One paragraph of plain English per paper: what holds, what does not, what to use instead."""

from __future__ import annotations

from collections.abc import Sequence

from replication.claims import CORRECTED, FAILS, GOOD, NOT_THEIRS, NOTHING, OPEN, Row

FEW = 4  # claims that are named; the others are counted
INSTEAD = {
    1: "dp-thresholding in its sound form, on rows clipped to a public bound; auto-cov where the covariance is not "
    "sparse.",
    2: "ridge-precision or glasso-gaussian in their sound form, with a public row bound and a penalty chosen from the "
    "noisy matrix; auto-precision decides by itself.",
    3: "glasso-gaussian in its sound form; under pure DP auto-precision, which replaces the Wishart noise by a "
    "difference of two.",
    4: "dp-thresholding or modified-dp-thresholding in their sound form. The local forms need far more rows; use them "
    "only where nobody may hold the table.",
    5: "separate-cov or adaptive-cov in their sound form; auto-cov chooses between them and the Gaussian mechanism.",
}
_UNDECIDED = (NOT_THEIRS, OPEN, NOTHING)
# What a reader asks first comes first.
_ORDER = ("finding", "bound", "guarantee", "sentence", "algorithm", "table")


def paragraph(paper: int, table: Sequence[Row]) -> str:
    """Return the paragraph of one paper from the table of claims."""
    mine = sorted((one for one in table if one.claim.paper == paper), key=lambda one: _ORDER.index(one.claim.kind))
    decided = [one for one in mine if one.verdict not in _UNDECIDED]
    good = [one for one in decided if one.verdict in GOOD]
    bad = [one for one in decided if one.verdict == FAILS]
    partly = [one for one in decided if one not in good and one not in bad]
    mended = [one for one in good if one.verdict == CORRECTED]
    plain = [one for one in good if one not in mended]
    sentences = [
        f"{len(good)} of {len(decided)} decided claims hold{f', {len(mended)} after a correction' if mended else ''}."
    ]
    groups = {"What holds": plain, "After a correction": mended, "In part": partly, "What does not": bad}
    sentences += [f"{name}: {_named(group)}." for name, group in groups.items() if group]
    if undecided := len(mine) - len(decided):
        sentences.append(f"Not decided: {undecided}.")
    return " ".join([*sentences, f"Use instead: {INSTEAD[paper]}"])


def _named(group: Sequence[Row]) -> str:
    """Return the first claims by name, and how many more there are."""
    names = "; ".join(one.claim.short + (f", {one.where}" if one.where else "") for one in group[:FEW])
    return names + (f"; and {len(group) - FEW} more" if len(group) > FEW else "")
