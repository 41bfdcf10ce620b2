"""The study's own controls in the sidebar: data, method, guarantee, row bound and seed.

Every widget shows the study and writes back to it in a callback, so there is one truth and no stale copy.
"""

from __future__ import annotations

import contextlib
import dataclasses

import streamlit as st

from pages.shell import advice, attacker, cached, frame, method_form
from pages.shell.fields import field, hold
from pages.shell.glossary import term
from pages.shell.sliders import ends, log_grid
from pages.shell.study import CSV, DEFAULT_SOURCE, Study
from pages.upload import bring
from privcov.data_sources.base import SOURCES
from privcov.figures.look import plain
from privcov.measurements.clipping import share_clipped

BOUND_STEPS = tuple(round(2 ** (k / 4), 6) for k in range(-16, 13))
KIND_HELP = (
    f"{term('zcdp', 'zCDP')} composes most simply; {term('approximate-dp', 'approximate DP')} is the best known; "
    f"{term('pure-dp', 'pure DP')} is the strongest and the noisiest."
)


def slider(label: str, field: str, options: list, study: Study, *, where=st, **more) -> None:
    """A select slider bound to one field of the study."""
    key = f"w.{field}"
    hold(key, getattr(study, field))

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
            method_form.section(study, methods)
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
    hold("w.source", study.source_key(default_source))

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


def _guarantee(study: Study, default_source: str) -> None:
    hold("w.kind", study.kind)

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
    hold("w.seed", study.seed)

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
