"""Su et al. 2019 (paper 2): checks of its tables, and of what its text reads off its figures.

The text reads nothing off Figure 4: the question is ours.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from replication.base import LITERAL, SOUND, recompute, stored
from replication.checks import NOT_COMPUTED, Check, cells, check, literal, middle, slope, spread_question, wide
from replication.su2019.figures import AREA, CHANGED, DRAWN, EPSILONS, NETWORKS, NO_NOISE, WRONG, N, at
from replication.su2019.tables import OVER_FROBENIUS, TABLES

BOTH = ("2-table-1", "2-table-2")
NEAR = 0.07  # relative distance at which a ratio counts as the suspected one
ALMOST = 0.95  # "almost comparable": the area below the curve is at least this fraction of that without noise
LARGE = 0.05  # "large gap": of 100 test rows five more are wrong
USEFUL = 0.7  # area of a curve that is useful; guessing has 0.5


@check("2-spectral-column", "Does the spectral column change its denominator?", *BOTH)
def spectral_column(folder: Path) -> Check:
    """Compare Frobenius over spectral column at epsilon 0.3 and more with that at 0.1: one where both divide alike."""
    table = cells(TABLES, *BOTH, folder=folder)
    printed = wide(table[table["metric"].isin(("frobenius", "spectral"))], "metric")
    ratio = (printed["frobenius"] / printed["spectral"]).unstack("epsilon")
    jumps = {t: middle((ratio["0.3"] / ratio["0.1"]).xs(t, level="table")) for t in BOTH}
    ours = wide(table[table["metric"].isin(("frobenius", "spectral"))].dropna(subset=["ours"]), "metric", "ours")
    numbers = {f"jump in {t}": jump for t, jump in jumps.items()}
    own = (ours["frobenius"] / ours["spectral"]).unstack("epsilon") if len(ours) else None
    if own is not None and {"0.1", "0.3"} <= set(own):
        numbers["jump in ours"] = middle(own["0.3"] / own["0.1"])
    numbers |= _denominators(table, folder)
    holds = min(jumps.values()) > 2
    sentence = ""
    if "over Frobenius" in numbers:
        sentence = (
            f" At epsilon 0.3 and more our spectral error over the Frobenius norm is {numbers['over Frobenius']:.2f} "
            f"of the printed number, over the spectral norm {numbers['over spectral']:.2f} of it (medians)."
        )
    verdict = (
        f"The Frobenius column is {jumps[BOTH[0]]:.1f} (Table 1) and {jumps[BOTH[1]]:.1f} times (Table 2) larger "
        f"against the spectral one from epsilon 0.3 on than at 0.1; with one denominator it would stay.{sentence}"
    )
    return Check(holds, verdict, numbers, "the spectral column is divided by the Frobenius norm from epsilon 0.3 on")


def _denominators(table: pd.DataFrame, folder: Path) -> dict[str, float]:
    """Return our spectral errors over either norm, as a fraction of the printed ones from epsilon 0.3 on."""
    late = table[(table["metric"] == "spectral") & (table["epsilon"] != "0.1")].copy()
    late["other"] = _over_frobenius(late, folder)
    late = late.dropna(subset=["other"])
    if late.empty:
        return {}
    return {
        "over spectral": middle(late["ours"] / late["value"]),
        "over Frobenius": middle(late["other"] / late["value"]),
    }


def _over_frobenius(printed: pd.DataFrame, folder: Path) -> list[float]:
    """Return our spectral distance over the Frobenius norm, for every row; NaN where it was not computed."""
    known: dict[tuple, float] = {}
    for table in BOTH:
        rows = literal(table, folder)
        rows = rows[rows["metric"] == OVER_FROBENIUS]
        known |= {(table, r.model, r.n, r.epsilon): r.value for r in rows.itertuples()}
    return [known.get((r.table, r.model, r.n, r.epsilon), np.nan) for r in printed.itertuples()]


CORRECTIONS = 2  # that `corrected` makes


def corrected(table: str, folder: Path) -> pd.DataFrame:
    """Return `join_printed` with the other denominator, and 1/sqrt 2 from epsilon 1.2 on, put into our numbers.

    The errors are proportional to the noise here, so the second is a factor on them.
    """
    result = cells(TABLES, table, folder=folder)
    return put_in(result, np.array(_over_frobenius(result, folder)))


def put_in(result: pd.DataFrame, over_frobenius: np.ndarray) -> pd.DataFrame:
    """Return cells with both suspicions put into ours; ``over_frobenius`` is our spectral distance over that norm."""
    swap = (result["metric"] == "spectral") & (result["epsilon"] != "0.1")
    result["ours"] = np.where(swap, over_frobenius, result["ours"])
    # The relative Monte-Carlo error of the swapped cells is that of the spectral distance.
    result["ours_se"] *= np.where(swap, result["ours"] / (result["ratio"] * result["value"]), 1.0)
    less = np.where(result["epsilon"].isin(("1.2", "2")), math.sqrt(0.5), 1.0)
    for name in ("ours", "ours_se"):
        result[name] = result[name] * less
    return recompute(result)


@check("2-corrected", "Do the two suspicions together explain the table?", *BOTH)
def both_corrections(folder: Path) -> Check:
    """Compare the scatter of ours over printed before and after `corrected`."""
    numbers = {}
    for table in BOTH:
        before, after = cells(TABLES, table, folder=folder), corrected(table, folder)
        if before["ours"].notna().any():
            name = f"Table {table[-1]}"
            numbers[f"{name}: spread before"] = float(np.exp(np.log(before["ratio"]).std()))
            numbers[f"{name}: spread after"] = float(np.exp(np.log(after["ratio"]).std()))
            numbers[f"{name}: level after"] = middle(after["ratio"])
    if not numbers:
        return Check(None, NOT_COMPUTED, {})
    falls = "; ".join(
        f"in {name} the spread of ours over printed falls from a factor {numbers[f'{name}: spread before']:.2f} to "
        f"{numbers[f'{name}: spread after']:.2f}, about {numbers[f'{name}: level after']:.2f}"
        for name in ("Table 1", "Table 2")
        if f"{name}: spread before" in numbers
    )
    holds = all(numbers[k] < 1.35 for k in numbers if k.endswith("spread after"))
    return Check(holds, f"With both put into our numbers, {falls}.", numbers)


@check("2-two-noises", "Is there a factor 1/sqrt 2 between epsilon 0.8 and 1.2?", *BOTH)
def two_noises(folder: Path) -> Check:
    """Check that error * epsilon drops between 0.8 and 1.2; it is constant where one noise formula was used."""
    table = cells(TABLES, *BOTH, folder=folder)
    table = table[table["metric"].isin(("l1", "frobenius"))]
    printed = wide(table, "epsilon")
    step = (1.2 * printed["1.2"]) / (0.8 * printed["0.8"])
    early = (0.8 * printed["0.8"]) / (0.3 * printed["0.3"])
    late = (2 * printed["2"]) / (1.2 * printed["1.2"])
    numbers = {"0.3 to 0.8": middle(early), "0.8 to 1.2": middle(step), "1.2 to 2": middle(late)}
    ours = wide(table.dropna(subset=["ours"]), "epsilon", "ours")
    sentence = ""
    if {"0.8", "1.2"} <= set(ours):
        numbers["0.8 to 1.2, ours"] = middle((1.2 * ours["1.2"]) / (0.8 * ours["0.8"]))
        sentence = f" With one formula we get {numbers['0.8 to 1.2, ours']:.2f}."
    holds = abs(numbers["0.8 to 1.2"] * math.sqrt(2) - 1) < NEAR and min(numbers["0.3 to 0.8"], numbers["1.2 to 2"]) > (
        0.85
    )
    verdict = (
        f"Error times epsilon changes by {numbers['0.3 to 0.8']:.2f} from epsilon 0.3 to 0.8, by "
        f"{numbers['0.8 to 1.2']:.2f} from 0.8 to 1.2 (1/sqrt 2 is 0.71) and by {numbers['1.2 to 2']:.2f} from 1.2 to "
        f"2 (medians).{sentence}"
    )
    return Check(holds, verdict, numbers, "the noise is smaller by 1/sqrt 2 from epsilon 1.2 on")


@check("2-stopping", "Does the lasso's error depend on the stopping iteration?", "2-table-2")
def stopping(folder: Path) -> Check:
    """Compare the error of the stopped loop with the number of iterations, and find where it meets the printed cell."""
    rows = literal("2-stopping", folder)
    rows = rows[rows["metric"] == "frobenius"]
    if rows.empty:
        return Check(None, NOT_COMPUTED, {})
    stops = np.array([int(name.split()[0]) for name in rows["method"]])
    errors = rows["value"].to_numpy()
    order = np.argsort(stops)
    stops, errors = stops[order], errors[order]
    printed = cells(TABLES, "2-table-2", folder=folder)
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
        bool(numbers["slope"] > 0.1), verdict, numbers,
        "the printed loop never converges, and the numbers depend on the iteration at which it stops",
    )  # fmt: skip


# --- figures ----------------------------------------------------------------------------------------------


def values(key: str, folder: Path, variant: str, metric: str) -> pd.DataFrame:
    """Return stored cells of a figure in one metric."""
    table = stored(key, folder)
    return table[(table["variant"] == variant) & (table["metric"] == metric)]


def _value(table: pd.DataFrame, **where: str) -> float:
    for name, value in where.items():
        table = table[table[name] == value]
    return float(table["value"].iloc[0]) if len(table) else float("nan")


@check("2-roc-same", "Is the selection of edges almost as good as without privacy?", "2-figure-1")
def roc_same(folder: Path) -> Check:
    """Compare areas, and edges found where a tenth of the absent ones is drawn, with noise and without."""
    numbers = {}
    for variant in (LITERAL, SOUND):
        for metric, name in ((AREA, "area"), (at(0.1), "found at 0.1")):
            table = values("2-figure-1", folder, variant, metric)
            table = table[table["n"] == str(N)]
            for model in "34":
                free = _value(table, model=model, method=NO_NOISE)
                numbers[f"Model {model}, {name}, no noise, {variant}"] = free
                for epsilon in EPSILONS:
                    noisy = _value(table, model=model, epsilon=epsilon)
                    numbers[f"Model {model}, {name}, epsilon {epsilon}, {variant}"] = noisy
    if not np.isfinite(numbers[f"Model 3, area, epsilon 1, {LITERAL}"]):
        return Check(None, NOT_COMPUTED, {})
    shares = {
        (v, m, e): numbers[f"Model {m}, area, epsilon {e}, {v}"] / numbers[f"Model {m}, area, no noise, {v}"]
        for v in (LITERAL, SOUND)
        for m in "34"
        for e in EPSILONS
    }
    phrases = [
        f"Model {m}, epsilon {e}: {100 * shares[LITERAL, m, e]:.0f} % ({100 * shares[SOUND, m, e]:.0f} % sound)"
        for m in "34"
        for e in EPSILONS
    ]
    lost = [
        f"{numbers[f'Model 3, found at 0.1, {level}, {LITERAL}']:.2f}" for level in ("no noise", "epsilon 1")
    ]  # fmt: skip
    verdict = (
        f"The area below the curve as a share of that without noise, as published: {'; '.join(phrases)}. In Model 3, "
        f"with a tenth of the absent edges drawn, {lost[0]} of the edges are found without noise and {lost[1]} "
        "at epsilon 1."
    )
    holds = min(fraction for (variant, *_), fraction in shares.items() if variant == LITERAL) >= ALMOST
    return Check(holds, verdict, numbers)


@check(
    "2-lda-gap",
    "Is the gap to the error without privacy large at small epsilon, and smaller as epsilon grows?",
    "2-figure-2",
)
def lda_gap(folder: Path) -> Check:
    """Compare wrong test rows with those without noise, at the smallest and the largest epsilon of the tables."""
    numbers = {}
    for variant in (LITERAL, SOUND):
        table = values("2-figure-2", folder, variant, WRONG)
        free = _value(table, method=NO_NOISE)
        numbers[f"no noise, {variant}"] = free
        for epsilon in ("0.1", "2", "100"):
            numbers[f"gap at {epsilon}, {variant}"] = _value(table, method="DP-RP", epsilon=epsilon) - free
    numbers["guessing"] = _value(values("2-figure-2", folder, LITERAL, WRONG), method="guessing")
    small, large = (numbers[f"gap at {e}, {LITERAL}"] for e in ("0.1", "2"))
    if not np.isfinite(small):
        return Check(None, NOT_COMPUTED, {})
    verdict = (
        f"As published {numbers[f'no noise, {LITERAL}']:.3f} of the test rows are wrong without noise, {small:+.3f} at "
        f"epsilon 0.1, {large:+.3f} at 2 and {numbers[f'gap at 100, {LITERAL}']:+.3f} at 100; always answering the "
        f"commoner class has {numbers['guessing']:.3f}. The class means and shares are raw, and do most of the work. "
        f"Sound, with the means measured too, the gap is {numbers[f'gap at 0.1, {SOUND}']:+.3f}, "
        f"{numbers[f'gap at 2, {SOUND}']:+.3f} and {numbers[f'gap at 100, {SOUND}']:+.3f}."
    )
    return Check(small >= LARGE and large < small, verdict, numbers)


@check("2-cells-utility", "Has the private algorithm high utility on the cell signalling network?", "2-figure-3")
def cells_utility(folder: Path) -> Check:
    """Compare areas with and without noise, against three versions of the network."""
    numbers = {}
    for variant in (LITERAL, SOUND):
        table = values("2-figure-3", folder, variant, AREA)
        for network in NETWORKS:
            numbers[f"{network}, no noise, {variant}"] = _value(table, data=network, method=NO_NOISE)
            for epsilon in EPSILONS:
                numbers[f"{network}, epsilon {epsilon}, {variant}"] = _value(table, data=network, epsilon=epsilon)
    free = [numbers[f"{network}, no noise, {LITERAL}"] for network in NETWORKS]
    noisy = [numbers[f"{network}, epsilon {e}, {LITERAL}"] for network in NETWORKS for e in EPSILONS]
    sound = [numbers[f"{network}, epsilon {e}, {SOUND}"] for network in NETWORKS for e in EPSILONS]
    if not np.isfinite(free[0]):
        return Check(None, NOT_COMPUTED, {})
    verdict = (
        f"As published the areas below the curves are {min(noisy):.2f} to {max(noisy):.2f} with noise and "
        f"{min(free):.2f} to {max(free):.2f} without (sound: {min(sound):.2f} to {max(sound):.2f}); guessing has 0.50. "
        f"Noise costs {'little' if min(noisy) >= ALMOST * min(free) else 'much'}, and there is "
        f"{'little' if max(free) < USEFUL else 'much'} to lose: the lasso itself "
        f"{'hardly ' if max(free) < USEFUL else ''}finds this network."
    )
    holds = min(noisy) >= ALMOST * min(free) and max(noisy) >= USEFUL
    return Check(holds, verdict, numbers)


@check("2-graphs-same", "Our question: are the private graphs those without privacy?", "2-figure-4")
def graphs_same(folder: Path) -> Check:
    """Count the pairs of 55 that are drawn with noise and not without, or the other way round."""
    numbers, phrases = {}, []
    for variant in (LITERAL, SOUND):
        drawn = values("2-figure-4", folder, variant, DRAWN)
        changed = values("2-figure-4", folder, variant, CHANGED)
        for lam in ("lambda 0.0015", "lambda 0.002"):
            numbers[f"{lam}, edges without noise, {variant}"] = _value(drawn, data=lam, method=NO_NOISE)
            for epsilon in EPSILONS:
                pairs = 55 * _value(changed, data=lam, epsilon=epsilon)
                numbers[f"{lam}, pairs changed at epsilon {epsilon}, {variant}"] = pairs
        some = [v for k, v in numbers.items() if "changed" in k and k.endswith(variant)]
        edges = [v for k, v in numbers.items() if "edges without" in k and k.endswith(variant)]
        phrases.append(
            f"{min(some):.1f} to {max(some):.1f} of 55 pairs change ({edges[0]:.0f} and {edges[1]:.0f} edges are drawn "
            f"without noise)"
        )
    if not np.isfinite(numbers[f"lambda 0.002, pairs changed at epsilon 1, {LITERAL}"]):
        return Check(None, NOT_COMPUTED, {})
    worst = max(v for k, v in numbers.items() if "changed" in k and k.endswith(LITERAL))
    verdict = f"As published {phrases[0]}, on average over the draws; sound {phrases[1]}."
    return Check(worst < 1, verdict, numbers)


CHECKS = (
    spectral_column, both_corrections, two_noises, stopping, spread_question("2-spread", TABLES, BOTH), roc_same,
    lda_gap, cells_utility, graphs_same,
)  # fmt: skip
