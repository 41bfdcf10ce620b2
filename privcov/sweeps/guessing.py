"""Is a private classification better than always answering the commonest class? In words, from the replicates."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from privcov.sweeps.crossings import compare

GUESS = "guessing the commonest class"


def against_guessing(
    table: pd.DataFrame, guess: pd.DataFrame, x_name: str, number: Callable[[float], str] = lambda v: f"{v:.3g}"
) -> list[str]:
    """Return one sentence per series, first those that are not better than guessing.

    table, guess: columns series, x, replicate, value; the errors (0..1) of the rule, and of guessing on the same split.
    "Better" means that the 95 % interval of the paired mean difference lies below zero; the replicates in brackets are
    their 10 % and 90 % quantiles.
    """
    sentences = []
    for name in table["series"].unique():
        one, other = (t[t["series"] == name] for t in (table, guess))
        both = pd.concat([one, other.assign(series=GUESS)])
        comparison = compare(both, name, GUESS)
        if not comparison.xs:
            continue
        poor = [x for x, sign in zip(comparison.xs, comparison.signs, strict=True) if sign >= 0]
        good = [x for x, sign in zip(comparison.xs, comparison.signs, strict=True) if sign < 0]
        base = _percent(float(other["value"].mean()))
        if not poor:
            span = "everywhere" if len(comparison.xs) > 1 else f"at {x_name} = {number(comparison.xs[0])}"
            sentences.append((0, f"{name} is better than {GUESS} ({base} wrong) {span}."))
            continue
        where = f"at {x_name} = {_listed(poor, number)}" if good else f"at any {x_name} drawn"
        spread = _spread(one[one["x"] == poor[-1]]["value"])
        text = f"{name} is no better than {GUESS} ({base} wrong) {where}; at {number(poor[-1])} it gets {spread} wrong."
        if good:
            text += f" It is better at {_listed(good, number)}."
        sentences.append((len(poor), text))
    return [text for _, text in sorted(sentences, key=lambda pair: -pair[0])]


def without_noise(table: pd.DataFrame, guess: pd.DataFrame) -> list[str]:
    """Return a sentence where even the best method without noise is not clearly better than guessing, else nothing.

    table, guess: as in `against_guessing`, of the runs without noise (their x is not used).
    """
    if table.empty:
        return []
    best = table.groupby("series")["value"].mean().idxmin()
    one, other = (t[t["series"] == best].assign(x=0.0) for t in (table, guess))
    comparison = compare(pd.concat([one, other.assign(series=GUESS)]), best, GUESS)
    if comparison.signs == (-1,):
        return []
    base = _percent(float(other["value"].mean()))
    return [
        f"Even {best} is no better than {GUESS} ({base} wrong): it gets {_spread(one['value'])} wrong. What is "
        "missing here is not the accuracy of the release."
    ]


def _listed(xs: list[float], number: Callable[[float], str]) -> str:
    words = [number(x) for x in xs]
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _spread(values: pd.Series) -> str:
    low, high = values.quantile(0.1), values.quantile(0.9)
    return f"{_percent(values.mean())} (replicates: {_percent(low)} to {_percent(high)})"


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.3g} %"
