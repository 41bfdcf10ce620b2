"""What paper 5's text reads off Figures 4 and 5 and announces for Appendix J, tested on our curves.

``holds`` says whether it holds as published. Questions that the text does not put are marked as ours.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from privcov.papers.published import LITERAL, SOUND
from privcov.papers.published_checks import Check, check, middle, slope
from privcov.papers.published_checks_figures import ADAPTIVE, GAUSS, SEPARATE, ZERO, curves

REAL = ("5-figure-4", "5-figure-5")
LAPLACE = "laplace-cov"
SLIGHT = 0.8  # "very small advantage": GaussCov's error is at least this share of SeparateCov's
BEYOND = 0.98  # GaussCov is better where its error is below this share: less is Monte-Carlo error
MANY = 0.25  # "in many cases": a quarter of them
FEW_COLUMNS, HIGH_RHO = 32, 0.1  # "a low d, and a high rho"
_MISSING = "Not computed yet."


def cells(keys: tuple[str, ...], folder: Path, variant: str) -> pd.DataFrame:
    """One row per cell with the error of each method as a column, rho (or epsilon) and d as numbers."""
    found = pd.concat([curves(key, folder, variant) for key in keys])
    found["rho"] = pd.to_numeric(found["data"].str.extract(r"rho = (.*)")[0])
    found["level"] = found["rho"].fillna(found["epsilon"])
    found["n"] = found["n"].fillna(0)  # of the documents that were brought
    index = ["model", "n", "d", "level"]
    return found.pivot_table(index=index, columns="method", values="value", sort=False).reset_index()


def _nothing(key: str, keys: tuple[str, ...], question: str) -> Check:
    return Check(key, keys, question, None, _MISSING, {})


def _wins(found: pd.DataFrame) -> pd.DataFrame:
    return found[found[GAUSS] < BEYOND * found[SEPARATE]]


def _never_better(key: str, keys: tuple[str, ...], question: str, folder: Path) -> Check:
    numbers: dict[str, float] = {}
    outside = 0
    for variant in (LITERAL, SOUND):
        found = cells(keys, folder, variant) if _there(keys, folder, variant) else pd.DataFrame()
        if found.empty:
            return _nothing(key, keys, question)
        won = _wins(found)
        ratio = won[GAUSS] / won[SEPARATE]
        numbers |= {f"cells, {variant}": float(len(found)), f"GaussCov better, {variant}": float(len(won))}
        numbers[f"smallest ratio, {variant}"] = float(ratio.min()) if len(won) else 1.0
        allowed = won["model"].isin(["5-a", "5-b", "5-c"]) & (won["d"] <= FEW_COLUMNS) & (won["level"] >= HIGH_RHO)
        numbers[f"of these not at trace 1, d = {FEW_COLUMNS}, rho >= {HIGH_RHO:g}, {variant}"] = float((~allowed).sum())
        if variant == LITERAL:
            outside, where = int((~allowed).sum()), _places(won)
    few = int(numbers[f"GaussCov better, {LITERAL}"])
    verdict = (
        f"As published GaussCov is better in {few} of {numbers[f'cells, {LITERAL}']:.0f} cells{where}"
        + (f", at best by {1 - numbers[f'smallest ratio, {LITERAL}']:.0%}" if few else "")
        + f"; sound in {numbers[f'GaussCov better, {SOUND}']:.0f}."
    )
    holds = outside == 0 and numbers[f"smallest ratio, {LITERAL}"] >= SLIGHT
    return Check(key, keys, question, holds, verdict, numbers)


def _there(keys: tuple[str, ...], folder: Path, variant: str) -> bool:
    return any(len(curves(key, folder, variant)) for key in keys)


def _name(panel: str) -> str:
    """ "Figure 5 (a)" of "5-a"; other panels have a name of their own."""
    figure, _, letter = panel.partition("-")
    return f"Figure {figure} ({letter})" if letter else panel


def _places(won: pd.DataFrame) -> str:
    told = [f"{_name(row['model'])} at rho = {row['level']:g}" for _, row in won.iterrows()]
    return f" ({', '.join(told[:6])}{' and others' if len(told) > 6 else ''})" if told else ""


@check("5-never-better", *REAL)
def never_better(folder: Path) -> Check:
    """GaussCov against SeparateCov in every cell of Figures 4 and 5."""
    question = "Is GaussCov never better than SeparateCov, but slightly at trace 1, low d and high rho?"
    return _never_better("5-never-better", REAL, question, folder)


@check("5-adaptive-real", *REAL)
def adaptive_real(folder: Path) -> Check:
    """AdaptiveCov below both, and below both and the zero matrix."""
    question = "Is AdaptiveCov better than both in many cases?"
    numbers = {}
    for variant in (LITERAL, SOUND):
        if not _there(REAL, folder, variant):
            return _nothing("5-adaptive-real", REAL, question)
        found = cells(REAL, folder, variant)
        best = found[[GAUSS, SEPARATE]].min(axis=1)
        better = found[ADAPTIVE] < BEYOND * best
        numbers[f"share better than both, {variant}"] = float(better.mean())
        numbers[f"and better than zero, {variant}"] = float((better & (found[ADAPTIVE] < BEYOND * found[ZERO])).mean())
    share = numbers[f"share better than both, {LITERAL}"]
    verdict = (
        f"As published it is in {share:.0%} of the cells, but in {numbers[f'and better than zero, {LITERAL}']:.0%} of "
        f"them all is it also better than the zero matrix; sound {numbers[f'share better than both, {SOUND}']:.0%} and "
        f"{numbers[f'and better than zero, {SOUND}']:.0%}."
    )
    return Check("5-adaptive-real", REAL, question, share >= MANY, verdict, numbers)


@check("5-zero-real", *REAL)
def zero_real(folder: Path) -> Check:
    """Where the zero matrix, which reads no row, errs less than all three."""
    question = "Our question: do the three estimators beat the zero matrix?"
    numbers = {}
    for variant in (LITERAL, SOUND):
        if not _there(REAL, folder, variant):
            return _nothing("5-zero-real", REAL, question)
        found = cells(REAL, folder, variant)
        best = found[[GAUSS, SEPARATE, ADAPTIVE]].min(axis=1)
        numbers[f"cells where zero is best, {variant}"] = float((found[ZERO] < best).sum())
        numbers[f"cells, {variant}"] = float(len(found))
        for model, part in found.assign(best=best).groupby("model", sort=False):
            won = part.loc[part["best"] < part[ZERO], "level"]
            numbers[f"{model}, beaten from rho, {variant}"] = float(won.min()) if len(won) else np.inf
    lost = numbers[f"cells where zero is best, {LITERAL}"] / numbers[f"cells, {LITERAL}"]
    starts = {
        v: ", ".join(
            f"{_name(k.split(',')[0])} {'never' if np.isinf(x) else f'{x:g}'}"
            for k, x in numbers.items()
            if k.endswith(f"rho, {v}")
        )
        for v in (LITERAL, SOUND)
    }
    verdict = (
        f"As published the zero matrix is best in {lost:.0%} of the cells, sound in "
        f"{numbers[f'cells where zero is best, {SOUND}'] / numbers[f'cells, {SOUND}']:.0%}. The smallest rho at which "
        f"one of the three beats it, as published: {starts[LITERAL]}; sound: {starts[SOUND]}."
    )
    return Check("5-zero-real", REAL, question, lost < 0.5, verdict, numbers)


@check("5-slopes", *REAL)
def slopes(folder: Path) -> Check:
    """Errors along rho in logarithms, between the ends of each panel."""
    question = "Our question: do errors fall with rho as the bounds say, to the power -1/2 and, at most, -1/4?"
    numbers: dict[str, float] = {}
    for variant in (LITERAL, SOUND):
        if not _there(REAL, folder, variant):
            return _nothing("5-slopes", REAL, question)
        found = cells(REAL, folder, variant)
        for method in (GAUSS, SEPARATE):
            each = [slope(part["level"], part[method]) for _, part in found.groupby("model")]
            numbers |= {f"{method}, median, {variant}": middle(each), f"{method}, steepest, {variant}": min(each)}
    gauss, separate = (numbers[f"{method}, median, {LITERAL}"] for method in (GAUSS, SEPARATE))
    verdict = (
        f"Median over the panels, as published: GaussCov {gauss:.2f}, SeparateCov {separate:.2f} (sound "
        f"{numbers[f'{GAUSS}, median, {SOUND}']:.2f} and {numbers[f'{SEPARATE}, median, {SOUND}']:.2f}). SeparateCov's "
        "second term, noise on d eigenvalues, falls to the power -1/2, so that its slope lies between."
    )
    holds = abs(gauss + 0.5) < 0.05 and -0.55 < separate < -0.2
    return Check("5-slopes", REAL, question, holds, verdict, numbers)


@check("5-digits-same", "5-digits")
def digits_same(folder: Path) -> Check:
    """The first finding of Figures 4 and 5, on single digits."""
    question = "Our question: is GaussCov never better than SeparateCov on single digits either?"
    return _never_better("5-digits-same", ("5-digits",), question, folder)


@check("5-pure-lesser", "5-pure")
def pure_lesser(folder: Path) -> Check:
    """Additive noise over SeparateCov at the setting of Figure 3, pure DP against zCDP at rho = epsilon^2/2."""
    question = "Is there a similar improvement under pure DP, and a lesser one?"
    numbers: dict[str, float] = {}
    for variant in (LITERAL, SOUND):
        pure, mixed = curves("5-pure", folder, variant, "pure epsilon"), curves("5-figure-3", folder, variant, "3-d")
        if pure.empty or mixed.empty:
            return _nothing("5-pure-lesser", ("5-pure",), question)
        pure = pure.pivot_table(index="epsilon", columns="method", values="value")
        mixed["rho"] = pd.to_numeric(mixed["data"].str.extract(r"rho = (.*)")[0])
        mixed = mixed.pivot_table(index="rho", columns="method", values="value")
        gain = pure[LAPLACE] / pure[SEPARATE]
        best = pure[[SEPARATE, ADAPTIVE]].min(axis=1)
        other = np.interp(np.log(gain.index.to_numpy() ** 2 / 2), np.log(mixed.index), np.log(mixed[GAUSS]))
        other -= np.interp(np.log(gain.index.to_numpy() ** 2 / 2), np.log(mixed.index), np.log(mixed[SEPARATE]))
        numbers |= {
            f"Laplace over SeparateCov, smallest, {variant}": float(gain.min()),
            f"Laplace over SeparateCov, largest, {variant}": float(gain.max()),
            f"zCDP at the same levels, smallest, {variant}": float(np.exp(other.min())),
            f"zCDP at the same levels, largest, {variant}": float(np.exp(other.max())),
            f"levels where it is lesser, {variant}": float((np.log(gain) < other).sum()),
            f"levels, {variant}": float(len(gain)),
            f"levels where zero is best, {variant}": float((pure[ZERO] < np.minimum(best, pure[LAPLACE])).sum()),
        }

    def told(v: str) -> str:
        small, large = (numbers[f"Laplace over SeparateCov, {end}, {v}"] for end in ("smallest", "largest"))
        low, high = (numbers[f"zCDP at the same levels, {end}, {v}"] for end in ("smallest", "largest"))
        return f"{small:.2f} to {large:.2f} times under pure DP, {low:.2f} to {high:.2f} times under zCDP"

    verdict = (
        f"As published additive noise errs {told(LITERAL)} at the same levels (rho = epsilon^2/2) as much as "
        f"SeparateCov; sound {told(SOUND)}. Under pure DP the zero matrix is best at "
        f"{numbers[f'levels where zero is best, {LITERAL}']:.0f} of {numbers[f'levels, {LITERAL}']:.0f} levels (sound "
        f"{numbers[f'levels where zero is best, {SOUND}']:.0f})."
    )
    large = numbers[f"Laplace over SeparateCov, largest, {LITERAL}"]
    holds = large > 1 and large < numbers[f"zCDP at the same levels, largest, {LITERAL}"]
    return Check("5-pure-lesser", ("5-pure",), question, holds, verdict, numbers)
