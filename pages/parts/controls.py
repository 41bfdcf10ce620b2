"""A parameter field of a method or source becomes a widget; the study's own controls stand in the sidebar.

Every widget shows the study and writes back to it in a callback, so there is one truth and no stale copy.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from typing import Any

import streamlit as st

from pages.parts import advice, attacker, bring, cached, frame
from pages.parts.glossary import term, when_not
from pages.parts.sliders import ends, log_grid
from pages.parts.study import CSV, DEFAULT_SOURCE, Study
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.figures.look import plain
from privcov.measurements.clipping import share_clipped
from privcov.parameters import Spec
from privcov.privacy import KINDS, RELATIONS

BOUND_STEPS = tuple(round(2 ** (k / 4), 6) for k in range(-16, 13))
KIND_HELP = (
    f"{term('zcdp', 'zCDP')} composes most simply; {term('approximate-dp', 'approximate DP')} is the best known; "
    f"{term('pure-dp', 'pure DP')} is the strongest and the noisiest."
)
STANDING = {"proved": "green", "reference": "gray", "historical": "orange"}


def _hold(key: str, value: Any) -> None:
    """Make the widget show the study; assigning an equal value would make the browser jump while dragging.

    Widgets are told the value a second time, as their default: the browser may never hear of a run that another one
    overtakes, and then a number field sends back its minimum, a list shows its first entry, and buttons show none.
    """
    if st.session_state["fresh_page"] or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def slider(label: str, field: str, options: list, study: Study, *, where=st, **more) -> None:
    """A select slider bound to one field of the study."""
    key = f"w.{field}"
    _hold(key, getattr(study, field))

    def took() -> None:
        frame.change(lambda s: dataclasses.replace(s, **{field: st.session_state[key]}))

    where.select_slider(label, options, getattr(study, field), key=key, on_change=took, **more)


def privacy_lever(study: Study, *, kind: str = "", where=st) -> None:
    """The log slider for epsilon or rho, with words at both ends. The attacker's chance belongs beside it."""
    lever = "rho" if (kind or study.kind) == "zcdp" else "epsilon"
    low, high = (1e-5, 10.0) if lever == "rho" else (0.01, 20.0)
    slider(
        lever.capitalize(),
        lever,
        log_grid(low, high, getattr(study, lever)),
        study,
        where=where,
        format_func=lambda v: f"{v:g}",
        help=f"How much one row may change the distribution of what is released: "
        f"{term('zcdp' if lever == 'rho' else 'epsilon', lever)}.",
    )
    ends("stronger privacy", "more accuracy", where)


def sidebar(
    study: Study, *, default_source: str = DEFAULT_SOURCE, method: bool = True, methods: tuple = (), left_out: str = ""
) -> None:
    """Data, method, guarantee, row bound and seed. methods: keys on offer, () for all; the study names one of them."""
    with st.sidebar:
        st.html('<div class="pc-group">Data</div>')
        _source(study, default_source)
        if method:
            st.html('<div class="pc-group">Method</div>')
            _method(study, methods)
            advice.section(study, "sidebar", default_source=default_source, offered=methods)
            if left_out:
                st.caption(left_out)
        st.html('<div class="pc-group">Guarantee</div>')
        _guarantee(study, default_source)
        _row_bound(study, default_source)
        _seed(study)


def _source(study: Study, default_source: str) -> None:
    keys = [c.key for c in sorted(SOURCES.all(), key=lambda c: (c.group != "Simulated", c.order))] + [CSV]
    labels = {c.key: c.label for c in SOURCES.all()}
    labels[CSV] = "Your own CSV ..."
    _hold("w.source", study.source_key(default_source))

    def took() -> None:
        frame.change(lambda s: s.with_source(st.session_state["w.source"]))

    st.selectbox(
        "Data set",
        keys,
        keys.index(study.source_key(default_source)),
        key="w.source",
        format_func=labels.get,
        on_change=took,
        help="Simulated data have a known truth; public data do not; a file of yours stays in this session.",
    )
    key = study.source_key(default_source)
    if key == CSV:
        return
    card = SOURCES.get(key)
    st.caption(card.summary)
    for spec in card.parameters:
        field(spec, "data", study, owner=key)
    bring.section(key)


def _method(study: Study, offered: tuple = ()) -> None:
    families = list(dict.fromkeys(c.family for c in METHODS.all()))
    shown = [c for c in METHODS.all() if not offered or c.key in offered]
    cards = sorted(shown, key=lambda c: (c.standing == "historical", families.index(c.family), c.order))
    labels = {
        c.key: f"{c.family}: {c.label}"
        + (" (historical)" if c.standing == "historical" else "")
        + (f" (not {KINDS[study.kind].name})" if c.refuses(study.kind) else "")
        for c in cards
    }
    _hold("w.method", study.method_key())

    def took() -> None:
        frame.change(lambda s: s.with_method(st.session_state["w.method"]))

    at = list(labels).index(study.method_key())
    st.selectbox("Method", list(labels), at, key="w.method", on_change=took, format_func=labels.get)
    when_not([study.method_key()])
    card = METHODS.get(study.method_key())
    badges = f":{STANDING[card.standing]}-badge[{card.standing}] :gray-badge[{card.trust}]"
    st.markdown(f"{badges} :gray-badge[target: {card.target}]")
    if card.parameters or len(card.calibrations) > 1 or len(card.relations) > 1:
        with st.expander("Method settings"):
            for spec in card.parameters:
                field(spec, "options", study, owner=card.key)
            _setting(
                "Neighbouring tables", "neighbours", {key: RELATIONS[key].sentence for key in card.relations}, study
            )
            _setting("Noise calibration", "calibration", card.calibrations, study)


def _setting(label: str, name: str, meanings: Mapping[str, str], study: Study) -> None:
    """A select box for a choice that every method may offer, and what the chosen one means."""
    if len(meanings) < 2:
        return
    owner = study.method_key()
    key = f"w.{name}.{owner}"
    _hold(key, study.settings(METHODS.get(owner))[name])

    def took() -> None:
        frame.change(
            lambda s: dataclasses.replace(s if s.method == owner else s.with_method(owner), **{name: chosen()})
        )

    def chosen() -> str:
        return st.session_state[key]

    value = study.settings(METHODS.get(owner))[name]
    st.selectbox(label, list(meanings), list(meanings).index(value), key=key, on_change=took)
    st.caption(meanings[value])


def _guarantee(study: Study, default_source: str) -> None:
    _hold("w.kind", study.kind)

    def took() -> None:
        kind = st.session_state["w.kind"] or study.kind  # a second click on the chosen kind must not leave none
        frame.change(lambda s: dataclasses.replace(s, kind=kind))

    st.segmented_control(
        "Kind",
        ["zcdp", "approx", "pure"],
        default=study.kind,
        key="w.kind",
        on_change=took,
        help=KIND_HELP,
        format_func={"zcdp": "zCDP", "approx": "Approximate", "pure": "Pure"}.get,
    )
    privacy_lever(study)
    attacker.line(study.guarantee)
    if study.kind == "approx":
        slider(
            "Delta",
            "delta",
            log_grid(1e-12, 0.1, study.delta),
            study,
            format_func=lambda v: f"{v:.3g}",
            help=f"Probability mass to which the bound need not apply ({term('delta')}). Keep it far below 1/n.",
        )
        ends("stronger privacy", "more accuracy")
        with contextlib.suppress(ValueError):  # without rows there is no n to compare with
            n = cached.dataset(study, default_source).n
            if study.delta > 1 / n:
                st.warning(
                    f"Delta {study.delta:.3g} is above 1/n = {1 / n:.3g}: publishing one random row in the "
                    f"clear would satisfy it. Choose it below {1 / (10 * n):.1g}."
                )


def _row_bound(study: Study, default_source: str) -> None:
    try:
        data = cached.dataset(dataclasses.replace(study, bound=1.0), default_source)
    except ValueError:  # the page says why there are no rows
        st.session_state.pop("w.bound", None)
        return
    start = data.row_bound
    if st.session_state.get("bound.of") != start:  # other words on the slider: for the browser that is a new widget
        st.session_state["bound.of"], st.session_state["w.bound"] = start, study.bound
    slider(
        "Row bound R",
        "bound",
        sorted({*BOUND_STEPS, study.bound}),
        study,
        format_func=lambda m: plain(m * start),
        help=f"A row longer than R is shortened to R ({term('clipping')}). The noise grows with R squared, the bias "
        f"falls with R. It is a public number ({term('row-bound')}) and must not be read off the rows.",
    )
    ends("less noise", "less clipping")
    st.caption(f"{share_clipped(data.with_row_bound(start * study.bound)):.1%} of the rows are shortened.")


def _seed(study: Study) -> None:
    left, right = st.columns([1, 1], vertical_alignment="bottom")
    _hold("w.seed", study.seed)

    def took() -> None:
        frame.change(lambda s: dataclasses.replace(s, seed=int(st.session_state["w.seed"])))

    left.number_input(
        "Noise seed",
        0,
        2**31 - 1,
        study.seed,
        key="w.seed",
        on_change=took,
        help="The same seed gives the same noise at every epsilon, so the picture melts.",
    )
    right.button(
        "Draw again",
        on_click=lambda: frame.change(lambda s: dataclasses.replace(s, seed=s.seed + 1)),
        width="stretch",
        help="Another noise draw. With private rows each draw would spend privacy.",
    )


def field(spec: Spec, part: str, study: Study, *, owner: str) -> None:
    """One parameter as a widget. part: "data" or "options" of the study."""
    pairs = dict(getattr(study, part))
    if any({**_defaults(owner, part), **pairs}.get(k) != v for k, v in spec.shown_if.items()):
        return
    key = f"w.{part}.{owner}.{spec.name}"
    value = pairs.get(spec.name, spec.default)
    _hold(key, value)

    def took() -> None:
        chosen = st.session_state[key]

        def put(s: Study) -> Study:
            named = s if part == "data" or s.method == owner else s.with_method(owner)
            named = named if part == "options" or s.source else dataclasses.replace(named, source=owner)
            rest = {k: v for k, v in getattr(named, part) if k != spec.name}
            if chosen != spec.default:
                rest[spec.name] = chosen
            return dataclasses.replace(named, **{part: tuple(sorted(rest.items()))})

        frame.change(put)

    told = {"key": key, "on_change": took, "help": spec.help or None}
    if spec.choices:
        st.selectbox(spec.label, list(spec.choices), list(spec.choices).index(value), **told)
    elif isinstance(spec.default, bool):
        st.toggle(spec.label, value, **told)
    elif spec.log:
        whole = isinstance(spec.default, int)
        st.select_slider(
            spec.label,
            log_grid(spec.low, spec.high, value, spec.default, whole=whole),
            value,
            format_func=(lambda v: f"{v:,}") if whole else (lambda v: f"{v:g}"),
            **told,
        )
    elif isinstance(spec.default, int):
        st.number_input(spec.label, int(spec.low), int(spec.high), int(value), **told)
    else:
        st.slider(spec.label, float(spec.low), float(spec.high), float(value), **told)
    if spec.slides:
        ends(*spec.ends)


def _defaults(owner: str, part: str) -> dict:
    card = (SOURCES if part == "data" else METHODS).get(owner)
    return {s.name: s.default for s in card.parameters}
