"""Models from one release: a regression, means of groups, and class means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import show
from pages.your_data.answers.context import Shown, about, lines, scaled, unknown
from privcov.bundle.safe import cell
from privcov.core.words import brief, percent, plain
from privcov.plots.intervals import intervals, numbers, off_zero
from privcov.plots.palette import Palette
from privcov.postprocess.two_values import two_values
from privcov.tables.readers.kinds import DATE

_FIRST = 4  # regressors at first: under noise a few have far shorter intervals than all
_MAX_SLOPES = 40  # slopes in one picture


def regression(shown: Shown, palette: Palette) -> None:
    """Show the linear regression of one column on a choice of others."""
    d = len(shown.columns)
    if d < 2:
        st.info("A regression needs at least two columns.")
        return
    left, middle, right = st.columns([2, 4, 1], vertical_alignment="bottom")
    columns, levels = shown.columns, _levels(shown)
    dates = {name for name, kind in shown.measurement.facts.kinds if kind.kind == DATE}
    likely = sorted(columns, key=lambda name: (name in dates, any(name in block for block in levels)))  # numbers first
    with left:
        y = shown.column("Explain", "target", columns, at=columns.index(likely[0]))
    follow = {c for names in levels for c in (names if y in names else names[1:][-1:])}  # follows from others, or is y
    others = [c for c in likely if c != y and c not in follow]
    everything, on = st.toggle("By all other columns", **shown.keep("everything", False)), None
    if not everything:
        on = middle.multiselect(
            "By",
            others,
            help="Under noise, a few columns have far shorter intervals than all of them.",
            **shown.keep(f"on-{columns.index(y)}", others[:_FIRST], argument="default"),
        )
    with right:
        ridge = st.number_input(
            "Ridge",
            0.0,
            1e6,
            step=0.01,
            format="%g",
            help="Added to the variances of the regressors, for which a column's way from its typical value to the "
            "farther bound is 1. The intervals are then for the slopes of the ridge regression in the population.",
            **shown.keep("ridge", 0.0),
        )
    if on == [] or not others:
        st.info("Choose at least one column to explain it by.")
        return
    found = shown.answers().regress(y, on, ridge)
    unknown(found)
    if not (found["identified"].any() or ridge):
        st.info(
            "No slope can be given under this noise. Choose fewer columns, or leave out one of two that are alike; a "
            "ridge asks for something else, which the noise may allow."
        )
    drawn = found.head(_MAX_SLOPES)
    drawn = scaled(drawn, shown.ranges[y] / shown.ranges[drawn["column"]])
    if drawn["identified"].any():
        show.picture(
            intervals(
                list(drawn["column"]),
                *numbers(drawn.assign(estimate=drawn["estimate"].where(drawn["identified"]))),
                palette,
                clear=off_zero(drawn),
                x_title=f"Slope, {shown.of_ranges}",
                what=f"Regression of {y}",
                level=shown.level,
            ),
            "own-regression",
        )
    _fit(found)
    about(found)
    lines(shown, found, "regression")
    _in_python(shown, f"regress({y!r}, {list(found['column'])!r}" + (f", ridge={ridge:g})" if ridge else ")"))


def _levels(shown: Shown) -> list[list[str]]:
    """Return the columns of two values, the levels of a category together."""
    two = two_values(shown.measurement.facts.kinds, shown.measurement.facts.units)
    return [[shown.columns[j] for j in block] for block in (two.blocks if two else ())]


def _in_python(shown: Shown, *asked: str) -> None:
    """Show how Python gives the same answer."""
    with st.expander("The same in Python"):
        st.code(
            'import privcov\n\nbundle = privcov.open_bundle("release.zip")  # the path of your bundle\n'
            f"found = privcov.answers(bundle, level={shown.level:g})\n"
            + "\n".join(f"print(found.{one})" for one in asked),
            language="python",
        )


def _fit(found: pd.DataFrame) -> None:
    """Show R squared with its interval, and the intercept."""
    told = []
    if (r := found.attrs.get("r_squared")) is not None:
        told.append(
            f"R squared **{r['estimate']:.2f}**, from {r['ci_low']:.2f} to {r['ci_high']:.2f} "
            f"({percent(found.attrs['level'])} total interval)."
            if r["identified"]
            else f"R squared is **not identified**: {r['reason']}."
        )
    if (a := found.attrs["intercept"])["identified"]:
        ends = f"from {plain(a['ci_low'])} to {plain(a['ci_high'])}"
        told.append(
            f"Intercept {plain(a['estimate'])}, {ends}, in the units of {show.as_text(found.attrs['response'])}."
        )
    st.markdown(" ".join(told))


def groups(shown: Shown, palette: Palette) -> None:
    """Show the means of every column in the groups that a column makes."""
    by = shown.column("Groups by", "grouped", shown.answers().groupings)
    found = shown.answers().group_means(by)
    unknown(found)
    names = list(dict.fromkeys(found["group"]))
    if " less " in names[-1]:  # two groups
        drawn, label = found[found["group"] == names[-1]].head(_MAX_SLOPES), "column"
        drawn = scaled(drawn, shown.ranges[drawn["column"]])
        title = f"Difference, {shown.of_ranges}"
        st.markdown(f"**Means: {show.as_text(names[-1])}**")
    else:
        of = shown.column("Mean of", f"mean-of-{by}", list(dict.fromkeys(found["column"])))
        drawn, label = found[found["column"] == of].head(_MAX_SLOPES), "group"
        title = f"Mean of {brief(of, 16)}"
    if drawn["estimate"].notna().any():
        clear = off_zero(drawn) if label == "column" else drawn["identified"].to_numpy()
        picture = intervals(
            [brief(name) for name in drawn[label]],
            *numbers(drawn),
            palette,
            clear=clear,
            x_title=title,
            what=f"Groups by {by}",
            level=shown.level,
        )
        show.picture(picture, "own-groups")
    about(found)
    lines(shown, found, "groups")
    _in_python(shown, f"group_means({by!r})")


def classes(shown: Shown, palette: Palette) -> None:
    """Show how the means of two classes differ, and the sizes of the classes."""
    facts = shown.measurement.facts
    left, right = st.columns(2)
    with left:
        a = shown.column("Class", "class-a", facts.classes)
    with right:
        b = shown.column("Less class", "class-b", facts.classes, at=1)
    if a == b:
        st.info("Choose two different classes to compare their means.")
    else:
        found = shown.answers().contrast(a, b)
        unknown(found)
        drawn = found.head(_MAX_SLOPES)
        drawn = scaled(drawn, shown.ranges[drawn["column"]])
        show.picture(
            intervals(
                list(drawn["column"]),
                *numbers(drawn),
                palette,
                clear=off_zero(drawn),
                x_title=f"{brief(a)} less {brief(b)}, {shown.of_ranges}",
                what="Difference of two classes",
                level=shown.level,
            ),
            "own-classes",
        )
        about(found)
        lines(shown, found, "contrast")
    shares = np.maximum(shown.answers().groups().shares, 0.0)
    sizes = pd.DataFrame({"class": [cell(c) for c in facts.classes], "share of rows": shares / shares.sum()})
    st.dataframe(sizes, hide_index=True)
