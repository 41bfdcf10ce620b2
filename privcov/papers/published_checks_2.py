"""Checks of paper 2's tables."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from privcov.papers.published import again
from privcov.papers.published_2 import OVER_FROBENIUS
from privcov.papers.published_checks import Check, cells, check, literal, middle, slope, wide

BOTH = ("2-table-1", "2-table-2")
NEAR = 0.07  # relative distance at which a ratio counts as the suspected one


@check("2-spectral-column", *BOTH)
def spectral_column(folder: Path) -> Check:
    """Frobenius over spectral column, at epsilon 0.3 and more against 0.1: one where both have the same denominator."""
    found = cells(*BOTH, folder=folder)
    printed = wide(found[found["metric"].isin(("frobenius", "spectral"))], "metric")
    ratio = (printed["frobenius"] / printed["spectral"]).unstack("epsilon")
    jumps = {t: middle((ratio["0.3"] / ratio["0.1"]).xs(t, level="table")) for t in BOTH}
    ours = wide(found[found["metric"].isin(("frobenius", "spectral"))].dropna(subset=["ours"]), "metric", "ours")
    numbers = {f"jump in {t}": jump for t, jump in jumps.items()}
    own = (ours["frobenius"] / ours["spectral"]).unstack("epsilon") if len(ours) else None
    if own is not None and {"0.1", "0.3"} <= set(own):
        numbers["jump in ours"] = middle(own["0.3"] / own["0.1"])
    numbers |= _denominators(found, folder)
    holds = min(jumps.values()) > 2
    told = ""
    if "over Frobenius" in numbers:
        told = (
            f" At epsilon 0.3 and more our spectral error over the Frobenius norm is {numbers['over Frobenius']:.2f} "
            f"of the printed number, over the spectral norm {numbers['over spectral']:.2f} of it (medians)."
        )
    verdict = (
        f"The Frobenius column is {jumps[BOTH[0]]:.1f} (Table 1) and {jumps[BOTH[1]]:.1f} times (Table 2) larger "
        f"against the spectral one from epsilon 0.3 on than at 0.1; with one denominator it would stay.{told}"
    )
    return Check(
        "2-spectral-column", BOTH, "Does the spectral column change its denominator?", holds, verdict, numbers,
        "the spectral column is divided by the Frobenius norm from epsilon 0.3 on",
    )  # fmt: skip


def _denominators(found, folder: Path) -> dict[str, float]:
    """Our spectral errors over either norm, as a share of the printed ones from epsilon 0.3 on."""
    late = found[(found["metric"] == "spectral") & (found["epsilon"] != "0.1")].copy()
    late["other"] = _over_frobenius(late, folder)
    late = late.dropna(subset=["other"])
    if late.empty:
        return {}
    return {
        "over spectral": middle(late["ours"] / late["value"]),
        "over Frobenius": middle(late["other"] / late["value"]),
    }


def _over_frobenius(found, folder: Path) -> list[float]:
    """Our spectral distance over the Frobenius norm, for every row; NaN where it was not computed."""
    known: dict[tuple, float] = {}
    for table in BOTH:
        rows = literal(table, folder)
        rows = rows[rows["metric"] == OVER_FROBENIUS]
        known |= {(table, r.model, r.n, r.epsilon): r.value for r in rows.itertuples()}
    return [known.get((r.table, r.model, r.n, r.epsilon), np.nan) for r in found.itertuples()]


def corrected(table: str, folder: Path):
    """`beside` with both suspicions put into our numbers: the other denominator, and 1/sqrt 2 from epsilon 1.2 on.

    The errors are proportional to the noise here, so the second is a factor on them.
    """
    found = cells(table, folder=folder)
    swap = (found["metric"] == "spectral") & (found["epsilon"] != "0.1")
    found["ours"] = np.where(swap, _over_frobenius(found, folder), found["ours"])
    # The relative Monte-Carlo error of the swapped cells is that of the spectral distance.
    found["ours_se"] *= np.where(swap, found["ours"] / (found["ratio"] * found["value"]), 1.0)
    less = np.where(found["epsilon"].isin(("1.2", "2")), math.sqrt(0.5), 1.0)
    for name in ("ours", "ours_se"):
        found[name] = found[name] * less
    return again(found)


@check("2-corrected", *BOTH)
def both_corrections(folder: Path) -> Check:
    """Scatter of ours over printed before and after `corrected`."""
    question = "Do the two suspicions together explain the table?"
    numbers = {}
    for table in BOTH:
        before, after = cells(table, folder=folder), corrected(table, folder)
        if before["ours"].notna().any():
            name = f"Table {table[-1]}"
            numbers[f"{name}: spread before"] = float(np.exp(np.log(before["ratio"]).std()))
            numbers[f"{name}: spread after"] = float(np.exp(np.log(after["ratio"]).std()))
            numbers[f"{name}: level after"] = middle(after["ratio"])
    if not numbers:
        return Check("2-corrected", BOTH, question, None, "Not computed yet.", {})
    told = "; ".join(
        f"in {name} the spread of ours over printed falls from a factor {numbers[f'{name}: spread before']:.2f} to "
        f"{numbers[f'{name}: spread after']:.2f}, about {numbers[f'{name}: level after']:.2f}"
        for name in ("Table 1", "Table 2")
        if f"{name}: spread before" in numbers
    )
    holds = all(numbers[k] < 1.35 for k in numbers if k.endswith("spread after"))
    return Check("2-corrected", BOTH, question, holds, f"With both put into our numbers, {told}.", numbers)


@check("2-two-noises", *BOTH)
def two_noises(folder: Path) -> Check:
    """error * epsilon is constant where one noise formula was used; printed, it drops between 0.8 and 1.2."""
    found = cells(*BOTH, folder=folder)
    found = found[found["metric"].isin(("l1", "frobenius"))]
    printed = wide(found, "epsilon")
    step = (1.2 * printed["1.2"]) / (0.8 * printed["0.8"])
    early = (0.8 * printed["0.8"]) / (0.3 * printed["0.3"])
    late = (2 * printed["2"]) / (1.2 * printed["1.2"])
    numbers = {"0.3 to 0.8": middle(early), "0.8 to 1.2": middle(step), "1.2 to 2": middle(late)}
    ours = wide(found.dropna(subset=["ours"]), "epsilon", "ours")
    told = ""
    if {"0.8", "1.2"} <= set(ours):
        numbers["0.8 to 1.2, ours"] = middle((1.2 * ours["1.2"]) / (0.8 * ours["0.8"]))
        told = f" With one formula we get {numbers['0.8 to 1.2, ours']:.2f}."
    holds = abs(numbers["0.8 to 1.2"] * math.sqrt(2) - 1) < NEAR and min(numbers["0.3 to 0.8"], numbers["1.2 to 2"]) > (
        0.85
    )
    verdict = (
        f"Error times epsilon changes by {numbers['0.3 to 0.8']:.2f} from epsilon 0.3 to 0.8, by "
        f"{numbers['0.8 to 1.2']:.2f} from 0.8 to 1.2 (1/sqrt 2 is 0.71) and by {numbers['1.2 to 2']:.2f} from 1.2 to "
        f"2 (medians).{told}"
    )
    return Check(
        "2-two-noises", BOTH, "Is there a factor 1/sqrt 2 between epsilon 0.8 and 1.2?", holds, verdict, numbers,
        "the noise is smaller by 1/sqrt 2 from epsilon 1.2 on",
    )  # fmt: skip


@check("2-stopping", "2-table-2")
def stopping(folder: Path) -> Check:
    """The error of the stopped loop against the number of iterations, and where it meets the printed cell."""
    question = "Does the lasso's error depend on the stopping iteration?"
    rows = literal("2-stopping", folder)
    rows = rows[rows["metric"] == "frobenius"]
    if rows.empty:
        return Check("2-stopping", ("2-table-2",), question, None, "Not computed yet.", {})
    stops = np.array([int(name.split()[0]) for name in rows["method"]])
    errors = rows["value"].to_numpy()
    order = np.argsort(stops)
    stops, errors = stops[order], errors[order]
    printed = cells("2-table-2", folder=folder)
    at = printed[(printed["model"] == "2") & (printed["n"] == "100") & (printed["epsilon"] == "0.1")]
    value = float(at.loc[at["metric"] == "frobenius", "value"].iloc[0])
    met = float(np.exp(np.interp(np.log(value), np.log(errors), np.log(stops))))
    numbers = {f"after {k} iterations": float(e) for k, e in zip(stops, errors, strict=True)}
    numbers |= {"slope": slope(stops, errors), "printed": value, "iterations that give it": met}
    verdict = (
        f"From {stops[0]} to {stops[-1]} iterations the relative Frobenius error grows from {errors[0]:.2f} to "
        f"{errors[-1]:.2f}, like the {numbers['slope']:.2f}th power of their number: neither run converges. The "
        f"printed {value:g} is what about {met:,.0f} iterations give."
    )
    return Check(
        "2-stopping", ("2-table-2",), question, bool(numbers["slope"] > 0.1), verdict, numbers,
        "the printed loop never converges, and the numbers depend on the iteration at which it stops",
    )  # fmt: skip


@check("2-spread", *BOTH)
def spread(folder: Path) -> Check:
    """The printed standard errors beside our standard deviations: sd / sqrt(50) is what they should be near."""
    question = "Are the printed standard errors standard deviations?"
    found = cells(*BOTH, folder=folder)
    sds: dict[tuple, float] = {}
    for table in BOTH:
        sds |= {(table, r.model, r.n, r.epsilon, r.metric): r.sd for r in literal(table, folder).itertuples()}
    found["sd"] = [sds.get((r.table, r.model, r.n, r.epsilon, r.metric), np.nan) for r in found.itertuples()]
    found = found[(found["metric"] != "spectral") & (found["se"] > 0)].dropna(subset=["sd"])
    if found.empty:
        return Check("2-spread", BOTH, question, None, "Not computed yet.", {})
    relative = {t: middle((g["se"] / g["value"]) / (g["sd"] / g["ours"])) for t, g in found.groupby("table")}
    numbers = {f"printed over our deviation, {t}": v for t, v in relative.items()}
    holds = all(v > 2.5 / math.sqrt(50) for v in relative.values())
    told = ", ".join(f"{v:.2f} in Table {t[-1]}" for t, v in relative.items())
    verdict = (
        f"Relative to the error itself, a printed standard error is {told} of our standard deviation over replicates "
        f"(medians); a standard error of 50 would be {1 / math.sqrt(50):.2f} of it."
    )
    return Check(
        "2-spread", BOTH, question, holds, verdict, numbers, "the printed standard errors look like deviations"
    )
