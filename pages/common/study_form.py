"""The strip: the form of the study above its pictures, which stays in sight. Epsilon or rho, data, method, and More.

Each field is made by `fields.study_widget` or, for a parameter of a method or a source, by `fields.parameter_widget`.
All but the level is behind a button that says what is chosen; settings of a method that differ from the default are
named with it, because a link may have set them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.common import fields, frame, own_range, study_results
from pages.common.fields import ends, log_grid, parameter_widget, study_widget
from pages.common.glossary import term, when_not
from pages.common.study import CSV, DEFAULT_SOURCE, Study, number_in, opening
from privcov.core import accounting
from privcov.core.guarantees import KINDS, RELATIONS
from privcov.core.parameters import ParameterSpec
from privcov.core.words import percent, plain, powers, to_powers
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS, MethodCard
from privcov.measurements.clipping import share_clipped
from privcov.metrics.errors import error
from privcov.releases.public import delta_warning
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset

BOUND_STEPS = tuple(round(2 ** (k / 4), 6) for k in range(-16, 13))
KIND_HELP = (
    f"{term('zcdp', 'zCDP')} composes most simply; {term('approximate-dp', 'approximate DP')} is the best known; "
    f"{term('pure-dp', 'pure DP')} is the strongest and the noisiest."
)
STANDING = {"proved": "green", "reference": "gray", "historical": "orange"}
GONE = (
    "This address belongs to a table of your own. The table is gone: a reload or a new tab ends a visit. "
    "Give it again on Estimate, or choose another data set."
)
USUAL, RARE = "Method settings", "Advanced"
GROUPS = {"Simulated": "Simulated", "Public data": "Bundled"}
HEADING = "group: "  # begins the keys of headings
MORE = ("kind", "delta", "bound", "seed")  # what is behind More
_words_of_delta = functools.lru_cache(maxsize=1024)(powers)  # Streamlit asks for all of them twice in every run
CALIBRATION, NEIGHBOURS = "Noise calibration", "Neighbouring tables"


def draw(
    study: Study, *, default_source: str = DEFAULT_SOURCE, methods: tuple = (), left_out: str = ""
) -> Callable[[Release, Dataset], float | None]:
    """Show the whole form, and return a function that shows beside the level what a release costs and leaves.

    That function returns the relative error, or None. ``methods`` are the keys on offer, () for all.
    """
    source = study.source_key(default_source)
    with st.container(key="strip", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(key="strip-level", gap=None):
            privacy_slider(study)
        with _fold("data", _data_label(study, source)):
            _source(study, default_source)
        with _fold("method", METHODS.get(study.method_key()).label):
            _method(study, methods)
            if left_out:
                st.caption(left_out)
        usual = opening(st.session_state["page"])
        changed = {name: getattr(usual, name) for name in MORE if getattr(study, name) != getattr(usual, name)}
        with _fold("more", f"More: {len(changed)} changed" if changed else "More"):
            _guarantee(study)
            _row_bound(study, default_source)
            _seed(study)
            if changed:
                reset = functools.partial(frame.change, lambda now: dataclasses.replace(now, **changed))
                st.button("Reset to the defaults", on_click=reset, key="strip-reset")
        place = st.container(key="strip-answers")
    with contextlib.suppress(ValueError):  # without rows there is no n to compare with
        doubt(study, study_results.dataset(study, default_source).n)

    def release(rel: Release, data: Dataset) -> float | None:
        against, relative_error = reference_of(data), None
        with contextlib.suppress(ValueError):  # few rows have no sample precision to compare with
            relative_error = error(rel, data, relative=True, against=against)
        with place:
            label = "Attacker, if the bounds were public" if own_range.sentence(data) else fields.THIS_RELEASE
            fields.show_error_and_attacker(rel, getattr(study, study.level_name), relative_error, against, label)
        return relative_error

    return release


def show_guarantee(study: Study) -> None:
    """Show the part of the form that says the guarantee."""
    with st.container(key="strip", horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(key="strip-level", gap=None):
            privacy_slider(study)
        with _fold("more", KINDS[study.kind].name):
            _guarantee(study)


def reference_of(data: Dataset) -> str:
    """Return with what a release of the rows is compared: "truth" where it is known, else "sample"."""
    return "sample" if data.truth is None else "truth"


def _data_label(study: Study, source: str) -> str:
    """Return the data set in a few words, with the size that was chosen for it."""
    if source == CSV:
        return "Your own table"
    values = {s.name: s.default for s in SOURCES.get(source).parameters} | dict(study.data)
    size = f", {values['n']:,} x {values['d']}" if {"n", "d"} <= values.keys() else ""
    return SOURCES.get(source).label.split(":")[0] + size


def _fold(key: str, label: str) -> DeltaGenerator:
    return st.popover(label, key=f"strip-{key}", width="content")


# --- data ---------------------------------------------------------------------------------------------------


def data_sets() -> dict[str, str]:
    """Return the options of the select box: the visitor's own table, then data sets under headings."""
    options = {CSV: "Your own table ..."}
    cards = sorted(SOURCES.all(), key=lambda c: c.order)
    for group in dict.fromkeys([*GROUPS, *(c.group for c in cards)]):
        inside = {c.key: c.label for c in cards if c.group == group}
        options |= ({HEADING + group: f"— {GROUPS.get(group, group)} —"} | inside) if inside else {}
    return options


def choose_source(study: Study, key: str) -> Study:
    """Return the study with the chosen data set, itself for a heading; n and d come back after a table with its own."""
    if key.startswith(HEADING):
        return study
    sizes = st.session_state["sizes"] = st.session_state.get("sizes", {}) | study.sizes()
    new = study.with_source(key, sizes)
    if key != CSV and (names := sorted(study.sizes().keys() - new.sizes().keys(), reverse=True)):
        sizes_text = " and ".join(f"{name} = {sizes[name]:,}" for name in names)
        st.toast(f"This table has its own size. {sizes_text} will be back with simulated data.")
    return new


def _source(study: Study, default_source: str) -> None:
    labels = data_sets()
    key = study.source_key(default_source)
    # The first page of a visit: the address brought the choice, and the table was in an earlier visit.
    if key == CSV and "w.source" not in st.session_state and not st.session_state.get("within", False):
        st.session_state["problem_place"].warning(GONE)
    study_widget(
        st.selectbox,
        "Data set",
        list(labels),
        key="w.source",
        value=key,
        put=choose_source,
        format_func=labels.get,
        help="Simulated data have a known truth. Your file stays in this session.",
    )
    if key == CSV:
        return
    card = SOURCES.get(key)
    st.caption(card.summary)
    for spec in card.parameters:
        parameter_widget(spec, "data", study, owner=key)


# --- method -------------------------------------------------------------------------------------------------


def _method(study: Study, keys: tuple) -> None:
    families = list(dict.fromkeys(c.family for c in METHODS.all()))
    candidates = [c for c in METHODS.all() if not keys or c.key in keys]
    cards = sorted(candidates, key=lambda c: (c.standing == "historical", families.index(c.family), c.order))
    labels = {
        c.key: f"{c.family}: {c.label}"
        + (" (historical)" if c.standing == "historical" else "")
        + (f" (not {KINDS[study.kind].name})" if c.refuses(study.kind) else "")
        for c in cards
    }
    key = study.method_key()
    study_widget(
        st.selectbox, "Method", list(labels), key="w.method", value=key, put=Study.with_method, format_func=labels.get
    )
    when_not(key)
    card = METHODS.get(key)
    badges = f":{STANDING[card.standing]}-badge[{card.standing}] :gray-badge[{card.trust}]"
    st.markdown(f"{badges} :gray-badge[target: {card.target}]")
    relations = {key: RELATIONS[key].sentence for key in card.relations}
    usual, rare = ([s for s in card.parameters if s.advanced is advanced] for advanced in (False, True))
    _group(USUAL, usual, (NEIGHBOURS, "neighbours", relations), study)
    _group(RARE, rare, (CALIBRATION, "calibration", card.calibrations), study)
    if changed := _changed(card, study):
        st.caption(f"Not at the default: {'; '.join(changed)}.")


def _group(
    title: str, specs: Sequence[ParameterSpec], choice: tuple[str, str, Mapping[str, str]], study: Study
) -> None:
    """Show parameters of the method in an expander, then a choice that every method may offer, if it has options."""
    owner = study.method_key()
    specs = [spec for spec in specs if fields.is_shown(spec, "options", study, owner=owner)]
    if not specs and len(choice[2]) < 2:
        return
    with st.expander(title, key=title):
        for spec in specs:
            parameter_widget(spec, "options", study, owner=owner)
        _choice(*choice, study)


def _choice(label: str, name: str, meanings: Mapping[str, str], study: Study) -> None:
    if len(meanings) < 2:
        return
    owner = study.method_key()
    value = study.settings(METHODS.get(owner))[name]

    def put(s: Study, choice: str) -> Study:
        setting: dict[str, Any] = {name: choice}
        return dataclasses.replace(s.naming(study, owner), **setting)

    study_widget(st.selectbox, label, list(meanings), key=f"w.{name}.{owner}", value=value, put=put)
    st.caption(meanings[value])


def _changed(card: MethodCard, study: Study) -> list[str]:
    """Return the settings that differ from the default, in the order of the form."""
    values = {spec.name: spec.default for spec in card.parameters} | dict(study.options)
    ordered = sorted(card.parameters, key=lambda spec: spec.advanced)
    changed = [f"{spec.label} {values[spec.name]}" for spec in ordered if values[spec.name] != spec.default]
    settings = study.settings(card)
    if settings["neighbours"] != card.relations[0]:
        changed.append(f"{NEIGHBOURS} {settings['neighbours']}")
    if settings["calibration"] != card.default_calibration:
        changed.append(f"{CALIBRATION} {settings['calibration']}")
    return changed


# --- guarantee ----------------------------------------------------------------------------------------------


def _guarantee(study: Study) -> None:
    """Show the kind of guarantee, its level as a number, and delta where it has one."""
    study_widget(
        st.segmented_control,
        "Kind",
        ["zcdp", "approx", "pure"],
        key="w.kind",
        value=study.kind,
        # A second click on the chosen kind must not clear it.
        put=lambda s, kind: _of_kind(s, kind or study.kind),
        help=KIND_HELP,
        format_func={"zcdp": "zCDP", "approx": "Approximate", "pure": "Pure"}.get,
    )
    guarantees = st.session_state.get("kind.told")
    if guarantees and guarantees[0] == study.guarantee:
        names = (to_powers(str(one)) for one in guarantees)
        st.caption(f"{' is the nearest to '.join(names)}, at delta = {powers(study.delta)}.")
    level, (low, high) = float(getattr(study, study.level_name)), fields.LEVELS[study.level_name]

    def put(changed: Study, text: str) -> Study:
        # A field for numbers would drop a decimal comma, and ask for ten times the epsilon.
        try:
            return changed.at(number_in(text, min(low, level), max(high, level), whole=False))  # a link may go beyond
        except ValueError as problem:
            st.session_state["level.problem"] = f"{text} is left out. {problem} Write a decimal point, as in 0.5."
            return changed

    study_widget(
        st.text_input,
        f"{study.level_name.capitalize()} as a number",
        key=f"w.typed-{study.level_name}",
        value=f"{level:g}",
        put=put,
        help="Any number between the ends of the slider, which goes there.",
    )
    if problem := st.session_state.pop("level.problem", ""):
        st.error(problem)
    if study.kind == "approx":
        _study_slider(
            "Delta",
            "delta",
            log_grid(1e-12, 0.1, study.delta),
            study,
            format_func=_words_of_delta,
            help=f"Added to epsilon's bound on every probability ({term('delta')}): keep it far below 1/n.",
        )
        ends("stronger privacy", "more accuracy")


def _of_kind(study: Study, kind: str) -> Study:
    """Return the study under another kind of guarantee, at the level that implies about the same epsilon at its delta.

    A level of the slider where one is near, so that the way back leads to the same level.
    """
    there = dataclasses.replace(study, kind=kind)
    if study.level_name == there.level_name:
        return there
    to_level = accounting.approx_to_zcdp if kind == "zcdp" else accounting.zcdp_to_approx
    low, high = fields.LEVELS[there.level_name]
    level = min(max(to_level(getattr(study, study.level_name), study.delta), low), high)
    near = min(log_grid(low, high, low), key=lambda one: abs(math.log(one / level)))
    there = there.at(near if abs(near / level - 1) < 0.01 else float(f"{level:.3g}"))
    st.session_state["kind.told"] = there.guarantee, study.guarantee
    return there


def doubt(study: Study, n: int) -> None:
    """Warn below the strip, where it is seen whatever is open, of a delta that permits publishing a row."""
    if words := delta_warning(n, study.guarantee):
        st.warning(words)


def privacy_slider(study: Study, *, kind: str = "") -> None:
    """Show the log slider for epsilon or rho, with words at both ends; the attacker's chance belongs beside it."""
    level_name = "rho" if (kind or study.kind) == "zcdp" else "epsilon"
    low, high = fields.LEVELS[level_name]
    _study_slider(
        level_name.capitalize(),
        level_name,
        log_grid(low, high, getattr(study, level_name)),
        study,
        format_func="{:g}".format,
        help="A limit on how much one row can change the release: "
        f"{term('zcdp' if level_name == 'rho' else 'epsilon', level_name)}.",
    )
    ends("stronger privacy", "more accuracy")


def _study_slider(label: str, name: str, options: list, study: Study, **more) -> None:
    study_widget(
        st.select_slider,
        label,
        options,
        key=f"w.{name}",
        value=getattr(study, name),
        put=lambda s, value: dataclasses.replace(s, **{name: value}),
        **more,
    )


def _row_bound(study: Study, default_source: str) -> None:
    try:
        data = study_results.dataset(dataclasses.replace(study, bound=1.0), default_source)
    except ValueError:  # the page says why there are no rows
        forget_bound()
        return
    start = data.row_bound
    if st.session_state.get("bound.of") != start:  # new words on the slider make it a new widget for the browser
        st.session_state["bound.of"], st.session_state["w.bound"] = start, study.bound
    labels = {m: plain(m * start) for m in sorted({*BOUND_STEPS, study.bound})}
    _study_slider(
        "Row bound R",
        "bound",
        list(labels),
        study,
        format_func=labels.get,
        help=f"Longer rows are shortened to R ({term('clipping')}). Noise grows with R², bias falls with R. R is "
        f"public ({term('row-bound')}): never read it off the rows.",
    )
    ends("less noise", "less clipping")
    st.caption(f"{percent(share_clipped(data.with_row_bound(start * study.bound)))} of the rows are shortened.")


def forget_bound() -> None:
    """Forget the slider for R: it is absent while there is no table, and its value must be set when it returns."""
    st.session_state.pop("w.bound", None)


def _seed(study: Study) -> None:
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    study_widget(
        left.number_input,
        "Noise seed",
        0,
        2**31 - 1,
        key="w.seed",
        value=study.seed,
        put=lambda s, seed: dataclasses.replace(s, seed=int(seed)),
        help="One seed, the same noise at every epsilon.",
    )
    right.button(
        "Draw again",
        on_click=lambda: frame.change(lambda s: dataclasses.replace(s, seed=s.seed + 1)),
        width="stretch",
        help="Another draw; with private rows each would spend privacy.",
    )
