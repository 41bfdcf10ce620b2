"""Step 4: everything that follows from a stored release. No row is read, so every view is free."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import streamlit as st

from pages.shell import frame, show
from pages.shell.fields import ends
from pages.shell.glossary import term
from pages.your_data import take_home
from pages.your_data.state import keep, open_ledger, own
from privcov.bundle.opened import Opened, correlations, open_answer, strongest
from privcov.bundle.safe import cell, cells, table
from privcov.figures.graphs import by_state, network, positions
from privcov.figures.matrices import colour_limit, heatmap
from privcov.figures.own import brief, intervals
from privcov.figures.palette import Palette
from privcov.figures.words import plain, raised
from privcov.ledger import Entry, Ledger
from privcov.measurements.exact_reading import read_sum
from privcov.measurements.exposed import REMEDY
from privcov.postprocess.answers import derive, regress, unrepaired
from privcov.postprocess.discriminant import discriminant
from privcov.postprocess.edges import EDGE, LACKED, NO_EDGE, UNDECIDED, edge_states
from privcov.postprocess.intervals import (
    Z95,
    largest_noise,
    privacy_noise,
    sampling_of_correlation,
    sampling_of_slopes,
    turned,
)
from privcov.postprocess.synthetic import MOST_CELLS, synthetic_rows
from privcov.postprocess.threshold import universal_level
from privcov.privacy import from_dict

VIEWS = {
    "matrices": "Matrices",
    "pairs": "Correlations",
    "spectrum": "Spectrum and PCA",
    "graph": "Graph",
    "regression": "Regression",
    "classes": "Classes",
    "synthetic": "Synthetic table",
    "home": "Take home",
}


def section() -> None:
    """Show Answers: an old release of the ledger or the new one, and everything that follows from it."""
    mine, ledger = own(), open_ledger()
    stored = [e for e in ledger.entries() if e.state == "stored"]
    if not stored:
        st.info("There is no release in the ledger yet. An old release opens here without its file.")
        return
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    with left:
        entry = _pick(stored)
    if entry is None:
        return
    opened, declaration = _open(ledger, entry), _declaration(entry)
    with right:
        take_home.bundle(opened, entry, declaration)
    facts = opened.total.facts
    counted, noisy = facts.neighbours.counted, f"about {opened.measured.rows:,.0f}"
    rows = f"{noisy} {counted} (a noisy count)" if facts.n is None else f"{facts.n:,} {counted}"
    given = "guarantee not established" if opened.release.exposed else raised(str(opened.release.given))
    show.tag("Released", f"{entry.name}: {rows}, {facts.d} columns, {given}")
    if opened.release.exposed:
        st.error(show.as_text(f"Guarantee: {opened.release.statement['Guarantee']}. {REMEDY}"))
    measured = "one noisy measurement" if opened.total.norms is None else "two noisy measurements"
    st.caption(f"All of it comes from {measured}. Looking at it is free.")
    offered = [v for v in VIEWS if v != "classes" or len(facts.classes) > 1]
    if mine.kept.get("answer") not in (None, *offered):
        mine.kept["answer"] = offered[0]
        st.session_state.pop(f"own-answer-{mine.file_id}-{mine.turn}", None)
    view = st.segmented_control(
        "View",
        offered,
        required=True,
        format_func=VIEWS.__getitem__,
        label_visibility="collapsed",
        **keep("answer", "matrices", argument="default"),
    )
    with show.problems():
        if view == "home":
            take_home.section(opened, entry, declaration, ledger.answer(entry.token) or "")
        else:
            _DRAWN[view](opened, frame.palette())


def _pick(stored: list[Entry]) -> Entry | None:
    """Return the release to show: the one just made, or the newest.

    Where a table is declared it is the newest of that table; one of another table is shown only when it is chosen.
    """
    declared = own().declared
    by_token = {e.token: e for e in stored[::-1]}
    labels = {
        token: f"{e.number}: {e.name}, {from_dict(e.request['guarantee'])}, {e.reserved_at[:16].replace('T', ' ')} UTC"
        for token, e in by_token.items()
    }
    mine = [token for token, e in by_token.items() if declared is None or e.name == declared.name]
    first = own().released if own().released in mine else next(iter(mine), None)
    table = "" if declared is None else declared.name
    key = f"own-stored-{own().released}-{table}"
    if st.session_state.get(key) not in by_token:
        st.session_state[key] = first
    if first is None and declared is not None:
        st.info(show.as_text(f"{declared.name!r} has no release in the ledger yet. Those below are of other tables."))
    picked = st.selectbox(
        "Release", list(by_token), format_func=labels.__getitem__, key=key, placeholder="Choose a release"
    )
    return None if picked is None else by_token[picked]


def _open(ledger: Ledger, entry: Entry) -> Opened:
    """Return the opened release, read once from the ledger."""
    kept = st.session_state.get("own-opened")
    if kept is None or kept[0] != entry.token:
        text = ledger.answer(entry.token)
        assert text is not None  # only stored releases are offered, and the ledger deletes none
        kept = (entry.token, open_answer(text))
        st.session_state["own-opened"] = kept
        st.session_state.pop("own-kept", None)  # simulated around another release
    return kept[1]


def _declaration(entry: Entry) -> dict | None:
    """Return the declaration of this session, where it is that of the release."""
    declared = own().declared
    if declared is None or declared.name != entry.name:
        return None
    same = [c.name for c in declared.columns] == entry.request["facts"]["columns"]
    return json.loads(declared.to_json()) if same else None


# --- one function per view: the result, its uncertainty, and what both mean ----------------------------------


SHOWN = {
    "correlation": "Correlation",
    "covariance": "Covariance",
    "thresholded": "Thresholded",
    "shrunken": "Shrunken",
    "partial": "Partial correlation",
    "precision": "Precision",
}
_EXPLAINED = {
    "correlation": (
        "How two columns move together, from -1 to 1. Negative eigenvalues, made by noise alone, are set to zero. "
        "Correlations has the intervals."
    ),
    "covariance": "Negative eigenvalues, which only noise can make, are set to zero.",
    "thresholded": "Only the pairs that pure noise would not explain, among all pairs at once.",
    "shrunken": "Off-diagonal entries, pulled towards zero by the share of noise in them.",
    "partial": "What is left between two columns when all others are fixed.",
    "precision": "The inverse; eigenvalues below the noise are raised before it is taken.",
}
_PAIRS = 15
_EDGE_COPIES = 40
_MOST_DASHES, _EDGES_NAMED = 60, 30


def _rng_of_views() -> np.random.Generator:
    """Return the generator for simulated intervals around public results; the same picture each time."""
    return np.random.default_rng(0)


def _kept_of(opened: Opened, name: str, make):
    """Return simulations of the open release, kept in this session."""
    kept = st.session_state.setdefault("own-kept", {})
    key = (id(opened), name)
    if key not in kept:
        if len(kept) > 20:
            kept.clear()
        with st.spinner("Drawing the noise again, many times ..."):
            kept[key] = make()
    return kept[key]


def _matrices(opened: Opened, palette: Palette) -> None:
    """Show the released matrices as pictures."""
    which = st.segmented_control(
        "Matrix",
        list(SHOWN),
        required=True,
        format_func=SHOWN.__getitem__,
        **keep("matrix", "correlation", argument="default"),
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
        show.colour_note(unit, "Values beyond the scale, as on the diagonal, have the colour of its end.")
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


def _pairs(opened: Opened, palette: Palette) -> None:
    """Show every correlation with its two intervals."""
    if len(opened.columns) < 2:
        st.info("A single column has no correlation.")
        return
    low, high = _kept_of(opened, "pairs", lambda: correlations(opened, _rng_of_views()))
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
    with st.expander("How to read"):
        st.markdown(
            f"{term('privacy-noise-interval', 'Privacy-noise interval')}: where the correlation of these rows may be. "
            f"{term('sampling-interval', 'Sampling interval')}: where that of the population may be, were there no "
            "noise. Neither contains the other. A repaired value may lie at their edge."
        )
    lines = [
        (cell(opened.columns[i]), cell(opened.columns[j]), corr[i, j], low[i, j], high[i, j], below[i, j], above[i, j])
        for i, j in strongest(corr, 10**6)
    ]
    head = ["column", "other", "correlation", "noise low", "noise high", "sampling low", "sampling high"]
    text = pd.DataFrame(lines, columns=head).to_csv(index=False)
    show.download("All pairs as CSV", lambda: text, "correlations.csv", "own-csv-pairs")


def _spectrum(opened: Opened, palette: Palette) -> None:
    """Show the released eigenvalues, and how far the privacy noise can move them."""
    values = opened.answers.eigenvalues
    noise = _kept_of(
        opened,
        "noise",
        lambda: largest_noise(opened.noisy, opened.measured.distribution.draw, _rng_of_views(), draws=100),
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
        f"The first axis holds {show.percent(values[0] / total)} of the variance. "
        + (
            f"Privacy noise turns it by at most {angle:.0f} degrees (95 %)."
            if angle < 90
            else "The noise may have turned it anywhere: do not read its loadings."
        )
        if total > 0
        else "No variance is left above the noise."
    )
    with st.expander("How to read"):
        st.markdown(
            "Privacy-noise intervals hold for all eigenvalues at once: with a chance of 95 % none is moved by more "
            f"than {plain(noise)}. A sampling interval is that of one alone."
        )
    first = opened.answers.loadings[:, : min(3, shown)]
    lines = pd.DataFrame(first, columns=[f"axis {k + 1}" for k in range(first.shape[1])])
    lines.insert(0, "column", cells(opened.columns))
    st.dataframe(lines, hide_index=True, height=min(35 * (len(lines) + 1) + 3, 320))


def _graph(opened: Opened, palette: Palette) -> None:
    """Show the graph of the release, each pair by the share of redraws that link it."""
    d = len(opened.columns)
    if d < 2:
        st.info("A single column has no graph.")
        return
    here = np.nan_to_num(unrepaired(opened.noisy))  # a pair that too few rows have is no edge
    spread = np.sqrt(np.maximum(np.diag(here), opened.noisy.diagonal_std * opened.noisy.row_bound**2))
    units = np.outer(spread, spread)
    typical = float(np.nanmedian(opened.answers.noise_std / np.outer(opened.noisy.scale, opened.noisy.scale) / units))
    reach = universal_level(d) * typical
    start = float(np.clip(round(reach, 2), 0.02, 0.9))
    lam = st.slider("Penalty lambda (on the correlation scale)", 0.01, 0.95, step=0.01, **keep("lambda", start))
    ends("more edges", "fewer edges")
    st.caption(
        f"From {plain(reach)} on, pure noise alone makes hardly any edge."
        if reach < 0.9
        else "Pure noise reaches every lambda here: little will be decided."
    )
    if not st.button("Draw the graph", key="own-graph", type="primary") and ("own-graph-at" not in st.session_state):
        return
    st.session_state["own-graph-at"] = True

    def moved(rng: np.random.Generator) -> np.ndarray:
        other = opened.noisy.with_matrix(opened.noisy.matrix + opened.measured.distribution.draw(rng))
        return (unrepaired(other) - here) / units

    with st.spinner("Solving with the noise drawn anew ..."):
        states = _kept_of(
            opened,
            f"graph {lam}",
            lambda: edge_states(here / units, moved, lam, rng=_rng_of_views(), copies=_EDGE_COPIES),
        )
    edges, undecided, none = states.counts
    drawn, rest = states.state, f"{none} pairs are linked in at most 5 %."
    if undecided > _MOST_DASHES:  # too many lines to read
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
    with st.expander("How to read"):
        st.markdown(LACKED)
    i, j = np.triu_indices(d, 1)
    linked = [
        f"{opened.columns[a]} and {opened.columns[b]}" for a, b in zip(i, j, strict=True) if states.state[a, b] == EDGE
    ]
    if linked:
        more = f", and {len(linked) - _EDGES_NAMED} more" if len(linked) > _EDGES_NAMED else ""
        st.markdown(show.as_text(f"Linked in at least 95 % of the redraws: {'; '.join(linked[:_EDGES_NAMED])}{more}."))
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


# --- models: regression, a discriminant rule, a synthetic table ----------------------------------------------


def _regression(opened: Opened, palette: Palette) -> None:
    """Show the linear regression of one column on the others, from the release."""
    d = len(opened.columns)
    if d < 2:
        st.info("A regression needs at least two columns.")
        return
    target = st.selectbox(
        "Explain", range(d), format_func=lambda j: opened.columns[j], **keep("target", 0, among=range(d))
    )
    target = min(int(target), d - 1)
    fit = regress(opened.answers, target)
    low, high = _kept_of(
        opened,
        f"regression {target}",
        lambda: privacy_noise(
            opened.noisy,
            opened.measured.distribution.draw,
            lambda other: regress(derive(other), target).slopes,
            _rng_of_views(),
            draws=100 if d <= 60 else 40,
        ),
    )
    slope_std = sampling_of_slopes(opened.answers, target, opened.measured.rows)
    unit = np.sqrt(np.diag(opened.answers.regular))
    size = unit / unit[target]
    order = [j for j in np.argsort(-np.abs(fit.slopes * size)) if j != target][:20]
    show.picture(
        intervals(
            [opened.columns[j] for j in order],
            (fit.slopes * size)[order],
            (low * size)[order],
            (high * size)[order],
            palette,
            x_title=f"Slope, in deviations of {brief(opened.columns[target])} per deviation of the column",
            what=f"Regression of {opened.columns[target]}",
            second=tuple(((fit.slopes + sign * Z95 * slope_std) * size)[order] for sign in (-1, 1)),
        ),
        "own-regression",
    )
    st.markdown(
        f"R squared {fit.r_squared:.2f}; residual deviation {plain(np.sqrt(fit.residual))}"
        + ("" if fit.intercept is None else f"; intercept {plain(fit.intercept)}")
        + ". Slopes are pulled towards zero where the noise is large."
    )
    st.caption("Privacy-noise intervals for slopes are approximate: in strong noise they cover about 80 %, not 95 %.")
    text = table(
        np.column_stack([fit.slopes, low, high, slope_std]),
        ("slope", "noise low", "noise high", "sampling deviation"),
        opened.columns,
        corner=f"on {opened.columns[target]}",
    )
    show.download("Slopes as CSV", lambda: text, "regression.csv", "own-csv-regression")


def _classes(opened: Opened, palette: Palette) -> None:
    """Show class sizes, class means and the linear discriminant rule, from the release."""
    facts = opened.total.facts
    k = len(facts.classes)
    measured = read_sum(opened.total, "classes")

    def rule(matrix: np.ndarray):
        return discriminant(matrix, k, facts.row_bound, facts.scale, facts.origin, opened.answers.floor)

    fitted, rng = rule(measured.matrix), _rng_of_views()
    draws = _kept_of(
        opened, "classes", lambda: [rule(measured.matrix + measured.distribution.draw(rng)) for _ in range(100)]
    )
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
            fitted.means[:, column],
            low,
            high,
            palette,
            x_title=f"Mean of {brief(facts.columns[column])}",
            what=f"Class means of {facts.columns[column]}",
        ),
        "own-classes",
    )
    st.caption("Class means with their privacy-noise interval, wide for a class of few rows.")
    lines = pd.DataFrame({"class": [cell(c) for c in facts.classes], "share of rows": fitted.shares})
    st.dataframe(lines, hide_index=True)
    st.markdown("**Linear discriminant rule.** The largest score wins: constant plus slopes times the row.")
    scores = np.column_stack([fitted.constants, fitted.slopes])
    shown = pd.DataFrame(
        scores, index=pd.Index(cells(facts.classes), name="class"), columns=cells(("constant", *facts.columns))
    )
    number = st.column_config.NumberColumn(format="%.4g")
    st.dataframe(shown, column_config=dict.fromkeys(shown.columns, number))
    text = table(scores, ("constant", *facts.columns), facts.classes, corner="class")
    show.download("Discriminant rule as CSV", lambda: text, "discriminant.csv", "own-csv-classes")


def _synthetic(opened: Opened, palette: Palette) -> None:
    """Show invented rows with the released mean and covariance."""
    facts = opened.total.facts
    st.markdown(
        "Invented rows with the released mean and covariance, inside the public bounds. They carry nothing else: no "
        "skewness, no categories, no rare cases."
    )
    rows = st.number_input("Number of rows", 1, MOST_CELLS // facts.d, step=100, **keep("synthetic", 1000))
    whole = st.multiselect(
        "Whole numbers only in",
        range(facts.d),
        format_func=lambda j: facts.columns[j],
        **keep("whole", [], argument="default"),
    )
    bounds = facts.bounds

    def as_csv() -> str:
        invented = synthetic_rows(opened.answers, int(rows), np.random.default_rng(), bounds=bounds, whole=tuple(whole))
        return pd.DataFrame(invented, columns=cells(facts.columns)).to_csv(index=False, float_format="%.7g")

    show.download("Synthetic table as CSV", as_csv, "synthetic.csv", "own-csv-synthetic")
    some = synthetic_rows(opened.answers, 5, _rng_of_views(), bounds=bounds, whole=tuple(whole))
    st.dataframe(pd.DataFrame(some, columns=cells(facts.columns)).round(4), hide_index=True)


_DRAWN = {
    "matrices": _matrices,
    "pairs": _pairs,
    "spectrum": _spectrum,
    "graph": _graph,
    "regression": _regression,
    "classes": _classes,
    "synthetic": _synthetic,
}
