"""One parameter of a method or a source becomes a widget that shows the study and writes back to it."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from pages.shell import frame
from pages.shell.sliders import ends, log_grid
from pages.shell.study import Study
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.parameters import Spec


def hold(key: str, value: Any) -> None:
    """Make the widget show the study; assigning an equal value would make the browser jump while dragging.

    Widgets are told the value a second time, as their default: the browser may never hear of a run that another one
    overtakes, and then a number field sends back its minimum, a list shows its first entry, and buttons show none.
    """
    if st.session_state["fresh_page"] or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def field(spec: Spec, part: str, study: Study, *, owner: str) -> None:
    """One parameter as a widget. part: "data" or "options" of the study."""
    if not stands(spec, part, study, owner=owner):
        return
    pairs = dict(getattr(study, part))
    key = f"w.{part}.{owner}.{spec.name}"
    value = pairs.get(spec.name, spec.default)
    hold(key, value)

    def took() -> None:
        chosen = st.session_state[key]

        def put(s: Study) -> Study:
            named = s if part == "data" or s.method == owner else s.with_method(owner)
            named = named if part == "options" or s.source else dataclasses.replace(named, source=owner)
            rest = {k: v for k, v in getattr(named, part) if k != spec.name}
            if chosen != spec.default:
                rest[spec.name] = chosen
            pairs = tuple(sorted(rest.items()))
            return (
                dataclasses.replace(named, data=pairs) if part == "data" else dataclasses.replace(named, options=pairs)
            )

        frame.change(put)

    told: dict[str, Any] = {"key": key, "on_change": took}
    told["help"] = " ".join(filter(None, (spec.help, spec.reference))) or None
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


def stands(spec: Spec, part: str, study: Study, *, owner: str) -> bool:
    """Whether the form shows it at the other values of the study."""
    card = (SOURCES if part == "data" else METHODS).get(owner)
    values = {s.name: s.default for s in card.parameters} | dict(getattr(study, part))
    return all(values.get(name) == value for name, value in spec.shown_if.items())
