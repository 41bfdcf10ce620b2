"""Checks of paper 4's tables."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np

from privcov import accounting
from privcov.experiments.published_4 import printed_scales, source
from privcov.experiments.published_checks import Check, cells, check, literal, middle
from privcov.metrics.errors import matrix_norm

SIX = tuple(f"4-table-{k}" for k in range(1, 7))
LOCAL, CENTRAL = ("modified-ldp", "ldp"), ("modified-dp", "dp")


def trivial(model: str, law: str, d: str, norm: str, what: str = "zero") -> float:
    """Error of the zero matrix, or of the true diagonal, against the scale matrix Sigma."""
    made = source(model, law, d, "2")
    scale = made.truth(0).covariance / made.spread
    return matrix_norm(scale - np.diag(np.diag(scale)) * (what == "diagonal"), norm)


@check("4-unit-ball", *SIX)
def unit_ball(folder: Path) -> Check:
    """What the printed noise gives to rows whose squared norm is at most p, a typical one: epsilon at the same delta."""
    n, d, delta = 200, 100, 1 / 400
    added, _ = printed_scales("modified-dp", 0.5, delta, n)
    mu = math.sqrt(2) * d / n / added
    numbers = {"squared norm": d, "mu": mu, "epsilon at delta 1/400": accounting.epsilon_of_gaussian(delta, mu)}
    verdict = (
        f"At p = {d}, n = {n}, the noise printed for epsilon 0.5 gives rows of squared norm up to p epsilon = "
        f"{numbers['epsilon at delta 1/400']:,.0f} at delta 1/400. Rows are not bounded, so it gives no guarantee at all."
    )
    return Check(
        "4-unit-ball", SIX, "Are the rows inside the unit ball that the noise is made for?", mu > 10, verdict, numbers,
        "the rows lie far outside the unit ball, so what is printed is not private",
    )  # fmt: skip


@check("4-worse-than-zero", *SIX)
def worse_than_zero(folder: Path) -> Check:
    """Printed local errors beside that of the zero matrix, which needs no data."""
    found = cells(*SIX, folder=folder)
    found = found[found["method"].isin(LOCAL)].copy()
    found["zero"] = [trivial(r.model, r.law, r.d, r.metric) for r in found.itertuples()]
    counts = {norm: group for norm, group in found.groupby("metric")}
    numbers = {}
    for norm, group in counts.items():
        numbers[f"{norm} cells"] = len(group)
        numbers[f"{norm} worse than zero"] = int((group["value"] > group["zero"]).sum())
    wide = found[(found["metric"] == "spectral") & (found["model"] == "1") & (found["d"] != "50")]
    wide = wide[wide["law"] == "normal"]
    numbers["Model 1, normal, p >= 100"] = len(wide)
    numbers["of these worse than zero"] = int((wide["value"] > wide["zero"]).sum())
    verdict = (
        f"{numbers['spectral worse than zero']} of {numbers['spectral cells']} printed local spectral errors are larger "
        f"than that of the zero matrix (Frobenius: {numbers['frobenius worse than zero']} of "
        f"{numbers['frobenius cells']}); for Model 1 with normal rows and p >= 100 "
        f"{numbers['of these worse than zero']} of {numbers['Model 1, normal, p >= 100']}."
    )
    holds = numbers["spectral worse than zero"] > numbers["spectral cells"] / 2
    return Check(
        "4-worse-than-zero", SIX, "Are the local errors worse than the zero matrix?", holds, verdict, numbers,
        "most local errors are worse than those of the zero matrix",
    )  # fmt: skip


@check("4-local-threshold", *SIX)
def local_threshold(folder: Path) -> Check:
    """The printed local threshold leaves nothing; does any single threshold give a printed pair of errors?"""
    question = "Do the local errors come from the printed threshold?"
    _, told = printed_scales("modified-ldp", 0.5, 1 / 400, 200)
    cut = 4 * told * math.sqrt(math.log(100))
    numbers = {"printed threshold at least": cut}
    rows = literal("4-local-cut", folder)
    if rows.empty:
        return Check("4-local-threshold", SIX, question, None, "Not computed yet.", numbers)
    printed = cells("4-table-1", folder=folder)
    at = printed[(printed["model"] == "1") & (printed["d"] == "100") & (printed["n"] == "200")]
    goal = {r.metric: r.value for r in at[at["method"] == "modified-ldp"].itertuples()}
    apart = {}
    for method, group in rows.groupby("method", sort=False):
        found = {r.metric: r.value for r in group.itertuples()}
        apart[method] = max(abs(math.log(found[norm] / goal[norm])) for norm in goal)
    best = min(apart, key=apart.get)
    numbers["worst ratio at the nearest threshold"] = math.exp(apart[best])
    numbers["that threshold in deviations"] = float(best.split()[2])
    verdict = (
        f"At p = 100, n = 200, epsilon 0.5 the printed threshold is at least {cut:.0f} while every entry of Sigma is at "
        f"most 1: the answer is the zero matrix. Of all thresholds tried the nearest to the printed pair "
        f"({goal['spectral']:g}, {goal['frobenius']:g}) is a {best}, off by a factor {math.exp(apart[best]):.2f}."
    )
    return Check(
        "4-local-threshold", SIX, question, cut > 10, verdict, numbers,
        "the printed local threshold removes everything, so the local errors come from another one",
    )  # fmt: skip


@check("4-heavy-tails", "4-table-2", "4-table-4", "4-table-6")
def heavy_tails(folder: Path) -> Check:
    """Printed t_5 errors beside ours against Sigma and against 5/3 Sigma; and the floor of the first."""
    question = "Are t_5 errors taken against the scale matrix, not the covariance?"
    tables = ("4-table-2", "4-table-4", "4-table-6")
    rows = cells(*tables, folder=folder)
    rows = rows[rows["method"] == "modified-dp"].copy()
    other = {}
    for table in tables:
        found = literal(table, folder)
        found = found[found["metric"].str.endswith(" to covariance")]
        other |= {
            (table, *(getattr(r, k) for k in ("model", "d", "n", "epsilon", "delta", "method")), r.metric.split()[0]):
            r.value for r in found.itertuples()
        }  # fmt: skip
    rows["other"] = [
        other.get((r.table, r.model, r.d, r.n, r.epsilon, r.delta, r.method, r.metric), np.nan)
        for r in rows.itertuples()
    ]
    floor = {norm: 2 / 3 * trivial("1", "t5", "100", norm) for norm in ("spectral", "frobenius")}
    rows = rows.dropna(subset=["other", "ours"])
    numbers = {f"floor, {norm}": value for norm, value in floor.items()}
    if rows.empty:
        return Check("4-heavy-tails", tables, question, None, "Not computed yet.", numbers)
    numbers["printed over ours, against Sigma"] = middle(rows["value"] / rows["ours"])
    numbers["printed over ours, against 5/3 Sigma"] = middle(rows["value"] / rows["other"])
    numbers["spread, against Sigma"] = float(np.log(rows["value"] / rows["ours"]).std())
    numbers["spread, against 5/3 Sigma"] = float(np.log(rows["value"] / rows["other"]).std())
    first, second = (abs(math.log(numbers[f"printed over ours, against {w}"])) for w in ("Sigma", "5/3 Sigma"))
    verdict = (
        f"The covariance of t_5 rows is 5/3 Sigma, so against Sigma even a perfect estimate errs by "
        f"{floor['spectral']:.2f} (spectral) and {floor['frobenius']:.1f} (Frobenius) at p = 100, Model 1. The printed "
        f"central errors are {numbers['printed over ours, against Sigma']:.2f} times ours against Sigma and "
        f"{numbers['printed over ours, against 5/3 Sigma']:.2f} times ours against 5/3 Sigma (medians)."
    )
    return Check(
        "4-heavy-tails", tables, question, bool(first < second), verdict, numbers,
        "t_5 errors are taken against the scale matrix",
    )  # fmt: skip


@check("4-out-of-order", "4-table-6")
def out_of_order(folder: Path) -> Check:
    """Table 6, spectral, modified: the value at delta = 1/200 against a line through the others in log(1.25/delta)."""
    found = cells("4-table-6", folder=folder)
    found = found[(found["method"] == "modified-dp") & (found["metric"] == "spectral")]
    delta = np.array([float(Fraction(text)) for text in found["delta"]])
    x, y = np.sqrt(np.log(1.25 / delta)), found["value"].to_numpy()
    odd = int(np.argmin(np.abs(delta - 1 / 200)))
    others = np.arange(len(x)) != odd
    expected = float(np.polyval(np.polyfit(x[others], y[others], 1), x[odd]))
    se = float(found["se"].iloc[odd])
    numbers = {"printed": float(y[odd]), "expected": expected, "standard errors apart": (float(y[odd]) - expected) / se}
    holds = abs(numbers["standard errors apart"]) > 5 and abs(expected - 4.73) < 0.2
    verdict = (
        f"At delta 1/200 {y[odd]:g} is printed between {y[others][1]:g} and {y[others][2]:g}; a line through the other "
        f"three gives {expected:.2f}, {abs(numbers['standard errors apart']):.0f} printed standard errors away. "
        "Probably 4.73."
    )
    return Check(
        "4-out-of-order", ("4-table-6",), "Is one spectral error out of order?", holds, verdict, numbers,
        "one printed value is a misprint",
    )  # fmt: skip


@check("4-which-model", "4-table-3", "4-table-4")
def which_model(folder: Path) -> Check:
    """Tables 3 and 4 say Model 2 above and Model 1 inside; epsilon 0.5 of Tables 1 and 2 must lie between 0.4 and 0.6."""
    pairs = (("4-table-3", "4-table-1"), ("4-table-4", "4-table-2"))
    fits = {"1": 0, "2": 0}
    total = 0
    for sweep, sizes in pairs:
        by_epsilon = cells(sweep, folder=folder).set_index(["method", "metric", "epsilon"])["value"]
        at = cells(sizes, folder=folder)
        at = at[(at["d"] == "100") & (at["n"] == "200")]
        for row in at.itertuples():
            low, high = by_epsilon[row.method, row.metric, "0.6"], by_epsilon[row.method, row.metric, "0.4"]
            fits[row.model] += low <= row.value <= high
            total += row.model == "1"
    numbers = {"columns": total, "Model 1 fits": fits["1"], "Model 2 fits": fits["2"]}
    verdict = (
        f"At epsilon 0.5 the printed error of Model 2 lies between those at 0.4 and 0.6 in {fits['2']} of {total} "
        f"columns, that of Model 1 in {fits['1']}. The caption is right: Model 2."
    )
    return Check(
        "4-which-model", ("4-table-3", "4-table-4"), "Which model is it: caption and header differ?",
        fits["2"] > fits["1"], verdict, numbers, "header and caption name different models",
    )  # fmt: skip
