"""ROC and precision-recall curves: which are drawn beside the study's own, their job, the pictures and the script."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd
import streamlit as st

from pages.graph_recovery import settings
from pages.shell import address, cached, fields, frame, glossary, show
from pages.shell.jobs import Job, Jobs, Words, status
from pages.shell.study import CSV, SOUND, Study
from privcov import accounting
from privcov.audit.risk import trade_off_of_method
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.figures.look import Picture
from privcov.figures.palette import Palette
from privcov.figures.roc import point_at, precision_recall, roc
from privcov.figures.words import plain
from privcov.metrics.graphs import check_reference
from privcov.privacy import NoPrivacy
from privcov.releasing.release import Release
from privcov.sweeps.cells import Cell
from privcov.sweeps.estimates import in_words
from privcov.sweeps.graph_study import Curve, GraphStudy, Run, curves, runs, seconds

UNASKED = 25  # columns; more wait for a click
RULED = 40  # columns; beyond, the other rules' lambdas would take longer than the curves
UNASKED_SECONDS = 6.0  # seconds of work that may start without a click
FIRST = 0.8  # seconds to wait for a first picture
JOBS = Jobs("roc")
WORDS = Words(
    "replicates",
    stop="roc-stop",
    stopped="; the curves show those.",
    again=("Again", "roc-again"),
    waiting="Waiting for the work of other visitors to end",
    pace="",
    width=4,
)
KEEPS = ("roc.methods", "roc.rho", "roc.epsilon", "roc.replicates", "rules")
_RANGES = {"rho": (1e-5, 10.0), "epsilon": (0.01, 20.0)}
_REPLICATES: dict[str, Any] = {
    "name": "roc.replicates",
    "key": "graph.replicates",
    "code": address.number(2, 500, whole=True),
    "default": 20,
}
# Off: only the method's own rule is followed. The others take more than the curves themselves.
_RULES: dict[str, Any] = {"name": "rules", "key": "graph.rules", "code": address.switch(), "default": False}


# --- which curves --------------------------------------------------------------------------------------------


def form(study: Study, rel: Release) -> None:
    """Show the form that chooses the curves beside the study's own, whose release is ``rel``."""
    kind = study.kind
    able, _ = settings.offered(kind)
    others = [key for key in able if key != study.method]
    beside = address.bound(
        st.multiselect,
        "Other methods",
        others,
        **_methods(study),
        format_func=lambda key: METHODS.get(key).label,
        placeholder="none",
        help="On the same rows, with default calibrations.",
    )
    low, high = _RANGES[study.level_name]
    address.bound(
        st.multiselect,
        f"Other {study.level_name}",
        fields.log_grid(low, high, *st.session_state[f"graph.levels.{kind}"]),
        **_levels(study),
        format_func=lambda v: f"{v:g}",
        placeholder="none",
    )
    address.bound(st.number_input, "Replicates", 2, 500, **_REPLICATES, help="Fresh noise, and fresh simulated rows.")
    address.bound(
        st.toggle, "Lambdas chosen by rules", **_RULES, quiet=True, help="Where each automatic rule lands, on average."
    )
    _attackers(study, rel)
    glossary.when_not(beside, "When not to use them")


def _attackers(study: Study, rel: Release) -> None:
    """Show the attacker's chance at every level: against the study's method, as in the strip.

    With settings of its own the method is known by its guarantee alone at the levels beside its release.
    """
    card, own = METHODS.get(study.method), getattr(study, study.level_name)
    fresh = study.without_method().with_method(study.method)
    usual = study in (fresh, dataclasses.replace(fresh, options=()))
    for level in sorted(settings.levels(study)):
        guarantee, name = study.at(level).guarantee, f"{study.level_name} = {level:.3g}"
        if level != own and not usual:
            fields.attacker(guarantee, f"Any method, {name}")
            continue
        success = rel.attacker_success
        if level != own:
            success = accounting.attacker_success(trade_off_of_method(study.method, guarantee))
        show.attacker_line(success, frame.palette(), f"{card.label}, {name}")


def keep_form(study: Study) -> None:
    """Keep the form's entries while another tab is open, and drop those no longer on offer; call it before the form."""
    for setting in (_methods(study), _levels(study), _REPLICATES, _RULES):
        address.settle(setting["name"], setting["key"], setting["code"], setting["default"])


def _methods(study: Study) -> dict:
    """Return how the other methods are kept in the address; a method that cannot give the guarantee is dropped."""
    able, _ = settings.offered(study.kind)
    known = [card.key for card in METHODS.all() if card.target == "precision"]
    code = address.several_of([key for key in able if key != study.method], known)
    return {"name": "roc.methods", "key": f"graph.methods.{study.kind}", "code": code, "default": []}


def _levels(study: Study) -> dict:
    """Return how the other levels are kept in the address."""
    code = address.several_numbers(*_RANGES[study.level_name])
    return {"name": f"roc.{study.level_name}", "key": f"graph.levels.{study.kind}", "code": code, "default": []}


def graph_study(study: Study, data: Dataset, reference: settings.Reference) -> GraphStudy:
    """Return the experiment that the page shows: the study's own method first, then the others."""
    state, levels = st.session_state, settings.levels(study)
    card = METHODS.get(study.method)
    given = {k: v for k, v in study.settings(card).items() if v not in (SOUND, card.relations[0])}
    entries = [(study.method, {**study.given, **given})]
    for key in state[f"graph.methods.{study.kind}"]:
        default = METHODS.get(key).default_calibration
        entries.append((key, {} if default == SOUND else {"calibration": default}))
    return GraphStudy(
        source=study.source_key(settings.SOURCE),
        source_params=dict(study.data),
        methods=tuple(entries),
        # The study's own level first, and the others as they were added: a level that is added moves no other's pen.
        guarantees=tuple(study.at(level).guarantee for level in levels),
        replicates=int(state["graph.replicates"]),
        seed=study.seed,
        rows_seed=study.rows,
        row_bound=data.row_bound,
        graph=reference.name,
        rules=bool(state["graph.rules"]) and data.d <= RULED,
    )


def names(experiment: GraphStudy) -> list[str]:
    """Return the names of the lines: the level, and the method where there are several."""
    labels = []
    for line in experiment.lines:
        if isinstance(line.guarantee, NoPrivacy):
            labels.append("No privacy")
            continue
        level_name = "rho" if line.guarantee.kind == "zcdp" else "epsilon"
        level = f"{level_name} = {getattr(line.guarantee, level_name):g}"
        label = METHODS.get(line.entry[0]).label
        labels.append(level if len(experiment.methods) == 1 else f"{label}, {level}")
    return labels


def current(study: Study, data: Dataset, reference: settings.Reference) -> tuple[GraphStudy | None, str]:
    """Return (the experiment, "") or (None, why there is none)."""
    if reference.graph is None:
        return None, "A ROC curve needs a known graph: choose another data set, for example the AR(2) graph."
    if study.source_key(settings.SOURCE) == CSV:
        return None, "A CSV has no graph to compare with."
    try:
        check_reference(reference.graph)
        return graph_study(study, data, reference), ""
    except ValueError as problem:
        return None, str(problem)


# --- the job -------------------------------------------------------------------------------------------------


def job_of(experiment: GraphStudy, data: Dataset) -> Job | None:
    """Return the job of this experiment; a small one is started at once, a large one by its button."""
    asked = st.session_state.pop("graph.start", False)
    if find(experiment) is not None:
        return find(experiment)
    takes = seconds(experiment, data.n, data.d)
    if not asked and (data.d > UNASKED or takes > UNASKED_SECONDS):
        return None
    return start(experiment, data)


def find(experiment: GraphStudy) -> Job | None:
    """Return the background job of this experiment, or None where it was not started."""
    return JOBS.find(_key(experiment))


def _key(experiment: GraphStudy) -> tuple:
    """Return the key of the job. The owner comes first, so that the curves of a visitor's file are removed with it."""
    return Study(source=experiment.source), repr(experiment)


def start(experiment: GraphStudy, data: Dataset) -> Job:
    """Start the curves; rows of a visitor's file are passed on, others are drawn again."""
    given = data if cached.in_session(Study(source=experiment.source)) else None

    def cells() -> Iterator[Cell]:
        for replicate in runs(experiment, dataset=given):
            yield Cell(replicate, False)

    return JOBS.start(_key(experiment), lambda _: cells(), experiment.replicates, size=data.n * data.d)


def paint(experiment: GraphStudy, data: Dataset, here: tuple[float, float, float] | None, job: Job | None) -> None:
    """Show the progress and the two pictures, with (fpr, tpr, precision) of the network on the screen."""
    rules = st.session_state[_RULES["key"]]
    if job is None:
        time = in_words(seconds(experiment, data.n, data.d))
        words = f"{len(experiment.lines)} curves, {experiment.replicates} replicates: {time}"
        st.caption(f"{words}, roughly. It runs in the background, grows on the screen and can be stopped.")
        if st.button("Draw the ROC curves", type="primary"):
            start(experiment, data)
            st.rerun()
        return
    status(job, WORDS, lambda: start(experiment, data))
    curves = drawn(experiment, job)
    if not curves:
        if not job.progress.alive:
            _nothing(job)
        return
    palette = frame.palette()
    kept = _drawn()[job]
    if kept.look != (palette, rules):
        kept.look = palette, rules
        kept.pictures = roc(curves, palette, rules=rules), precision_recall(curves, palette, rules=rules)
    show.picture(point_at(kept.pictures[0], None if here is None else here[:2]), "roc")
    show.picture(point_at(kept.pictures[1], None if here is None else here[1:]), "precision-recall")


def numbers(experiment: GraphStudy, data: Dataset, job: Job | None) -> None:
    """Show what the curves say: partial areas, how to read the pictures, and what is missing from them."""
    curves = () if job is None else drawn(experiment, job)
    if not curves:
        return
    st.markdown("**What the curves say**")
    common = min(c.reach for c in curves)
    st.dataframe(table(curves, common), hide_index=True, width="stretch")
    with st.expander("How to read"):
        st.caption(explain(curves, data))
    _show_missing(curves)


@dataclass
class _Drawn:
    """Curves and pictures of a job when it had ``count`` runs."""

    count: int
    curves: tuple[Curve, ...]
    look: tuple[Palette, bool] | None = None
    pictures: tuple[Picture, ...] = ()


def _drawn() -> WeakKeyDictionary:
    """Return the curves and pictures by job; they are removed with the job."""
    return st.session_state.setdefault("roc.drawn", WeakKeyDictionary())


def drawn(experiment: GraphStudy, job: Job) -> tuple[Curve, ...]:
    """Return the curves of the finished replicates, computed once per new replicate and not per move of the slider."""
    rows: list[Run] = job.progress.rows[:]
    kept = _drawn()
    if job not in kept or kept[job].count != len(rows):
        kept[job] = _Drawn(len(rows), curves(experiment, rows, names(experiment)))
    return kept[job].curves


def _nothing(job: Job) -> None:
    """Show why no replicate gave a graph."""
    reasons = [run.problem for run in job.progress.rows if run.problem]
    if reasons:
        st.warning(show.as_text(f"No replicate gave a graph. {reasons[0]}"))


def table(curves: tuple[Curve, ...], common: float) -> pd.DataFrame:
    """Return the numbers of the curves; ``common`` is where the first of them ends."""
    return pd.DataFrame(
        [
            {
                "Curve": c.name,
                f"Partial AUC to FPR {common:.2f}": f"{c.area(common):.3f} of at most {common:.2f}",
                "Failed fits": f"{c.infeasible:,} of {c.lambdas:,}",
            }
            for c in curves
        ]
    )


def explain(curves: tuple[Curve, ...], data: Dataset) -> str:
    """Return how to read the curves, and what their bands are."""
    each = "fresh rows and fresh noise" if data.provenance == "simulated" else "fresh noise on the same rows"
    words = (
        f"Lines: mean over {max(c.replicates for c in curves)} replicates ({each}); bands: "
        f"{glossary.term('replicate-range')}, 10 % to 90 %. A ring: no graph was fitted beyond. Target: the network "
        "above."
    )
    common = min(c.reach for c in curves)
    return words + (
        f" Partial AUC: up to a false positive rate of {plain(common)}, where the first curve ends; guessing has "
        f"{plain(common**2 / 2)}."
        if common > 0
        else ""
    )


def _show_missing(curves: tuple[Curve, ...]) -> None:
    """Show which replicates and lambdas are missing from the curves."""
    for c in curves:
        if c.without:
            why = f" Most often: {c.problem}" if c.problem else ""
            st.caption(show.as_text(f"{c.name}: {c.without} replicates gave no graph at all and are in no mean.{why}"))
        if c.infeasible:
            st.caption(
                f"{c.name}: {c.infeasible:,} of {c.lambdas:,} fits failed, because the problem has no solution there. "
                "The curve is thin where some replicates have ended, and ends where half of them have."
            )
        if c.unfinished:
            st.caption(f"{c.name}: at {c.unfinished:,} lambdas the solver stopped before its certificate.")


# --- the same in Python --------------------------------------------------------------------------------------


def script(experiment: GraphStudy) -> str:
    """Return source text whose variable ``curves`` holds the curves of the page."""
    guarantees = "".join(f"        privcov.{g!r},\n" for g in experiment.guarantees)
    methods = "".join(f"        {entry!r},\n" for entry in experiment.methods)
    return (
        "import privcov\n"
        "from privcov.sweeps.graph_study import GraphStudy, run\n"
        "\n"
        "study = GraphStudy(\n"
        f"    {experiment.source!r},\n"
        f"    {dict(experiment.source_params)!r},\n"
        f"    methods=(\n{methods}    ),\n"
        f"    guarantees=(\n{guarantees}    ),\n"
        f"    replicates={experiment.replicates},\n"
        f"    seed={experiment.seed},\n"
        f"    rows_seed={experiment.rows_seed},\n"
        f"    row_bound={experiment.row_bound!r},\n"
        f"    graph={experiment.graph!r},\n"
        f"    rules={experiment.rules!r},\n"
        ")\n"
        "curves = run(study)\n"
        "common = min(curve.reach for curve in curves)\n"
        "for curve in curves:\n"
        '    print(f"{curve.name}: partial AUC to FPR {common:.2f} = {curve.area(common):.3f}")\n'
    )
