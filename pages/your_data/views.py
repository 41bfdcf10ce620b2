"""The views of a release, one function each: what is shown, how sure it is, and what that means."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import show
from pages.shell.glossary import term
from pages.shell.sliders import ends
from pages.your_data.state import keep
from privcov.bundle.opened import Opened, correlations, strongest
from privcov.bundle.safe import cell, cells, table
from privcov.figures.graphs import by_state, network
from privcov.figures.layout import positions
from privcov.figures.look import Palette, plain
from privcov.figures.matrices import colour_limit, heatmap
from privcov.figures.own import brief, intervals
from privcov.postprocess.answers import unrepaired
from privcov.postprocess.edges import EDGE, LACKED, NO_EDGE, UNDECIDED, edge_states
from privcov.postprocess.intervals import (
    Z95,
    largest_noise,
    sampling_of_correlation,
    turned,
)
from privcov.postprocess.threshold import universal_level

SHOWN = {
    "correlation": "Correlation",
    "covariance": "Covariance",
    "thresholded": "Thresholded",
    "shrunken": "Shrunken",
    "partial": "Partial correlation",
    "precision": "Precision",
}
_EXPLAINED = {
    "correlation": "How two columns move together, from -1 to 1. Negative eigenvalues of the covariance, which only "
    "noise can make, were set to zero first. How sure each one is, stands under Correlations.",
    "covariance": "Negative eigenvalues, which only noise can make, are set to zero.",
    "thresholded": "Only the pairs that pure noise would not explain, among all pairs at once.",
    "shrunken": "Everything off the diagonal pulled towards zero by the share that noise has in it.",
    "partial": "What is left between two columns when all others are held fixed.",
    "precision": "The inverse; eigenvalues below the noise are raised before it is taken.",
}
_PAIRS = 15
_EDGE_COPIES = 40
_MOST_DASHES, _EDGES_NAMED = 60, 30


def rng_of_views() -> np.random.Generator:
    """For simulated intervals around what is already public; the same picture each time."""
    return np.random.default_rng(0)


def kept_of(opened: Opened, name: str, make):
    """Simulations of the open release, kept in this session."""
    kept = st.session_state.setdefault("own-kept", {})
    key = (id(opened), name)
    if key not in kept:
        if len(kept) > 20:
            kept.clear()
        with st.spinner("Drawing the noise again, many times ..."):
            kept[key] = make()
    return kept[key]


def matrices(opened: Opened, palette: Palette) -> None:
    """The released matrices as pictures."""
    which = st.segmented_control(
        "Matrix", list(SHOWN), required=True, format_func=SHOWN.get, **keep("matrix", "correlation", told="default")
    )
    matrix = getattr(opened.answers, which)
    scale = opened.total.facts.scale
    working = matrix if which in ("correlation", "partial") else matrix / np.outer(scale, scale)
    if which == "precision":
        working = matrix * np.outer(scale, scale)
    limit = colour_limit(working)
    left, right = st.columns([3, 2], gap="large")
    with left:
        show.picture(heatmap(working, opened.columns, limit, palette, what=f"released {which}"), f"square-own-{which}")
        unit = which if which in ("correlation", "partial") else f"{which}, columns in units of their half-range"
        show.colour_key(limit, palette, unit, "stronger values, as on the diagonal, have the last colour")
    with right:
        st.markdown(_EXPLAINED[which])
        if which in ("covariance", "thresholded", "shrunken"):
            noise = opened.answers.noise_std / np.outer(scale, scale)
            off = noise[~np.eye(len(noise), dtype=bool)]
            typical = float(np.median(off)) if len(off) else float(noise[0, 0])
            st.markdown(f"Privacy noise on an entry: {plain(typical)} (deviation, half-range units).")
            kept = int(np.count_nonzero(np.triu(opened.answers.thresholded, 1)))
            st.markdown(f"Pairs beyond what noise explains: **{kept}** of {len(noise) * (len(noise) - 1) // 2}.")
        if which in ("partial", "precision"):
            st.markdown(f"Eigenvalues of the correlation below {plain(opened.answers.floor)} were raised to it.")
        units = "" if which in ("correlation", "partial") else ", in the columns' own units"
        st.caption(f"Point at a cell for its two columns. The numbers{units}:")
        names = cells(opened.columns)
        lines = pd.DataFrame(matrix, index=pd.Index(names, name="column"), columns=names)
        number = st.column_config.NumberColumn(format="%.3g")
        st.dataframe(lines, height=min(35 * (len(names) + 1) + 3, 320), column_config=dict.fromkeys(names, number))
        text = table(matrix, opened.columns, opened.columns, corner=which)
        show.download(f"{SHOWN[which]} as CSV", lambda: text, f"{which}.csv", f"own-csv-{which}")


def pairs(opened: Opened, palette: Palette) -> None:
    """Every correlation with its two intervals."""
    if len(opened.columns) < 2:
        st.info("A single column has no correlation.")
        return
    low, high = kept_of(opened, "pairs", lambda: correlations(opened, rng_of_views()))
    corr = opened.answers.correlation
    below, above = sampling_of_correlation(corr, opened.measured.rows)
    chosen = strongest(corr, _PAIRS)
    at = tuple(np.array(chosen).T)
    names = [f"{brief(opened.columns[i])} and {brief(opened.columns[j])}" for i, j in chosen]
    show.picture(
        intervals(
            names,
            corr[at],
            low[at],
            high[at],
            palette,
            x_title="Correlation",
            what="The strongest correlations",
            second=(below[at], above[at]),
        ),
        "own-pairs",
    )
    st.caption(
        f"{term('privacy-noise-interval', 'Privacy-noise interval')}: where the correlation of these very rows may be, "
        f"before any noise. {term('sampling-interval', 'Sampling interval')}: where that of the population may be, "
        "were there no noise. Neither contains the other. Both are drawn around the unrepaired matrix, so a repaired "
        "value may lie at their edge."
    )
    lines = [
        (cell(opened.columns[i]), cell(opened.columns[j]), corr[i, j], low[i, j], high[i, j], below[i, j], above[i, j])
        for i, j in strongest(corr, 10**6)
    ]
    head = ["column", "other", "correlation", "noise low", "noise high", "sampling low", "sampling high"]
    text = pd.DataFrame(lines, columns=head).to_csv(index=False)
    show.download("All pairs as CSV", lambda: text, "correlations.csv", "own-csv-pairs")


def spectrum(opened: Opened, palette: Palette) -> None:
    """Released eigenvalues, and how far the privacy noise can move them."""
    values = opened.answers.eigenvalues
    noise = kept_of(
        opened, "noise", lambda: largest_noise(opened.noisy, opened.measured.law.draw, rng_of_views(), draws=100)
    )
    shown = min(len(values), 20)
    half = Z95 * np.sqrt(2 / opened.measured.rows) * values[:shown]
    show.picture(
        intervals(
            [f"axis {k + 1}" for k in range(shown)],
            values[:shown],
            np.maximum(values[:shown] - noise, 0.0),
            values[:shown] + noise,
            palette,
            x_title="Eigenvalue of the covariance (half-range units)",
            what="Spectrum",
            second=(np.maximum(values[:shown] - half, 0.0), values[:shown] + half),
        ),
        "own-spectrum",
    )
    total = float(values.sum())
    angle = turned(values, noise)
    st.markdown(
        f"The first axis holds {values[0] / total:.0%} of the variance. "
        + (
            f"Privacy noise turns it by at most {angle:.0f} degrees (95 %)."
            if angle < 90
            else "At this guarantee the noise may have turned it anywhere: do not read its loadings."
        )
        if total > 0
        else "No variance is left above the noise."
    )
    st.caption(
        f"With a chance of 95 % no eigenvalue is moved by more than {plain(noise)}: a bound on all of them at once, so "
        "the privacy-noise intervals of the smaller ones are wide. The sampling interval is that of one eigenvalue "
        "alone."
    )
    first = opened.answers.loadings[:, : min(3, shown)]
    lines = pd.DataFrame(first, columns=[f"axis {k + 1}" for k in range(first.shape[1])])
    lines.insert(0, "column", cells(opened.columns))
    st.dataframe(lines, hide_index=True, height=min(35 * (len(lines) + 1) + 3, 320))


def graph(opened: Opened, palette: Palette) -> None:
    """The graph of the release, each pair by the share of redraws that link it."""
    d = len(opened.columns)
    if d < 2:
        st.info("A single column has no graph.")
        return
    here = unrepaired(opened.noisy)
    spread = np.sqrt(np.maximum(np.diag(here), opened.noisy.diagonal_std * opened.noisy.row_bound**2))
    units = np.outer(spread, spread)
    typical = float(np.median(opened.answers.noise_std / np.outer(opened.noisy.scale, opened.noisy.scale) / units))
    reach = universal_level(d) * typical
    start = float(np.clip(round(reach, 2), 0.02, 0.9))
    lam = st.slider("Penalty lambda (on the correlation scale)", 0.01, 0.95, step=0.01, **keep("lambda", start))
    ends("more edges", "fewer edges")
    st.caption(
        f"From {plain(reach)} on, pure noise alone makes hardly any edge."
        if reach < 0.9
        else "At this guarantee pure noise reaches every lambda: little will be decided."
    )
    if not st.button("Draw the graph", key="own-graph", type="primary") and ("own-graph-at" not in st.session_state):
        return
    st.session_state["own-graph-at"] = True

    def moved(rng: np.random.Generator) -> np.ndarray:
        other = opened.noisy.with_matrix(opened.noisy.matrix + opened.measured.law.draw(rng))
        return (unrepaired(other) - here) / units

    with st.spinner("Solving with the noise drawn anew ..."):
        states = kept_of(
            opened,
            f"graph {lam}",
            lambda: edge_states(here / units, moved, lam, rng=rng_of_views(), copies=_EDGE_COPIES),
        )
    edges, undecided, none = states.counts
    drawn, rest = states.state, f"{none} pairs are linked in at most 5 %."
    if undecided > _MOST_DASHES:  # a ball of wool says nothing
        drawn = np.where(states.state == UNDECIDED, NO_EDGE, states.state)
        rest += f" {undecided} undecided pairs are not drawn."
    show.picture(
        network(
            by_state(drawn),
            positions(states.state == EDGE, d),
            opened.columns,
            palette,
            strength=opened.answers.partial,
            rest=rest,
            height=520,
        ),
        "own-network",
    )
    st.markdown(
        f"**{edges}** pairs linked in at least 95 % of {_EDGE_COPIES} redraws of the noise, **{none}** in at most 5 %; "
        f"**{undecided}** pairs are **undecided** at this guarantee"
        + (" and not drawn, being so many" if undecided > _MOST_DASHES else "")
        + ". About the privacy noise only."
    )
    st.caption(LACKED)
    i, j = np.triu_indices(d, 1)
    found = [
        f"{opened.columns[a]} and {opened.columns[b]}" for a, b in zip(i, j, strict=True) if states.state[a, b] == EDGE
    ]
    if found:
        more = f", and {len(found) - _EDGES_NAMED} more" if len(found) > _EDGES_NAMED else ""
        st.markdown(show.as_text(f"Linked in at least 95 % of the redraws: {'; '.join(found[:_EDGES_NAMED])}{more}."))
    words = {EDGE: "linked in at least 95 %", UNDECIDED: "undecided", NO_EDGE: "linked in at most 5 %"}
    lines = pd.DataFrame(
        {
            "column": [cell(opened.columns[a]) for a in i],
            "other": [cell(opened.columns[b]) for b in j],
            "state": [words[int(s)] for s in states.state[i, j]],
            "share of redraws that link the pair": states.share[i, j],
        }
    )
    show.download("Edges as CSV", lambda: lines.to_csv(index=False), "edges.csv", "own-csv-edges")
