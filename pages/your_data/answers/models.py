"""Models from one release: a regression, means of groups, and class means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import show
from pages.your_data.answers.context import ShownRelease, about, lines, rescale, unknown
from privcov.bundle.safe import cell
from privcov.core.words import brief, percent, plain
from privcov.plots.intervals import intervals, numbers, off_zero
from privcov.plots.palette import Palette
from privcov.postprocess.binary_columns import find_binary_columns
from privcov.tables.readers.kinds import DATE

_FIRST = 4  # regressors at first: under noise a few have far shorter intervals than all
_MAX_SLOPES = 40  # slopes in one picture


def regression(panel: ShownRelease, palette: Palette) -> None:
    """Show the linear regression of one column on a choice of others."""
    d = len(panel.columns)
    if d < 2:
        st.info("A regression needs at least two columns.")
        return
    left, middle, right = st.columns([2, 4, 1], vertical_alignment="bottom")
    columns, levels = panel.columns, _levels(panel)
    dates = {name for name, kind in panel.measurement.facts.kinds if kind.kind == DATE}
    likely = sorted(columns, key=lambda name: (name in dates, any(name in block for block in levels)))  # numbers first
    with left:
        y = panel.column("Explain", "target", columns, at=columns.index(likely[0]))
    follow = {c for names in levels for c in (names if y in names else names[1:][-1:])}  # follows from others, or is y
    candidates = [c for c in likely if c != y and c not in follow]
    everything, on = st.toggle("By all other columns", **panel.keep("everything", False)), None
    if not everything:
        on = middle.multiselect(
            "By",
            candidates,
            help="Under noise, a few columns have far shorter intervals than all of them.",
            **panel.keep(f"on-{columns.index(y)}", candidates[:_FIRST], argument="default"),
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
            **panel.keep("ridge", 0.0),
        )
    if on == [] or not candidates:
        st.info("Choose at least one column to explain it by.")
        return
    answer = panel.answers().regress(y, on, ridge)
    unknown(answer)
    if not (answer["identified"].any() or ridge):
        st.info(
            "No slope can be given under this noise. Choose fewer columns, or leave out one of two that are alike; a "
            "ridge asks for something else, which the noise may allow."
        )
    rows = answer.head(_MAX_SLOPES)
    rows = rescale(rows, panel.ranges[y] / panel.ranges[rows["column"]])
    if rows["identified"].any():
        show.picture(
            intervals(
                list(rows["column"]),
                *numbers(rows.assign(estimate=rows["estimate"].where(rows["identified"]))),
                palette,
                clear=off_zero(rows),
                x_title=f"Slope, {panel.range_unit}",
                what=f"Regression of {y}",
                level=panel.level,
            ),
            "own-regression",
        )
    _fit(answer)
    about(answer)
    lines(panel, answer, "regression")
    _in_python(panel, f"regress({y!r}, {list(answer['column'])!r}" + (f", ridge={ridge:g})" if ridge else ")"))


def _levels(panel: ShownRelease) -> list[list[str]]:
    two = find_binary_columns(panel.measurement.facts.kinds, panel.measurement.facts.units)
    return [[panel.columns[j] for j in block] for block in (two.blocks if two else ())]


def _in_python(panel: ShownRelease, *asked: str) -> None:
    with st.expander("The same in Python"):
        st.code(
            'import privcov\n\nbundle = privcov.open_bundle("release.zip")  # the path of your bundle\n'
            f"found = privcov.answers(bundle, level={panel.level:g})\n"
            + "\n".join(f"print(found.{one})" for one in asked),
            language="python",
        )


def _fit(answer: pd.DataFrame) -> None:
    sentences = []
    if (r := answer.attrs.get("r_squared")) is not None:
        sentences.append(
            f"R squared **{r['estimate']:.2f}**, from {r['ci_low']:.2f} to {r['ci_high']:.2f} "
            f"({percent(answer.attrs['level'])} total interval)."
            if r["identified"]
            else f"R squared is **not identified**: {r['reason']}."
        )
    if (a := answer.attrs["intercept"])["identified"]:
        ends = f"from {plain(a['ci_low'])} to {plain(a['ci_high'])}"
        sentences.append(
            f"Intercept {plain(a['estimate'])}, {ends}, in the units of {show.as_text(answer.attrs['response'])}."
        )
    st.markdown(" ".join(sentences))


def groups(panel: ShownRelease, palette: Palette) -> None:
    """Show the means of every column in the groups that a column makes."""
    by = panel.column("Groups by", "grouped", panel.answers().groupings)
    answer = panel.answers().group_means(by)
    unknown(answer)
    names = list(dict.fromkeys(answer["group"]))
    if " less " in names[-1]:  # two groups
        rows, label = answer[answer["group"] == names[-1]].head(_MAX_SLOPES), "column"
        rows = rescale(rows, panel.ranges[rows["column"]])
        title = f"Difference, {panel.range_unit}"
        st.markdown(f"**Means: {show.as_text(names[-1])}**")
    else:
        of = panel.column("Mean of", f"mean-of-{by}", list(dict.fromkeys(answer["column"])))
        rows, label = answer[answer["column"] == of].head(_MAX_SLOPES), "group"
        title = f"Mean of {brief(of, 16)}"
    if rows["estimate"].notna().any():
        clear = off_zero(rows) if label == "column" else rows["identified"].to_numpy()
        picture = intervals(
            [brief(name) for name in rows[label]],
            *numbers(rows),
            palette,
            clear=clear,
            x_title=title,
            what=f"Groups by {by}",
            level=panel.level,
        )
        show.picture(picture, "own-groups")
    about(answer)
    lines(panel, answer, "groups")
    _in_python(panel, f"group_means({by!r})")


def classes(panel: ShownRelease, palette: Palette) -> None:
    """Show how the means of two classes differ, and the sizes of the classes."""
    facts = panel.measurement.facts
    left, right = st.columns(2)
    with left:
        a = panel.column("Class", "class-a", facts.classes)
    with right:
        b = panel.column("Less class", "class-b", facts.classes, at=1)
    if a == b:
        st.info("Choose two different classes to compare their means.")
    else:
        answer = panel.answers().contrast(a, b)
        unknown(answer)
        rows = answer.head(_MAX_SLOPES)
        rows = rescale(rows, panel.ranges[rows["column"]])
        show.picture(
            intervals(
                list(rows["column"]),
                *numbers(rows),
                palette,
                clear=off_zero(rows),
                x_title=f"{brief(a)} less {brief(b)}, {panel.range_unit}",
                what="Difference of two classes",
                level=panel.level,
            ),
            "own-classes",
        )
        about(answer)
        lines(panel, answer, "contrast")
    shares = np.maximum(panel.answers().groups().shares, 0.0)
    sizes = pd.DataFrame({"class": [cell(c) for c in facts.classes], "share of rows": shares / shares.sum()})
    st.dataframe(sizes, hide_index=True)
