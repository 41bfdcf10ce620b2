"""Typed fields: the one way in which a page makes a widget from a parameter, and what belongs beside it.

A widget shows a value that is kept elsewhere, and its callback writes a change back, so no copy is stale. Here the
value is part of the study; `pages.common.address` does the same for a setting of one page.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.common import frame, show, study_results
from pages.common.study import Study
from privcov.core.guarantees import Guarantee
from privcov.core.parameters import ParameterSpec
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.releases.release import Release

LEVELS = {"rho": (1e-5, 10.0), "epsilon": (0.01, 20.0)}  # ends of the slider for the level
THIS_RELEASE = "Attacker, this release"
_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


# --- a widget and its value ---------------------------------------------------------------------------------


def show_value(key: str, value: Any) -> None:
    """Make the widget show the value; assigning an equal one would make the browser jump while dragging."""
    if st.session_state["fresh_page"] or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def default_args(kind: str, args: tuple, value: object) -> dict[str, object]:
    """Return the value a second time, as the widget's default, by the name of the Streamlit function.

    A browser may miss a run that another one overtakes. Without a default it then resets the widget: a number to its
    minimum, a text to nothing, a list to its first entry, buttons to none.
    """
    if kind in ("number_input", "slider", "select_slider", "toggle", "text_input"):
        return {"value": value}
    if kind in ("segmented_control", "multiselect"):
        return {"default": value}
    return {"index": list(args[0]).index(value)} if kind == "selectbox" and value in args[0] else {}


def study_widget(
    make: Callable, label: str, *args: Any, key: str, value: Any, put: Callable[[Study, Any], Study], **more: Any
) -> None:
    """Show the widget ``make(label, *args, **more)`` at a value of the study; ``put`` returns the changed study."""
    show_value(key, value)

    def changed() -> None:
        choice = st.session_state[key]
        if make.__name__ == "selectbox" and choice not in args[0]:
            return  # words of an option from before these changed; `show_value` puts the present one
        frame.change(lambda study: put(study, choice))

    make(label, *args, key=key, on_change=changed, **default_args(make.__name__, args, value), **more)


def parameter_widget(spec: ParameterSpec, part: str, study: Study, *, owner: str) -> None:
    """Show one parameter of a method or a source, whose key is ``owner``, from "data" or "options" of the study."""
    if not is_shown(spec, part, study, owner=owner):
        return
    value = dict(getattr(study, part)).get(spec.name, spec.default)

    def put(s: Study, setting: object) -> Study:
        new_study = s if part == "data" else s.naming(study, owner)
        new_study = new_study if part == "options" or s.source else dataclasses.replace(new_study, source=owner)
        rest = {k: v for k, v in getattr(new_study, part) if k != spec.name}
        if setting != spec.default:
            rest[spec.name] = setting
        pairs: dict[str, Any] = {part: tuple(sorted(rest.items()))}
        return dataclasses.replace(new_study, **pairs)

    whole = isinstance(spec.default, int)
    make: Callable
    args: tuple
    more: dict[str, Any] = {"help": " ".join(filter(None, (spec.help, spec.reference))) or None}
    if spec.choices:
        make, args = st.selectbox, (list(spec.choices),)
    elif isinstance(spec.default, bool):
        make, args = st.toggle, ()
    else:
        low, high = spec.low, spec.high
        assert low is not None  # `parameter` asks for both where there is a number
        assert high is not None
        if spec.log:
            make, args = st.select_slider, (log_grid(low, high, value, spec.default, whole=whole),)
            more["format_func"] = ("{:,}" if whole else "{:g}").format
        elif whole:
            make, args, value = st.number_input, (int(low), int(high)), int(value)
        else:
            make, args, value = st.slider, (float(low), float(high)), float(value)
    study_widget(make, spec.label, *args, key=f"w.{part}.{owner}.{spec.name}", value=value, put=put, **more)
    if spec.slides:
        ends(*spec.ends)


def is_shown(spec: ParameterSpec, part: str, study: Study, *, owner: str) -> bool:
    """Return whether the form shows the parameter at the other values of the study."""
    card = (SOURCES if part == "data" else METHODS).get(owner)
    values = {s.name: s.default for s in card.parameters} | dict(getattr(study, part))
    return all(values.get(name) == value for name, value in spec.shown_if.items())


# --- what every slider has ----------------------------------------------------------------------------------


def log_grid(low: float, high: float, *also: float, whole: bool = False) -> list:
    """Return round numbers about evenly spaced on a log scale from low to high, and the extra values."""
    return list(_log_grid(low, high, whole, *also))


@functools.lru_cache(maxsize=256, typed=True)
def _log_grid(low: float, high: float, whole: bool, *also: float) -> list:
    decade = -16
    values = set(also)
    while 10.0**decade <= high:
        values |= {float(f"{m * 10.0**decade:.6g}") for m in _STEPS}
        decade += 1
    grid = sorted(v for v in values if low * (1 - 1e-9) <= v <= high * (1 + 1e-9) or v in also)
    return sorted({int(v) for v in grid if v == int(v)}) if whole else grid


def ends(left: str, right: str, where=st) -> None:
    """Show words at the two ends of the slider above."""
    where.html(f'<div class="pc-ends"><span>{left}</span><span>{right}</span></div>')


# --- the attacker beside an epsilon that is being chosen ----------------------------------------------------


def attacker(guarantee: Guarantee, label: str = "Attacker, any method") -> None:
    """Show what the guarantee alone leaves the best possible attacker."""
    show.attacker_line(study_results.attacker_success(guarantee), frame.palette(), label, most=True)


def show_error_and_attacker(rel: Release, level: float, relative_error: float | None, against: str, label: str) -> None:
    """Show the error of the current release, and the best attacker's chance.

    ``level``: the slider's level, as `follow.js` compares it; ``label``: the attacker's; the tooltip has the bound for
    any method.
    """
    hint = ""
    if rel.actual_guarantee is not None:
        success = study_results.attacker_success(rel.guarantee)
        hint = f"Any method under {rel.guarantee}: {show.chance(success, most=True)}."
    show.error_and_attacker(f"{level:g}", relative_error, against, rel.attacker_success, frame.palette(), hint, label)
