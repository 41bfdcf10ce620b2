"""A saved study (Plan JSON) and the page that shows it: one release is Estimate, anything else is Trade-offs.

There the form shows it where it makes the same plan; else it is shown as it is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.shell import address, cached, frame, show
from pages.shell.study import Study
from pages.trade_offs import sweep
from pages.trade_offs.sweep import values_text
from privcov import accounting
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.figures.words import powers
from privcov.parameters import build
from privcov.privacy import NoPrivacy
from privcov.sweeps import studies
from privcov.sweeps.plan import Plan, column_of, metric_name

ESTIMATE, TRADE_OFFS = "pages/1_Estimate.py", "pages/2_Trade_offs.py"
MOST_POINTS = 2_000  # of one plan on a page
MOST_LETTERS = 8_000  # of a study in an address
KEEPS = ("plan", "plan.part", "plan.metric")


@dataclass(frozen=True)
class Place:
    """A page and its address: the study, and settings of that page alone."""

    file: str
    study: Study
    own: dict[str, str] = field(default_factory=dict)


def study_of(plan: Plan) -> Study:
    """Return the study whose release is the plan's only cell. Raises ValueError for what Estimate cannot show."""
    (entry,), (guarantee,) = plan.methods, plan.guarantees
    key, given = (entry, {}) if isinstance(entry, str) else entry
    for name in ("centre", "tuning"):
        if name in given:
            raise ValueError(f"Estimate has no setting {name}, which this study has. Run it in the shell.")
    if isinstance(guarantee, NoPrivacy) or plan.sizes is not None:
        raise ValueError("This study is no private release of a matrix: run it in the shell.")
    card = METHODS.get(key)
    params = {s.name: s.default for s in card.parameters}
    study = _with_level(_base(plan), guarantee)
    return dataclasses.replace(
        study,
        method=key,
        options=tuple(sorted((k, v) for k, v in given.items() if k in params and v != params[k])),
        calibration=given.get("calibration", card.default_calibration),
        neighbours=given.get("neighbours", card.relations[0]),
        seed=plan.seed if plan.noise_seed is None else plan.noise_seed,
        rows=plan.seed,
    )


def _with_level(study: Study, guarantee) -> Study:
    """Return the study under this guarantee."""
    return dataclasses.replace(study, kind=guarantee.kind, **vars(guarantee))


def _base(plan: Plan) -> Study:
    """Return a study with the source, its parameters and the row bound of a plan."""
    card = SOURCES.get(plan.source)
    known = {s.name: s for s in card.parameters}
    params = {k: known[k].check(v) for k, v in plan.source_params.items()}
    bound = 1.0
    if plan.row_bound is not None:
        default = build(card.cls, f"Source {plan.source!r}", params).default_row_bound(plan.seed)
        # The slider's own step where the plan has it: 1.189207 and not 1.1892070000000002.
        bound = plan.row_bound / default
        bound = round(bound, 6) if default * round(bound, 6) == plan.row_bound else bound
        if not 0.01 <= bound <= 100:
            raise ValueError(
                f"row_bound must lie between {default / 100:.3g} and {default * 100:.3g} on a page, got "
                f"{plan.row_bound:g}. Run the study in the shell."
            )
    data = tuple(sorted((k, v) for k, v in params.items() if v != known[k].default))
    return Study(source=plan.source, data=data, bound=bound)


def place_of(plans: Sequence[Plan]) -> Place:
    """Return the page that shows these plans. Raises ValueError with a sentence where none does."""
    if len(plans) == 1 and plans[0].steps == 1:
        return Place(ESTIMATE, study_of(plans[0]))
    if len(plans) == 1 and (place := _form(plans[0])):
        return place
    for plan in plans:
        sweep_of(plan)
    text = studies.compact(plans)
    if len(text) > MOST_LETTERS:
        raise ValueError("This study is too long for a page's address. Run it in the shell, or save it in parts.")
    return Place(TRADE_OFFS, Study(source=plans[0].source), {"plan": text})


def _form(plan: Plan) -> Place | None:
    """Return the form of Trade-offs, filled so that it makes this very plan; None where it cannot."""
    levels = [g for g in plan.guarantees if not isinstance(g, NoPrivacy)]
    simple = len(plan.metrics) == 1 and plan.sizes is None and len(plan.vary) <= 1
    if not (simple and levels and len({g.kind for g in levels}) == 1 and all(isinstance(m, str) for m in plan.methods)):
        return None
    norm, against = plan.metrics[0].removeprefix("relative-").split("-to-")
    try:
        study = _with_level(_base(plan), levels[0])
        simulated = SOURCES.get(plan.source).group == "Simulated"
        seed = plan.seed
        study = dataclasses.replace(study, rows=seed) if simulated else dataclasses.replace(study, seed=seed)
        axis, values = next(iter(plan.vary.items()), ("privacy", [getattr(g, study.level_name) for g in levels]))
        if axis == "privacy" and len(levels) > 1 and len(set(values)) == 1 and study.kind == "approx":
            axis, values = "delta", [g.delta for g in levels]
        setting = sweep.Setting(
            methods=tuple(plan.methods),
            axis=axis,
            values=tuple(values),
            norm=norm,
            relative=plan.metrics[0].startswith("relative-"),
            against=against,
            replicates=plan.replicates,
            delta=study.delta,
            without_noise=len(levels) < len(plan.guarantees),
        )
        data = cached.dataset(study)
        if sweep.build(study, data, setting).plans != (plan,):
            return None
    except ValueError:
        return None
    varied = study.level_name if axis == "privacy" else axis
    own = {
        "methods": ",".join(plan.methods),
        "axis": axis,
        "values": f"{varied}:" + values_text(tuple(values)).replace(", ", ","),
        "norm": norm,
        "size": "relative" if setting.relative else "absolute",
        "against": against,
        "replicates": str(plan.replicates),
        "without": "yes" if setting.without_noise else "no",
    }
    return Place(TRADE_OFFS, study, own)


def sweep_of(plan: Plan) -> sweep.Sweep:
    """Return any plan as curves: along its first varied number, else along the guarantee.

    Raises ValueError for too many points, or for no curve.
    """
    points = len(list(plan.points())) * len(plan.methods) * len(plan.guarantees)
    if points > MOST_POINTS:
        raise ValueError(
            f"This study has {points:,} points; a page draws at most {MOST_POINTS:,}. Run it in the shell: python -m "
            "privcov study run plan.json"
        )
    if plan.sizes is not None:
        raise ValueError(
            "No page draws errors of a classification. Run this study in the shell: python -m privcov study"
        )
    asked = {g.kind for g in plan.guarantees}
    kinds = asked - {"none"}
    levels = {}
    numbers = [k for k, v in plan.vary.items() if not any(isinstance(x, (str, bool)) for x in v)]
    if numbers:
        x, label = column_of(numbers[0]), numbers[0].replace("_", " ")
        rest = [column_of(k) for k in plan.vary if k != numbers[0]]
        several = sorted({name for g in plan.guarantees for name in vars(g)}) if len(plan.guarantees) > 1 else []
        lines = [*rest, *(["guarantee"] if len(kinds) != 1 or "none" in asked else []), *several]
    elif len(kinds) == 1:
        x = label = "rho" if "zcdp" in kinds else "epsilon"
        lines = [column_of(k) for k in plan.vary]
        if len({getattr(g, "delta", 0) for g in plan.guarantees if g.kind != "none"}) > 1:
            lines.append("delta")
    elif kinds:
        delta = next((g.delta for g in plan.guarantees if g.kind == "approx"), 1e-6)
        x, label, lines = "level", f"epsilon at delta = {powers(delta)}", ["guarantee", *map(column_of, plan.vary)]
        for g in plan.guarantees:
            if g.kind == "zcdp":
                levels[g.kind, g.rho] = float(f"{accounting.zcdp_to_approx(g.rho, delta):.9g}")
            elif g.kind != "none":
                levels[g.kind, g.epsilon] = g.epsilon
    else:
        raise ValueError("This study varies no number, so there is no curve: run it in the shell.")
    simulated = SOURCES.get(plan.source).group == "Simulated"
    positive = not numbers or min(plan.vary[numbers[0]]) > 0
    return sweep.Sweep(
        title=f"Saved study: {plan.source}",
        owner="",
        plans=(plan,),
        on_rows=None,
        metrics=tuple(plan.metrics),
        x=x,
        x_label=label,
        log=positive,
        lines=tuple(dict.fromkeys(lines)),
        levels=levels,
        provenance="simulated" if simulated else "public",
    )


def opener(where) -> None:
    """Show the box that takes a file, and open the page that shows its study."""
    turn = st.session_state.get("saved.turn", 0)
    with where.popover("Open a saved study", width="content", key=f"saved-{turn}"):
        st.caption("A plan.json, from a page or written by hand.")
        file = st.file_uploader("Saved study (JSON)", type=["json"], max_upload_size=1, key=f"saved.{turn}")
        if file is None:
            return
        try:
            place = place_of(studies.read(file.getvalue()))
        except ValueError as problem:
            st.error(show.as_text(f"{problem} Nothing on this page has changed."))
            return
    study = place.study
    if place.own.get("axis") == "privacy":  # a curve along it has no level of its own: the study's stays
        now = st.session_state["study"]
        study = dataclasses.replace(study, rho=now.rho, epsilon=now.epsilon)
    st.session_state["saved.turn"] = turn + 1
    st.session_state["tradeoffs.start"] = True
    st.switch_page(place.file, query_params=frame.query_for(place.file, study, place.own))


# --- a study that is shown as it is --------------------------------------------------------------------------


def plans() -> tuple[Plan, ...]:
    """Return the study in the address, or ()."""
    text = frame.page_setting("plan")
    if not text:
        return ()
    try:
        expanded = studies.expand(text)
        for plan in expanded:
            sweep_of(plan)
    except ValueError as problem:
        frame.leave_out("plan", str(problem))
        return ()
    return expanded


def form_of(expanded: tuple[Plan, ...]) -> tuple[sweep.Sweep, str]:
    """Show the header and the settings of the study. Return its sweep and the metric."""
    left, right = st.columns([4, 1.6], vertical_alignment="center")
    left.header("Saved study")
    right.button("Back to my own set-up", on_click=_leave, width="stretch", key="leave-saved")
    with st.container(border=True):
        first, second = st.columns([1, 2], vertical_alignment="bottom")
        parts = [f"{i} of {len(expanded)}" for i in range(1, len(expanded) + 1)]
        part = parts[0]
        if len(parts) > 1:
            part = address.bound(first.selectbox, "Plan", parts, name="plan.part", default=parts[0])
        plan = expanded[parts.index(part)]
        metric = address.bound(
            second.selectbox, "Error", plan.metrics, name="plan.metric", default=plan.metrics[0],
            format_func=metric_name,
        )  # fmt: skip
        fixed = ", ".join(f"{k} = {v}" for k, v in plan.source_params.items())
        varied = ", ".join(plan.vary) or "the guarantee"
        st.caption(
            show.as_text(
                f"Data: {plan.source}{', ' + fixed if fixed else ''}; {plan.replicates} replicates; varies {varied}. "
                "What is chosen above does not apply here."
            )
        )
    return sweep_of(plan), metric


def _leave() -> None:
    """Leave the saved study; for the button."""
    frame.set_query(**dict.fromkeys(KEEPS, ""))
