"""The network with its lambda slider and the open tab, in one fragment: the slider computes nothing again."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.common import address, frame, show, study_results
from pages.common import script as python_script
from pages.common.fields import ends
from pages.common.glossary import term
from pages.common.study import CSV, SOUND, Study
from pages.graphs import settings
from privcov.core.words import plain
from privcov.estimators.base import METHODS
from privcov.metrics.errors import without_noise
from privcov.metrics.graphs import (
    Rates,
    Recovery,
    auc,
    check_reference,
    compare,
    edges,
    partial_correlations,
    path_rates,
    tested_states,
)
from privcov.plots.graphs import EXACT, OWN, against_reference, by_state, network, point_at, positions, roc
from privcov.plots.look import pen_of
from privcov.postprocess.edge_test import EDGE, NO_EDGE, SLIGHT, UNDECIDED
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

_USEFUL, _ROUGH = 0.7, 0.3  # F1 score of the drawn edges
SETTING_NAMES = ("view", "lambda", "reference")
AGAINST, OWNER = "Against the graph", "As an owner sees it"
_SOURCE = ("fit.precision", "rel.precision")  # in a script: of a network on the path, and of the tested one


@st.fragment
def show_all(study: Study, data: Dataset, rel: Release, reference: settings.Reference) -> None:
    """Show the network and its tabs."""
    if frame.changed():
        st.rerun()  # a button here set another study, and a fragment alone would show the old one
    left, right = st.columns(2, gap="large")
    with left:
        picture = st.container()
        view = AGAINST if reference.graph is not None else OWNER
        if reference.graph is not None:
            view = address.bind_widget(
                st.segmented_control, "View", [AGAINST, OWNER], name="view", default=AGAINST, key="graph.view",
                quiet=True, width="stretch", label_visibility="collapsed",
            )  # fmt: skip
        at = _slider(study, rel)
        words = st.container()
        with picture:
            here = _network(study, data, rel, reference, at, view, words)
        with st.expander("What the method did"):
            for text in rel.notes:
                st.caption(show.as_text(text))
            for title, text in rel.statement.lines:
                st.caption(show.as_text(f"{title}: {text}"))
    with right:
        section(study, data, rel, reference, here)
    with st.expander("The same in Python: this network"):
        st.code(_network_script(study, data, at, reference, settings.SOURCE), language="python")


def _slider(study: Study, rel: Release) -> int:
    """Show the lambda slider and return its position; only lambdas with a graph are offered, and the tested edges."""
    path = settings.path_of(rel)
    solved = [i for i, fit in enumerate(path) if fit.precision is not None]
    precision = rel.precision
    default = next((i for i in solved if np.array_equal(settings.graph_at(rel, i), precision)), solved[0])
    if settings.is_tested(rel):
        default, solved = settings.TESTED, [settings.TESTED, *solved]
    rule = rel.parameters.get("rule", "") if rel.parameters["tuning"] == "released" else ""
    word = f"chosen: {rule}" if rule and rel.parameters["calibration"] == "sound" else "chosen"
    if len(solved) == 1:
        st.caption(f"One lambda has a graph: {plain(path[default].lam)}.")
        return default
    at = address.bind_widget(
        st.select_slider,
        "Penalty lambda",
        solved,
        name="lambda",
        default=default,
        code=_position(rel, solved, visitors=study_results.is_uploaded(study, settings.SOURCE)),
        quiet=True,
        key=f"lambda-{hash((study, len(solved), default)) & 0xFFFFFFFF:x}",
        format_func=lambda i: (
            "edge test" if i == settings.TESTED else plain(path[i].lam) + (f" ({word})" if i == default else "")
        ),
        help=f"Of the {term('lambda', 'graphical lasso')}: no new noise, no privacy cost."
        + (" At the left end: the edges that pass a test, which need no lambda." if settings.is_tested(rel) else ""),
    )
    ends("tested edges; then few" if settings.is_tested(rel) else "fewer edges", "more edges")
    infeasible = sum(fit.status == "infeasible" for fit in path)
    n_unsolved = sum(fit.precision is None for fit in path) - infeasible
    if infeasible:
        st.caption(f"{infeasible} of {len(path)} lambdas left out: no solution. Choose a repair of the noisy matrix.")
    if n_unsolved:
        st.caption(f"{n_unsolved} of {len(path)} lambdas left out: the solver did not converge.")
    if at != settings.TESTED and path[at].status == "not converged":
        st.caption(f"The solver stopped at a gap of {path[at].gap:.1g} nats per variable.")
    return at


def _position(rel: Release, solved: list[int], *, visitors: bool) -> address.Code:
    """Return the code between a position on the path and its text in the address.

    The text is the lambda, because on another path the same position is another network. A lambda is computed from the
    rows, so for ``visitors``, the rows of a visitor's file, it is the position alone.
    """
    path = settings.path_of(rel)
    texts = {i: "tested" if i == settings.TESTED else str(i) if visitors else f"{path[i].lam:.6g}" for i in solved}
    positions_by_text = {text: i for i, text in texts.items()}

    def read(text: str) -> int:
        if text not in positions_by_text:
            raise ValueError("The path of this study has no such lambda.")
        return positions_by_text[text]

    return address.Code(read, texts.__getitem__)


def _network(study: Study, data: Dataset, rel: Release, reference: settings.Reference, at: int, view: str, words):
    """Show the network; return (fpr, tpr) against the reference, or None without one."""
    precision = settings.graph_at(rel, at)
    adjacency = edges(precision)
    place = positions(reference.graph, data.d)
    strength = partial_correlations(precision)
    if view == OWNER or reference.graph is None:
        _owner(data, rel, at, adjacency, place, strength, words)
    else:
        counts = compare(adjacency, reference.graph)
        show.picture(
            network(
                against_reference(adjacency, reference.graph), place, data.columns, frame.palette(), strength=strength,
                height=480,
            ),
            "network",
        )  # fmt: skip
        with words:
            show.say(f"{counts.tp} of {counts.tp + counts.fn} edges found, {counts.fp} false.")
        words.markdown(
            f"{verdict(counts)} **{counts.tp} of {counts.tp + counts.fn}** edges of {reference.words} found; "
            f"**{counts.fp}** of {counts.tp + counts.fp} drawn edges are "
            + ("false." if not reference.name else "not in it. It is a published reference, not the truth.")
        )
    if reference.graph is None:
        return None
    counts = compare(adjacency, reference.graph)
    return (counts.fpr, counts.tpr) if counts.tp + counts.fn and counts.fp + counts.tn else None


def verdict(counts: Recovery) -> str:
    """Return in words whether a graph is of use: its F1 score, 1 for the reference itself, as markdown."""
    score = 2 * counts.tp / max(2 * counts.tp + counts.fp + counts.fn, 1)
    word = "Useful" if score >= _USEFUL else "Rough" if score >= _ROUGH else "Useless"
    return f"**{word} here.**" + ("" if word == "Useful" else " More rows or a weaker guarantee would help.")


def _owner(data: Dataset, rel: Release, at: int, adjacency, place, strength, words) -> None:
    """Show the network as a data owner sees it, without the graph: three states where the edges are tested."""
    with words:
        show.tag("Owner's view", f"{data.provenance} rows; without knowing the graph")
    if at == settings.TESTED:
        _owner_tested(data, rel, place, strength, words)
        return
    picture = network([("Drawn", adjacency)], place, data.columns, frame.palette(), strength=strength, height=480)
    show.picture(picture, "network")
    words.caption("Which of these edges are false is not known. The edge test bounds their rate.")


def _owner_tested(data: Dataset, rel: Release, place, strength, words) -> None:
    """Show the network of the edge test as a data owner sees it, with what the test leaves undecided."""
    states = tested_states(rel)
    upper = states[np.triu_indices(len(states), 1)]
    edge, undecided, none = (int((upper == kind).sum()) for kind in (EDGE, UNDECIDED, NO_EDGE))
    picture = network(
        by_state(states), place, data.columns, frame.palette(), strength=strength,
        rest=f"{none} pairs have no edge above {SLIGHT:g}.", height=480,
    )  # fmt: skip
    show.picture(picture, "network")
    words.markdown(
        f"**{edge}** edges, **{none}** pairs without one, **{undecided}** undecided, under {show.guarantee_text(rel)}."
    )
    rate = show.percent(float(rel.parameters["rate"]))
    words.caption(
        f"On simulated Gaussian rows at most {rate} of the edges were false, on average over releases, and fewer of "
        f"the pairs without one had a partial correlation above {SLIGHT:g}. Privacy noise and sampling together. Free."
    )


def _network_script(study: Study, dataset: Dataset, at: int, reference: settings.Reference, default_source: str) -> str:
    """Return source text for the network on Graph recovery: ``fit`` is its point of the path, ``counts`` its edges."""
    lines = [
        *python_script.release(study, dataset, default_source),
        "",
        "from privcov.metrics.graphs import compare, edges"
        + (", reference_graph" if reference.graph is not None else ""),
        "",
    ]
    precision = _SOURCE[at == settings.TESTED]
    if at == settings.TESTED:
        lines.append('print(f"{edges(rel.precision).sum() // 2} tested edges")')
    else:
        lines += [f"fit = rel.path[{at}]", 'print(f"lambda = {fit.lam:.6g}, {edges(fit.precision).sum() // 2} edges")']
    if reference.graph is not None:
        lines += [
            f"counts = compare(edges({precision}), reference_graph(ds, {reference.name!r}))",
            'print(f"found {counts.tp}, false {counts.fp}, missed {counts.fn}")',
        ]
    return "\n".join(lines)


def section(
    study: Study, data: Dataset, rel: Release, reference: settings.Reference, here: tuple[float, float] | None
) -> None:
    """Show the curve, with (fpr, tpr) of the network on the screen, and the script of many draws."""
    if reference.graph is None or study.source_key(settings.SOURCE) == CSV:
        st.info("A ROC curve needs a known graph: choose another data set, for example the AR(2) graph.")
        return
    try:
        check_reference(reference.graph)
    except ValueError as problem:
        st.info(str(problem))
        return
    noisy = path_rates(settings.path_of(rel), reference.graph)
    exact, why = _exact(study, data, rel, reference)
    own, palette = pen_of(rel.method, frame.palette()), frame.palette()
    show.picture(point_at(roc(noisy, exact, own, palette), here), "roc")
    areas = [f"{OWN}: {auc(noisy):.2f}"] + ([] if exact is None else [f"{EXACT}: {auc(exact):.2f}"])
    st.caption(
        f"Area under the ROC curve: {'; '.join(areas)}; guessing: 0.50. One draw of the noise. Beyond a ring "
        "no graph was fitted."
    )
    if why:
        st.caption(show.as_text(f"{EXACT}: {why}"))
    if reference.name == "":
        with st.expander("The same in Python: many draws"):
            st.code(script(study, data), language="python")


def _exact(study: Study, data: Dataset, rel: Release, reference: settings.Reference) -> tuple[Rates | None, str]:
    """Return (rates of the path without noise, "") or (None, why there are none)."""

    def compute() -> tuple[Rates | None, str]:
        assert reference.graph is not None
        try:
            return path_rates(settings.path_of(without_noise(rel, data)), reference.graph), ""
        except ValueError as problem:
            return None, str(problem)

    return study_results.cached_for_release(study, ("exact path", reference.name), compute, settings.SOURCE)


def script(study: Study, data: Dataset) -> str:
    """Return source text that measures the area under the curve over many draws of the rows and of the noise."""
    card = METHODS.get(study.method)
    own = study.method_options | {k: v for k, v in study.settings(card).items() if v not in (SOUND, card.relations[0])}
    return (
        "import privcov\n"
        "\n"
        "plan = privcov.Plan(\n"
        f"    {study.source_key(settings.SOURCE)!r},\n"
        f"    {dict(study.data)!r},\n"
        f"    methods=[{(study.method, own) if own else study.method!r}],\n"
        f"    guarantees=[privcov.{study.guarantee!r}, privcov.NoPrivacy()],\n"
        '    metrics=["auc-to-truth"],\n'
        f"    row_bound={data.row_bound!r},\n"
        ")\n"
        'print(privcov.run(plan).groupby("guarantee")["value"].describe())\n'
    )
