"""Models made from a release: regression, a discriminant rule, a synthetic table. All free."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import show
from pages.your_data.state import keep
from pages.your_data.views import kept_of, rng_of_views
from privcov.bundle.opened import Opened
from privcov.bundle.safe import cell, cells, table
from privcov.figures.look import Palette, plain
from privcov.figures.own import brief, intervals
from privcov.measurements.exact_reading import read_sum
from privcov.postprocess.answers import derive, regress
from privcov.postprocess.discriminant import discriminant
from privcov.postprocess.intervals import Z95, privacy_noise, sampling_of_slopes
from privcov.postprocess.synthetic import MOST_CELLS, synthetic_rows


def regression(opened: Opened, palette: Palette) -> None:
    """Linear regression of one column on the others, from the release."""
    d = len(opened.columns)
    if d < 2:
        st.info("A regression needs at least two columns.")
        return
    target = st.selectbox(
        "Explain", range(d), format_func=lambda j: opened.columns[j], **keep("target", 0, among=range(d))
    )
    target = min(int(target), d - 1)
    found = regress(opened.answers, target)
    low, high = kept_of(
        opened,
        f"regression {target}",
        lambda: privacy_noise(
            opened.noisy,
            opened.measured.law.draw,
            lambda other: regress(derive(other), target).slopes,
            rng_of_views(),
            draws=100 if d <= 60 else 40,
        ),
    )
    deviation = sampling_of_slopes(opened.answers, target, opened.measured.rows)
    unit = np.sqrt(np.diag(opened.answers.regular))
    size = unit / unit[target]
    order = [j for j in np.argsort(-np.abs(found.slopes * size)) if j != target][:20]
    show.picture(
        intervals(
            [opened.columns[j] for j in order],
            (found.slopes * size)[order],
            (low * size)[order],
            (high * size)[order],
            palette,
            x_title=f"Slope, in deviations of {brief(opened.columns[target])} per deviation of the column",
            what=f"Regression of {opened.columns[target]}",
            second=tuple(((found.slopes + sign * Z95 * deviation) * size)[order] for sign in (-1, 1)),
        ),
        "own-regression",
    )
    st.markdown(
        f"R squared {found.r_squared:.2f}; residual deviation {plain(np.sqrt(found.residual))}"
        + ("" if found.intercept is None else f"; intercept {plain(found.intercept)}")
        + ". Slopes are pulled towards zero where the noise is large."
    )
    st.caption(
        "Simulated privacy-noise intervals for slopes are approximate: in strong noise they cover about 80 % of the "
        "time, not 95 %. The sampling interval says nothing about the noise."
    )
    text = table(
        np.column_stack([found.slopes, low, high, deviation]),
        ("slope", "noise low", "noise high", "sampling deviation"),
        opened.columns,
        corner=f"on {opened.columns[target]}",
    )
    show.download("Slopes as CSV", lambda: text, "regression.csv", "own-csv-regression")


def classes(opened: Opened, palette: Palette) -> None:
    """Class sizes, class means and the linear discriminant rule, from the release."""
    facts = opened.total.facts
    k = len(facts.classes)
    measured = read_sum(opened.total, "classes")

    def rule(matrix: np.ndarray):
        return discriminant(matrix, k, facts.row_bound, facts.scale, facts.origin, opened.answers.floor)

    found, rng = rule(measured.matrix), rng_of_views()
    draws = kept_of(opened, "classes", lambda: [rule(measured.matrix + measured.law.draw(rng)) for _ in range(100)])
    column = st.selectbox(
        "Column",
        range(facts.d),
        format_func=lambda j: facts.columns[j],
        **keep("class-column", 0, among=range(facts.d)),
    )
    column = min(int(column), facts.d - 1)
    low, high = np.quantile([d.means[:, column] for d in draws], [0.025, 0.975], axis=0)
    show.picture(
        intervals(
            list(facts.classes),
            found.means[:, column],
            low,
            high,
            palette,
            x_title=f"Mean of {brief(facts.columns[column])}",
            what=f"Class means of {facts.columns[column]}",
        ),
        "own-classes",
    )
    st.caption("Class means with their privacy-noise interval. A class of few rows has a wide one.")
    lines = pd.DataFrame({"class": [cell(c) for c in facts.classes], "share of rows": found.shares})
    st.dataframe(lines, hide_index=True)
    st.markdown("**Linear discriminant rule.** The class with the largest score: constant plus slopes times the row.")
    scores = np.column_stack([found.constants, found.slopes])
    shown = pd.DataFrame(
        scores, index=pd.Index(cells(facts.classes), name="class"), columns=cells(("constant", *facts.columns))
    )
    number = st.column_config.NumberColumn(format="%.4g")
    st.dataframe(shown, column_config=dict.fromkeys(shown.columns, number))
    text = table(scores, ("constant", *facts.columns), facts.classes, corner="class")
    show.download("Discriminant rule as CSV", lambda: text, "discriminant.csv", "own-csv-classes")


def synthetic(opened: Opened, palette: Palette) -> None:
    """Invented rows with the released mean and covariance."""
    facts = opened.total.facts
    st.markdown(
        "Invented rows with the released mean and covariance, inside the public bounds: nobody's, any number, free. "
        "They carry what the release carries and nothing else: no skewness, no categories, no rare cases."
    )
    rows = st.number_input("Number of rows", 1, MOST_CELLS // facts.d, step=100, **keep("synthetic", 1000))
    whole = st.multiselect(
        "Whole numbers only in",
        range(facts.d),
        format_func=lambda j: facts.columns[j],
        **keep("whole", [], told="default"),
    )
    bounds = facts.bounds

    def made() -> str:
        found = synthetic_rows(opened.answers, int(rows), np.random.default_rng(), bounds=bounds, whole=tuple(whole))
        return pd.DataFrame(found, columns=cells(facts.columns)).to_csv(index=False, float_format="%.7g")

    show.download("Synthetic table as CSV", made, "synthetic.csv", "own-csv-synthetic")
    some = synthetic_rows(opened.answers, 5, rng_of_views(), bounds=bounds, whole=tuple(whole))
    st.dataframe(pd.DataFrame(some, columns=cells(facts.columns)).round(4), hide_index=True)
