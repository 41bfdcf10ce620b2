"""What paper 2's text reads off its figures, tested on our curves, as published and sound.

``holds`` says whether the finding (for Figure 4, where the text names none, our question) holds as published.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import privcov.papers.published as catalogue
from privcov.papers.published import LITERAL, SOUND
from privcov.papers.published_cells import CHANGED, DRAWN, NETWORKS
from privcov.papers.published_checks import Check, check
from privcov.papers.published_figures_2 import AREA, EPSILONS, NO_NOISE, WRONG, N, at

ALMOST = 0.95  # "almost comparable": the area below the curve is at least this share of that without noise
LARGE = 0.05  # "large gap": of 100 test rows five more are wrong
USEFUL = 0.7  # area of a curve that says something about the graph; guessing has 0.5
_MISSING = "Not computed yet."


def values(key: str, folder: Path, variant: str, metric: str) -> pd.DataFrame:
    """Stored cells of a figure in one metric, epsilon as text."""
    found = catalogue.computed(catalogue.TABLES[key], folder)
    return found[(found["variant"] == variant) & (found["metric"] == metric)]


def _value(found: pd.DataFrame, **where: str) -> float:
    for name, value in where.items():
        found = found[found[name] == value]
    return float(found["value"].iloc[0]) if len(found) else float("nan")


@check("2-roc-same", "2-figure-1")
def roc_same(folder: Path) -> Check:
    """Area with noise over that without, Models 3 and 4; edges found where a tenth of the absent ones is drawn."""
    question = "Is the selection of edges almost as good as without privacy?"
    numbers = {}
    for variant in (LITERAL, SOUND):
        for metric, name in ((AREA, "area"), (at(0.1), "found at 0.1")):
            found = values("2-figure-1", folder, variant, metric)
            found = found[found["n"] == str(N)]
            for model in "34":
                free = _value(found, model=model, method=NO_NOISE)
                numbers[f"Model {model}, {name}, no noise, {variant}"] = free
                for epsilon in EPSILONS:
                    noisy = _value(found, model=model, epsilon=epsilon)
                    numbers[f"Model {model}, {name}, epsilon {epsilon}, {variant}"] = noisy
    if not np.isfinite(numbers[f"Model 3, area, epsilon 1, {LITERAL}"]):
        return Check("2-roc-same", ("2-figure-1",), question, None, _MISSING, {})
    shares = {
        (v, m, e): numbers[f"Model {m}, area, epsilon {e}, {v}"] / numbers[f"Model {m}, area, no noise, {v}"]
        for v in (LITERAL, SOUND)
        for m in "34"
        for e in EPSILONS
    }
    told = [
        f"Model {m}, epsilon {e}: {shares[LITERAL, m, e]:.0%} ({shares[SOUND, m, e]:.0%} sound)"
        for m in "34"
        for e in EPSILONS
    ]
    lost = [
        f"{numbers[f'Model 3, found at 0.1, {level}, {LITERAL}']:.2f}" for level in ("no noise", "epsilon 1")
    ]  # fmt: skip
    verdict = (
        f"The area below the curve as a share of that without noise, as published: {'; '.join(told)}. In Model 3, with "
        f"a tenth of the absent edges drawn, {lost[0]} of the edges are found without noise and {lost[1]} at epsilon 1."
    )
    holds = min(share for (variant, *_), share in shares.items() if variant == LITERAL) >= ALMOST
    return Check("2-roc-same", ("2-figure-1",), question, holds, verdict, numbers)


@check("2-lda-gap", "2-figure-2")
def lda_gap(folder: Path) -> Check:
    """Wrong test rows more than without noise, at the smallest and the largest epsilon of the tables."""
    question = "Is the gap to the error without privacy large at small epsilon, and smaller as epsilon grows?"
    numbers = {}
    for variant in (LITERAL, SOUND):
        found = values("2-figure-2", folder, variant, WRONG)
        free = _value(found, method=NO_NOISE)
        numbers[f"no noise, {variant}"] = free
        for epsilon in ("0.1", "2", "100"):
            numbers[f"gap at {epsilon}, {variant}"] = _value(found, method="DP-RP", epsilon=epsilon) - free
    numbers["guessing"] = _value(values("2-figure-2", folder, LITERAL, WRONG), method="guessing")
    small, large = (numbers[f"gap at {e}, {LITERAL}"] for e in ("0.1", "2"))
    if not np.isfinite(small):
        return Check("2-lda-gap", ("2-figure-2",), question, None, _MISSING, {})
    verdict = (
        f"As published {numbers[f'no noise, {LITERAL}']:.3f} of the test rows are wrong without noise, {small:+.3f} at "
        f"epsilon 0.1, {large:+.3f} at 2 and {numbers[f'gap at 100, {LITERAL}']:+.3f} at 100; always answering the "
        f"commoner class has {numbers['guessing']:.3f}. The class means and shares are raw, and do most of the work. "
        f"Sound, with the means measured too, the gap is {numbers[f'gap at 0.1, {SOUND}']:+.3f}, "
        f"{numbers[f'gap at 2, {SOUND}']:+.3f} and {numbers[f'gap at 100, {SOUND}']:+.3f}."
    )
    return Check("2-lda-gap", ("2-figure-2",), question, small >= LARGE and large < small, verdict, numbers)


@check("2-cells-utility", "2-figure-3")
def cells_utility(folder: Path) -> Check:
    """Areas with and without noise, against three versions of the network."""
    question = "Has the private algorithm high utility on the cell signalling network?"
    numbers = {}
    for variant in (LITERAL, SOUND):
        found = values("2-figure-3", folder, variant, AREA)
        for network in NETWORKS:
            numbers[f"{network}, no noise, {variant}"] = _value(found, data=network, method=NO_NOISE)
            for epsilon in EPSILONS:
                numbers[f"{network}, epsilon {epsilon}, {variant}"] = _value(found, data=network, epsilon=epsilon)
    free = [numbers[f"{network}, no noise, {LITERAL}"] for network in NETWORKS]
    noisy = [numbers[f"{network}, epsilon {e}, {LITERAL}"] for network in NETWORKS for e in EPSILONS]
    sound = [numbers[f"{network}, epsilon {e}, {SOUND}"] for network in NETWORKS for e in EPSILONS]
    if not np.isfinite(free[0]):
        return Check("2-cells-utility", ("2-figure-3",), question, None, _MISSING, {})
    verdict = (
        f"As published the areas below the curves are {min(noisy):.2f} to {max(noisy):.2f} with noise and "
        f"{min(free):.2f} to {max(free):.2f} without (sound: {min(sound):.2f} to {max(sound):.2f}); guessing has 0.50. "
        f"Noise costs {'little' if min(noisy) >= ALMOST * min(free) else 'much'}, and there is "
        f"{'little' if max(free) < USEFUL else 'much'} to lose: the lasso itself "
        f"{'hardly ' if max(free) < USEFUL else ''}finds this network."
    )
    holds = min(noisy) >= ALMOST * min(free) and max(noisy) >= USEFUL
    return Check("2-cells-utility", ("2-figure-3",), question, holds, verdict, numbers)


@check("2-graphs-same", "2-figure-4")
def graphs_same(folder: Path) -> Check:
    """Pairs of 55 that are drawn with noise and not without, or the other way round."""
    question = "Our question: are the private graphs those without privacy?"
    numbers, told = {}, []
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
        told.append(
            f"{min(some):.1f} to {max(some):.1f} of 55 pairs change ({edges[0]:.0f} and {edges[1]:.0f} edges are drawn "
            f"without noise)"
        )
    if not np.isfinite(numbers[f"lambda 0.002, pairs changed at epsilon 1, {LITERAL}"]):
        return Check("2-graphs-same", ("2-figure-4",), question, None, _MISSING, {})
    worst = max(v for k, v in numbers.items() if "changed" in k and k.endswith(LITERAL))
    verdict = f"As published {told[0]}, on average over the draws; sound {told[1]}."
    return Check("2-graphs-same", ("2-figure-4",), question, worst < 1, verdict, numbers)
