"""The network under the hand: the lambda slider, the drawing, and beside it whichever tab is open.

All of it is one fragment: moving the slider reads another graph of the path and computes nothing again.
"""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.graph_recovery import answers as graph_answers
from pages.graph_recovery import home, roc, roc_form, settings
from pages.graph_recovery import matrices as graph_matrices
from pages.graph_recovery import states as graph_states
from pages.graph_recovery.script import script
from pages.shell import address, frame, show
from pages.shell.sliders import ends
from pages.shell.study import Study
from privcov._release import Release
from privcov.dataset import Dataset
from privcov.figures.graphs import against_reference, by_state, network
from privcov.figures.layout import positions
from privcov.figures.look import plain
from privcov.metrics.graphs import compare, edges, partial_correlations

KEEPS = ("tab", "view", "partial", "lambda", "reference")
AGAINST, OWNER = "Against the graph", "As an owner sees it"


def show_all(study: Study, data: Dataset, rel: Release, reference: settings.Reference) -> None:
    """The whole board; it ticks while curves are being computed."""
    roc_form.hold(study)
    made, why = roc.current(study, data, reference)
    job = roc.job_of(made, data) if made is not None else None
    if job is not None:
        job.wait(roc.FIRST)
    alive = job is not None and job.progress.alive
    st.fragment(_board, run_every=1.0 if alive else None)(study, data, rel, reference, made, why, alive)


def _board(study: Study, data: Dataset, rel: Release, reference, made, why: str, was_alive: bool) -> None:
    if frame.changed():
        st.rerun()  # a button of the board set another study, and a fragment alone would show the old one
    roc_form.hold(study)
    job = None if made is None else roc.find(made)
    if roc.current(study, data, reference)[0] != made or (was_alive and (job is None or not job.progress.alive)):
        st.rerun()  # the whole page: the form asks for other curves, or the clock of this fragment can stop
    left, right = st.columns(2, gap="large")
    with left:
        at = _slider(study, rel)
        here = _network(study, data, rel, reference, at)
        below = st.container()
        with st.expander("What the method did"):
            for text in rel.notes:
                st.caption(show.as_text(text))
            for title, text in rel.statement.lines:
                st.caption(show.as_text(f"{title}: {text}"))
    with right:
        curves, matrices, answers = address.tabs(
            [settings.CURVES, settings.MATRICES, settings.ANSWERS], name="tab", key="graph-tab", quiet=True
        )
        if curves.open:
            with curves:
                if made is None:
                    st.info(why)
                else:
                    roc_form.form(study)
                    show.tag(data.provenance.capitalize(), f"compared with {reference.words}")
                    roc.paint(made, data, here, job)
                    with below:
                        roc.numbers(made, data, job)
                    with st.expander("The same in Python"):
                        st.code(script(made), language="python")
        if matrices.open:
            with matrices, show.problems():
                show.tag(data.provenance.capitalize(), f"lambda = {plain(rel.path[at].lam)}")
                graph_matrices.section(study, data, rel, at)
        if answers.open:
            with answers, show.problems():
                show.tag("Owner's view", "computed from the noisy matrix alone")
                graph_answers.section(study, rel, data.columns)
    home.section(study, data, rel, reference, at, made, job)


def _slider(study: Study, rel: Release) -> int:
    """Position of the lambda under the hand; only those with a graph are offered."""
    solved = [i for i, fit in enumerate(rel.path) if fit.precision is not None]
    chosen = next((i for i in solved if np.array_equal(rel.path[i].precision, rel.precision)), solved[0])
    rule = rel.parameters.get("rule", "") if rel.parameters["tuning"] == "released" else ""
    word = f"chosen: {rule}" if rule and rel.parameters["calibration"] == "sound" else "chosen"
    if len(solved) == 1:
        st.caption(f"One lambda has a graph: {plain(rel.path[chosen].lam)}.")
        return chosen
    at = address.bound(
        st.select_slider,
        "Penalty lambda",
        solved,
        name="lambda",
        default=chosen,
        code=_position(rel, solved),
        quiet=True,
        key=f"lambda-{hash((study, len(solved), chosen)) & 0xFFFFFFFF:x}",
        format_func=lambda i: plain(rel.path[i].lam) + (f" ({word})" if i == chosen else ""),
        help="Moving it only reads the path again: no new noise, no privacy, and no new computation.",
    )
    ends("fewer edges", "more edges")
    infeasible = sum(fit.status == "infeasible" for fit in rel.path)
    lost = len(rel.path) - len(solved) - infeasible
    if infeasible:
        st.caption(
            f"{infeasible} of {len(rel.path)} lambdas are not offered: the problem has no solution there. The tab "
            f"*{settings.ANSWERS}* shows why."
        )
    if lost:
        st.caption(f"{lost} of {len(rel.path)} lambdas are not offered: the solver found no answer.")
    if rel.path[at].status == "not converged":
        st.caption(f"At this lambda the solver stopped at a gap of {rel.path[at].gap:.1g} nats per variable.")
    return at


def _position(rel: Release, solved: list[int]) -> address.Code:
    """A place on the path, told by its lambda: on another path the same place is another network."""
    told = {f"{rel.path[i].lam:.6g}": i for i in solved}

    def read(text: str) -> int:
        if text not in told:
            raise ValueError("The path of this study has no such lambda.")
        return told[text]

    return address.Code(read, lambda i: f"{rel.path[i].lam:.6g}")


def _network(study: Study, data: Dataset, rel: Release, reference: settings.Reference, at: int):
    """Draws the network; (fpr, tpr, precision) against the reference, or None without one."""
    fit = rel.path[at]
    found = edges(fit.precision)
    place = positions(reference.graph, data.d)
    strength = partial_correlations(fit.precision)
    view = AGAINST if reference.graph is not None else OWNER
    if reference.graph is not None:
        view = address.bound(
            st.segmented_control, "View", [AGAINST, OWNER], name="view", default=AGAINST, key="graph.view", quiet=True,
            width="stretch", label_visibility="collapsed",
        )  # fmt: skip
    if view == OWNER:
        _owner(study, data, rel, at, found, place, strength)
    else:
        counts = compare(found, reference.graph)
        show.tag(data.provenance.capitalize(), f"edges against {reference.words}")
        show.picture(
            network(
                against_reference(found, reference.graph), place, data.columns, frame.palette(), strength=strength,
                height=480,
            ),
            "network",
        )  # fmt: skip
        st.markdown(
            f"**{counts.tp} of {counts.tp + counts.fn}** edges of {reference.words} found; **{counts.fp}** of "
            f"{counts.tp + counts.fp} drawn edges are "
            + ("false." if not reference.name else "not in it. It is a published reference, not the truth.")
        )
    if reference.graph is None:
        return None
    counts = compare(found, reference.graph)
    if not (counts.tp + counts.fn and counts.fp + counts.tn):
        return None
    return counts.fpr, counts.tpr, counts.precision


def _owner(study: Study, data: Dataset, rel: Release, at: int, found, place, strength) -> None:
    """What somebody sees who has the noisy matrix only: three states where the noise is known."""
    states, why = graph_states.at(study, rel, at)
    show.tag("Owner's view", f"{data.provenance} rows; without knowing the graph")
    if states is None:
        picture = network([("Drawn", found)], place, data.columns, frame.palette(), strength=strength, height=480)
        show.picture(picture, "network")
        st.caption(why)
        return
    edge, undecided, none = states.counts
    picture = network(
        by_state(states.state), place, data.columns, frame.palette(), strength=strength,
        rest=f"{none} pairs are linked in at most 5 %.", height=480,
    )  # fmt: skip
    show.picture(picture, "network")
    st.markdown(
        f"**{edge}** pairs linked in at least 95 % of {graph_states.COPIES} redraws, **{none}** in at most 5 %, "
        f"**{undecided}** undecided, under {rel.given}."
    )
    st.caption(why)
