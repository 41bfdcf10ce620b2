"""The guarantee of a lesson by rho or by epsilon: one switch for every lesson whose control is rho."""

from __future__ import annotations

import dataclasses
import math

import streamlit as st

from pages.common import frame
from pages.lessons.lesson import Control
from pages.lessons.simulated import AT_DELTA, epsilon, rho_at

UNITS = ("rho", "epsilon")
STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)  # of each power of ten


def unit() -> str:
    """Return the unit that the address names; the class keeps it from lesson to lesson."""
    name = frame.page_setting("unit", UNITS[0])
    if name not in UNITS:
        frame.leave_out("unit", f"The units are {' and '.join(UNITS)}.")
        return UNITS[0]
    return name


def in_unit(control: Control, name: str, text: str = "") -> Control:
    """Return the control of a lesson in a unit: a control of rho in epsilon, every other control as it is.

    ``text`` is the value in the address. The visitor may have chosen it in the other unit. The control then gets an
    extra place with this value and the same noise: a switch of the unit renames the noise and does not change it.
    """
    if not control.is_rho:
        return control
    by_epsilon = in_epsilon(control)
    here, there = (by_epsilon, control) if name == "epsilon" else (control, by_epsilon)
    named = {renamed(there.meaning(option), name): option for option in there.options}
    place = next((place for place in named if str(place) == text and place not in here.options), None)
    if place is None:
        return here

    def meaning(option: float) -> float:
        return there.meaning(named[place]) if option == place else here.meaning(option)

    return dataclasses.replace(here, options=tuple(sorted((*here.options, place))), meaning=meaning)


def renamed(rho: float, name: str) -> float:
    """Return rho in a unit, to three digits."""
    return float(f"{epsilon(rho) if name == 'epsilon' else rho:.3g}")


def in_epsilon(control: Control) -> Control:
    """Return a control of rho as one of epsilon, in round steps from the nearest on, that hands on the rho."""
    low, high = (epsilon(control.options[at]) for at in (0, -1))
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = tuple(round(step * 10.0**power, 9) for power in powers for step in STEPS)
    slack = math.sqrt(STEPS[1])  # half a step
    options = tuple(step for step in steps if low / slack <= step <= high * slack)
    return dataclasses.replace(
        control,
        label=f"Epsilon at {AT_DELTA}",
        options=options,
        start=nearest(options, epsilon(control.start)),
        meaning=rho_at,
        help="The same noise, named by the epsilon that its rho implies at this delta.",
    )


def nearest(options: tuple[float, ...], value: float) -> float:
    """Return the option whose ratio to a value is the smallest."""
    return min(options, key=lambda option: abs(math.log(option / value)))


def switch(control: Control, value: float) -> None:
    """Show the switch between rho and epsilon for a control of rho; ``value`` is in the unit on the screen."""
    if not control.is_rho:
        return
    key, now = "lesson-unit", unit()
    if st.session_state["fresh_page"] or st.session_state.get(key) != (now == "epsilon"):
        st.session_state[key] = now == "epsilon"

    def turned() -> None:
        other = UNITS[UNITS[0] == now]
        place = renamed(in_unit(control, now, str(value)).meaning(value), other)
        there = in_unit(control, other, str(place))
        frame.set_query(unit="epsilon" if other == "epsilon" else "", lever="" if place == there.start else str(place))

    st.toggle("By epsilon", key=key, on_change=turned, help=f"Epsilon at {AT_DELTA} instead of rho.")
