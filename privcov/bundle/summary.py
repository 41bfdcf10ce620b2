"""What stands first in a report: the answer in a sentence, a recommendation, a figure, the risk and the assumptions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from privcov.attacks import disclosure
from privcov.bundle.usefulness import verdict
from privcov.core import accounting
from privcov.core.guarantees import GaussianDP, Guarantee, NoPrivacy
from privcov.core.words import chance, percent, plain, to_powers
from privcov.estimators.base import METHODS
from privcov.metrics.errors import error, reference_matrix, to_working_units
from privcov.plots.look import Picture
from privcov.plots.matrices import colour_limit, heatmap
from privcov.plots.palette import LIGHT
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

FEW = 4  # most columns with listed bounds
FALSE = "Do not release it: the guarantee as published does not hold. The statement says what holds instead."
HOPELESS = (
    "Do not use it: it is no better than answering zero. More rows, fewer columns, a smaller row bound or a weaker "
    "guarantee lower the error."
)
WHERE = {"simulated": "simulated, so no person is behind them", "public": "a table that was declared public"}


@dataclass(frozen=True)
class ReportSummary:
    """The first side of a report: the result, what to do, an attacker's odds, assumptions by name, the caption."""

    answer: str
    recommendation: str
    risk: str
    assumptions: Sequence[tuple[str, str]] = ()
    picture: Picture | None = None
    caption: str = ""


def odds(claims: Iterable[Guarantee | GaussianDP | NoPrivacy]) -> str:
    """Return what the guarantees of a report leave an attacker, for the strongest and the weakest of them."""
    private = {claim for claim in claims if not isinstance(claim, NoPrivacy)}
    if not private:
        return disclosure.suspicion(NoPrivacy())
    ordered = sorted(private, key=lambda claim: (accounting.attacker_success(claim), str(claim)))
    ends = ordered[:1] if len(ordered) == 1 else [ordered[0], ordered[-1]]
    return " ".join(f"Under {to_powers(str(claim))}: {disclosure.suspicion(claim)}" for claim in ends)


def risk_of(rel: Release) -> str:
    """Return what a release leaves an attacker who knows every other row, and the method."""
    secret = rel.neighbours.secret
    return (
        f"{disclosure.suspicion(rel.trade_off, neighbours=rel.neighbours.key)} "
        f"{secret[0].upper()}{secret[1:]}, somebody who knows all the rest guesses right "
        f"{chance(rel.attacker_success)} of the time at best; a coin toss, 50 %."
    )


def assumptions_of(data: Dataset, guarantee: object, seed: str = "") -> list[tuple[str, str]]:
    """Return what the numbers of a report rest on."""
    assumptions = [
        ("Rows and columns", f"n = {data.n:,}, d = {data.d}"),
        ("Bounds", bounds_of(data.columns, data.bounds)),
        ("Row bound", f"R = {plain(data.row_bound)}; a longer row is shortened to it"),
        ("Mean", "publicly zero" if data.mean_is_zero else "not known; measured as well"),
        ("Guarantee", to_powers(str(guarantee))),
        ("Rows", f"{data.name}: {WHERE.get(data.provenance, data.provenance)}"),
    ]
    return [*assumptions, ("Seed", seed)] if seed else assumptions


def bounds_of(columns: Sequence[str], bounds: np.ndarray | None) -> str:
    """Return the public bounds of the columns in words."""
    if bounds is None:
        return "none of single columns; the row bound alone limits a row"
    ranges = [f"{name} {low:g} to {high:g}" for name, (low, high) in zip(columns, bounds.tolist(), strict=True)]
    more = f" and {len(ranges) - FEW} more" if len(ranges) > FEW else ""
    return "; ".join(ranges[:FEW]) + more


def summarize_release(rel: Release, data: Dataset, seed: str = "", *, correlations: bool = False) -> ReportSummary:
    """Return the first side of the report of one release; with ``correlations`` their error says of what use it is."""
    against = "sample" if data.truth is None else "truth"
    relative_error = error(rel, data, relative=True, against=against)
    limit = colour_limit(reference_matrix(data, rel.target, against))
    matrix = to_working_units(rel.matrix, rel.scale, rel.target)
    return ReportSummary(
        f"The released {rel.target} is {percent(relative_error)} off the {against}.",
        _advised(rel, data, relative_error, correlations),
        risk_of(rel),
        [
            ("Method", METHODS.get(rel.method).label),
            *assumptions_of(data, rel.actual_guarantee or "nothing measured", seed),
        ],
        heatmap(matrix, data.columns, limit, LIGHT, what=f"released {rel.target}"),
        f"Released {rel.target}: orange is {plain(-limit)} or less, teal {plain(limit)} or more; first column on top "
        "and left. The error is the Frobenius norm of the difference, divided by the norm of the "
        f"{against}.",
    )


def _advised(rel: Release, data: Dataset, relative_error: float, correlations: bool) -> str:
    if rel.claim_is_false:
        return FALSE
    if rel.target != "precision":
        return " ".join(verdict(relative_error, data, rel, correlations=correlations)).strip()
    return HOPELESS if relative_error >= 1 else f"Use it where an error of {percent(relative_error)} is small enough."
