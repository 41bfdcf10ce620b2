"""Mathematics 2023 (paper 4): checks of its tables."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from privcov.core import accounting
from privcov.metrics.errors import matrix_norm
from replication.checks import NOT_COMPUTED, Check, cells, check, literal, middle, spread_question, wide
from replication.mdpi2023.tables import TABLES, TO_SCALE, printed_scales, source

SIX = tuple(f"4-table-{k}" for k in range(1, 7))
CELL = ("model", "d", "n", "epsilon", "delta", "method")
_TARGETS = {"Sigma": "other", "5/3 Sigma": "ours"}
LOCAL, CENTRAL = ("modified-ldp", "ldp"), ("modified-dp", "dp")


@cache
def trivial(model: str, law: str, d: str, norm: str) -> float:
    """Return the error of the zero matrix: the norm of the covariance."""
    return matrix_norm(source(model, law, d, "2").truth(0).covariance, norm)


@check("4-modified-better", "Does the modified method beat the original?", *SIX)
def modified_better(folder: Path) -> Check:
    """Count the cells in which the modified method has the smaller error: the paper's main claim."""
    table = cells(TABLES, *SIX, folder=folder)
    names = {"value": "printed", "ours": "as published by us", "sound": "sound"}
    numbers: dict[str, float] = {}
    for column, word in names.items():
        for original in ("dp", "ldp"):
            rows = table[table["method"].isin((original, f"modified-{original}"))].dropna(subset=[column])
            both = wide(rows, "method", column)
            if f"modified-{original}" in both and original in both:
                numbers[f"{original}, {word}"] = float((both[f"modified-{original}"] < both[original]).sum())
                numbers[f"{original}, {word}, of"] = float(len(both))
    if "dp, as published by us" not in numbers:
        return Check(None, NOT_COMPUTED, numbers)
    lines = [
        f"{word} in {numbers[f'dp, {word}']:.0f} of {numbers[f'dp, {word}, of']:.0f} cells for dp and in "
        f"{numbers[f'ldp, {word}']:.0f} of {numbers[f'ldp, {word}, of']:.0f} for ldp"
        for word in names.values()
        if f"ldp, {word}" in numbers
    ]
    fails = all(
        numbers[f"{name}, as published by us"] < 0.5 * numbers[f"{name}, as published by us, of"]
        for name in ("dp", "ldp")
    )
    verdict = f"The modified error is the smaller one: {'; '.join(lines)}."
    return Check(
        fails, verdict, numbers,
        "as described the modified method does not beat the original, which is the paper's main claim",
    )  # fmt: skip


@check("4-unit-ball", "Are the rows inside the unit ball that the noise is made for?", *SIX)
def unit_ball(folder: Path) -> Check:
    """Compute what the printed noise gives to rows whose squared norm is at most p, a typical one."""
    n, d, delta = 200, 100, 1 / 400
    added, _ = printed_scales("modified-dp", 0.5, delta, n)
    mu = math.sqrt(2) * d / n / added
    numbers = {"squared norm": d, "mu": mu, "epsilon at delta 1/400": accounting.epsilon_of_gaussian(delta, mu)}
    verdict = (
        f"At p = {d}, n = {n}, the noise printed for epsilon 0.5 gives rows of squared norm up to p epsilon = "
        f"{numbers['epsilon at delta 1/400']:,.0f} at delta 1/400. Rows are not bounded, so there is no guarantee."
    )
    return Check(mu > 10, verdict, numbers, "the rows lie far outside the unit ball, so what is printed is not private")


@check("4-worse-than-zero", "Are the local errors worse than the zero matrix?", *SIX)
def worse_than_zero(folder: Path) -> Check:
    """Compare the printed local errors with that of the zero matrix, which needs no data."""
    table = cells(TABLES, *SIX, folder=folder)
    table = table[table["method"].isin(LOCAL)].copy()
    table["zero"] = [trivial(r.model, r.law, r.d, r.metric) for r in table.itertuples()]
    numbers = {}
    for norm, group in table.groupby("metric"):
        numbers[f"{norm} cells"] = len(group)
        numbers[f"{norm} worse than zero"] = int((group["value"] > group["zero"]).sum())
    wide = table[(table["metric"] == "spectral") & (table["model"] == "1") & (table["d"] != "50")]
    wide = wide[wide["law"] == "normal"]
    numbers["Model 1, normal, p >= 100"] = len(wide)
    numbers["of these worse than zero"] = int((wide["value"] > wide["zero"]).sum())
    verdict = (
        f"{numbers['spectral worse than zero']} of {numbers['spectral cells']} printed local spectral errors are "
        f"larger than that of the zero matrix (Frobenius: {numbers['frobenius worse than zero']} of "
        f"{numbers['frobenius cells']}); for Model 1 with normal rows and p >= 100 "
        f"{numbers['of these worse than zero']} of {numbers['Model 1, normal, p >= 100']}."
    )
    holds = numbers["spectral worse than zero"] > numbers["spectral cells"] / 2
    return Check(holds, verdict, numbers, "most local errors are worse than those of the zero matrix")


@check("4-local-threshold", "Do the local errors come from the printed threshold?", *SIX)
def local_threshold(folder: Path) -> Check:
    """Check that the printed local threshold leaves nothing, and find the one that comes nearest to the print."""
    _, std = printed_scales("modified-ldp", 0.5, 1 / 400, 200)
    cut = 4 * std * math.sqrt(math.log(100))
    numbers = {"printed threshold at least": cut}
    rows = literal("4-local-cut", folder)
    if rows.empty:
        return Check(None, NOT_COMPUTED, numbers)
    printed = cells(TABLES, "4-table-1", folder=folder)
    at = printed[(printed["model"] == "1") & (printed["d"] == "100") & (printed["n"] == "200")]
    goal = {r.metric: r.value for r in at[at["method"] == "modified-ldp"].itertuples()}
    apart = {}
    for method, group in rows.groupby("method", sort=False):
        errors = {r.metric: r.value for r in group.itertuples()}
        apart[method] = max(abs(math.log(errors[norm] / goal[norm])) for norm in goal)
    best = min(apart, key=apart.__getitem__)
    numbers["worst ratio at the nearest threshold"] = math.exp(apart[best])
    numbers["that threshold in deviations"] = float(best.split()[2])
    verdict = (
        f"At p = 100, n = 200, epsilon 0.5 the printed threshold is at least {cut:.0f} while no entry of Sigma exceeds "
        f"1: the answer is the zero matrix. Of all thresholds tried the nearest to the printed pair "
        f"({goal['spectral']:g}, {goal['frobenius']:g}) is a {best}, off by a factor {math.exp(apart[best]):.2f}."
    )
    return Check(
        cut > 10, verdict, numbers,
        "the printed local threshold removes everything, so the local errors come from another one",
    )  # fmt: skip


@check(
    "4-heavy-tails",
    "Are t_5 errors taken against the scale matrix, not the covariance?",
    "4-table-2",
    "4-table-4",
    "4-table-6",
)
def heavy_tails(folder: Path) -> Check:
    """Compare the printed t_5 errors of the central estimators with ours against Sigma and against 5/3 Sigma.

    A threshold keeps an entry of 5/3 Sigma or drops it, and keeping it is nearer to Sigma: without sampling error and
    noise the Frobenius error against Sigma is at least 2/3 of the norm of Sigma.
    """
    tables = ("4-table-2", "4-table-4", "4-table-6")
    rows = cells(TABLES, *tables, folder=folder)
    rows = rows[rows["method"].isin(CENTRAL)].copy()
    rows["floor"] = [0.4 * trivial(r.model, "t5", r.d, r.metric) for r in rows.itertuples()]  # 2/3 of 3/5
    frobenius = rows[rows["metric"] == "frobenius"]
    below = frobenius["value"] + 2 * frobenius["se"] < frobenius["floor"]
    numbers: dict[str, float] = {"cells": len(frobenius), "below the floor of errors against Sigma": int(below.sum())}
    other: dict[tuple, float] = {}
    for table in tables:
        computed = literal(table, folder)
        computed = computed[computed["metric"].str.endswith(TO_SCALE)]
        other |= {(table, *(getattr(r, k) for k in CELL), r.metric.split()[0]): r.value for r in computed.itertuples()}
    rows["other"] = [other.get((r.table, *(getattr(r, k) for k in CELL), r.metric), np.nan) for r in rows.itertuples()]
    rows = rows.dropna(subset=["other", "ours"])
    comparison = ""
    if len(rows):
        off = {name: middle(np.abs(np.log(rows["value"] / rows[key]))) for name, key in _TARGETS.items()}
        numbers |= {f"typical factor off, {name}": math.exp(value) for name, value in off.items()}
        comparison = (
            f" Printed and ours differ by a factor {math.exp(off['Sigma']):.2f} against Sigma and by "
            f"{math.exp(off['5/3 Sigma']):.2f} against 5/3 Sigma (medians)."
        )
    holds = not below.any() and bool(len(rows)) and off["Sigma"] < off["5/3 Sigma"]
    verdict = (
        f"Against Sigma a thresholded estimate of 5/3 Sigma errs by at least 2/3 of the Frobenius norm of Sigma; "
        f"{int(below.sum())} of {len(frobenius)} printed central Frobenius errors are clearly below that.{comparison} "
        + ("So against Sigma." if holds else "So not against Sigma throughout.")
    )
    return Check(bool(holds), verdict, numbers, "t_5 errors are taken against the scale matrix")


@check("4-out-of-order", "Is one spectral error out of order?", "4-table-6")
def out_of_order(folder: Path) -> Check:
    """Compare the modified spectral error of Table 6 at delta = 1/200 with a line through the others."""
    table = cells(TABLES, "4-table-6", folder=folder)
    table = table[(table["method"] == "modified-dp") & (table["metric"] == "spectral")]
    delta = np.array([float(Fraction(text)) for text in table["delta"]])
    x, y = np.sqrt(np.log(1.25 / delta)), table["value"].to_numpy()
    odd = int(np.argmin(np.abs(delta - 1 / 200)))
    others = np.arange(len(x)) != odd
    expected = float(np.polyval(np.polyfit(x[others], y[others], 1), x[odd]))
    se = float(table["se"].iloc[odd])
    numbers = {"printed": float(y[odd]), "expected": expected, "standard errors apart": (float(y[odd]) - expected) / se}
    holds = abs(numbers["standard errors apart"]) > 5 and abs(expected - 4.73) < 0.2
    verdict = (
        f"At delta 1/200 {y[odd]:g} is printed between {y[others][1]:g} and {y[others][2]:g}; a line through the other "
        f"three gives {expected:.2f}, {abs(numbers['standard errors apart']):.0f} printed standard errors "
        f"away{'; it is probably 4.73' if holds else ''}."
    )
    return Check(holds, verdict, numbers, "one printed value is a misprint")


@check("4-which-model", "Which model is it: caption and header differ?", "4-table-3", "4-table-4")
def which_model(folder: Path) -> Check:
    """Check whether Tables 3 and 4 show Model 2, as they say above, or Model 1, as inside, by Tables 1 and 2."""
    pairs = (("4-table-3", "4-table-1"), ("4-table-4", "4-table-2"))
    fits = {"1": 0, "2": 0}
    total = 0
    for sweep, sizes in pairs:
        by_epsilon = (
            cells(TABLES, sweep, folder=folder).set_index(["method", "metric", "epsilon"])["value"].sort_index()
        )
        at = cells(TABLES, sizes, folder=folder)
        at = at[(at["d"] == "100") & (at["n"] == "200")]
        for row in at.itertuples():
            low, high = by_epsilon[row.method, row.metric, "0.6"], by_epsilon[row.method, row.metric, "0.4"]
            fits[row.model] += low <= row.value <= high
            total += row.model == "1"
    numbers = {"columns": total, "Model 1 fits": fits["1"], "Model 2 fits": fits["2"]}
    verdict = (
        f"At epsilon 0.5 the printed error of Model 2 lies between those at 0.4 and 0.6 in {fits['2']} of {total} "
        f"columns, that of Model 1 in {fits['1']}. It is Model {max(fits, key=fits.__getitem__)}."
    )
    return Check(fits["2"] > fits["1"], verdict, numbers, "header and caption name different models")


@check("4-guessing", "Do the printed classifications need the data?", "4-table-7")
def guessing(folder: Path) -> Check:
    """Compare with always answering "lean", which is wrong 7 times of 20, and with the rule without any noise."""
    table = cells(TABLES, "4-table-7", folder=folder)
    local = table[table["method"].isin(LOCAL)]
    numbers = {"always lean": 7.0, "printed local, mean": float(local["value"].mean())}
    rows = literal("4-table-7", folder)
    clean = rows[rows["metric"].str.endswith("no noise")]
    if clean.empty:
        return Check(None, NOT_COMPUTED, numbers)
    numbers |= {f"without noise, p = {r.d}": r.value for r in clean.itertuples()}
    best = table[table["method"] == "modified-dp"]
    numbers |= {f"printed modified-dp, p = {r.d}": r.value for r in best.itertuples()}
    reached = {r.d: r.value for r in clean.itertuples()}
    beaten = [r.d for r in best.itertuples() if r.value < reached[r.d]]
    clean_errors = ", ".join(f"{value:.2f} at p = {p}" for p, value in reached.items())
    verdict = (
        f"Always answering lean is wrong 7 times of 20; the printed local estimators are wrong "
        f"{numbers['printed local, mean']:.1f} times on average. Without any noise or threshold the rule is wrong "
        f"{clean_errors} times with our scaling of the counts; the best printed private number is lower at "
        f"{len(beaten)} of {len(reached)} p."
    )
    return Check(
        len(beaten) > 0, verdict, numbers,
        "the best printed number is lower than ours without any noise; the scaling of the counts is not printed",
    )  # fmt: skip


CHECKS = (
    modified_better, unit_ball, worse_than_zero, local_threshold, heavy_tails, out_of_order, which_model, guessing,
    spread_question("4-spread", TABLES, SIX),
)  # fmt: skip
