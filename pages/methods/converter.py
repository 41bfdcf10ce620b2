"""Convert and compose: what one guarantee amounts to over several releases and rows, and by which theorem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import Any, TypeVar

import streamlit as st

from pages.common import address, show
from pages.common.fields import ends, log_grid
from pages.common.study import Study
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, Event, GaussianDP, PureDP, ZCDP
from privcov.plots.palette import Palette
from privcov.plots.words import powers

_ASKED = ("kind", "epsilon", "rho", "mu", "own-delta", "delta", "releases", "rows")
KEEPS = tuple(f"convert.{name}" for name in _ASKED)
Claim = PureDP | ApproxDP | ZCDP | GaussianDP
Given = TypeVar("Given", Claim, ZCDP)

NAMES = {
    "pure": "Pure epsilon",
    "approx": "Approximate (epsilon, delta)",
    "zcdp": "zCDP rho",
    "gdp": "Gaussian noise mu",
}
LEVEL_NAMES = {"pure": "epsilon", "approx": "epsilon", "zcdp": "rho", "gdp": "mu"}
GROUPS = {
    "pure": "{g} rows: epsilon times {g} (Dwork and Roth 2014, Theorem 2.2).",
    "approx": "{g} rows: epsilon times {g}, delta more (after Vadhan 2017, Lemma 2.2).",
    "zcdp": "{g} rows: rho times {g} squared (Bun and Steinke 2016, Proposition 1.9).",
    "gdp": "{g} rows: mu times {g} (Dong, Roth and Su 2022).",
}
TIMES = {
    "pure": "{k} releases: epsilon adds (Dwork and Roth 2014, Corollary 3.15).",
    "approx": "{k} releases: epsilon and delta add (Dwork and Roth 2014, Theorem 3.16).",
    "zcdp": "{k} releases: rho adds (Bun and Steinke 2016, Lemma 1.7).",
    "gdp": "{k} releases: mu times the root of {k}, exactly (Dong, Roth and Su 2022, Corollary 2).",
}
CHANCES = {
    "pure": "Exact (Kairouz, Oh and Viswanath 2015, Theorem 2.1).",
    "approx": "Exact for the pair (Kairouz, Oh and Viswanath 2015, Theorem 2.1).",
    "zcdp": "At most 1/2 + sqrt(rho/8) (Pinsker), or less by its (epsilon, delta) pairs.",
    "gdp": "Exact: the normal distribution at mu/2 (Dong, Roth and Su 2022, Section 2).",
}
TIGHT = "Best Renyi order (Canonne, Kamath and Steinke 2020, Corollary 13)."
SIMPLE = "rho + 2 sqrt(rho ln(1/delta)): too large (Bun and Steinke 2016, Proposition 1.3)."
PURE_ZCDP = "Epsilon-DP is (epsilon squared / 2)-zCDP (Bun and Steinke 2016, Proposition 1.4)."
CURVE = "Exact for Gaussian noise (Balle and Wang 2018, Theorem 8)."


@dataclass(frozen=True)
class Route:
    """One way to the same statement: its number, and the theorem that allows it."""

    name: str
    value: float
    why: str


def whole(start: Given, k: int, g: int) -> Given:
    """Return the guarantee of k releases with g rows per person; counting rows first makes the smaller delta."""
    return accounting.self_compose(accounting.group(start, g), k)


def as_zcdp(given: Claim) -> tuple[ZCDP, str]:
    """Return (zCDP, theorem). Raises ValueError where none follows."""
    if isinstance(given, ZCDP):
        return given, "It is zCDP from the start."
    if isinstance(given, PureDP):
        return ZCDP(accounting.pure_to_zcdp(given.epsilon)), PURE_ZCDP
    if isinstance(given, GaussianDP):
        event = Event("matrix", "any", "gaussian", "l2", given.mu, 1.0, "given")
        read = accounting.compose((event,), ZCDP(1.0))
        assert isinstance(read, ZCDP)  # the kind that was asked for
        return (read, "mu-GDP is (mu squared / 2)-zCDP (Bun and Steinke 2016, Proposition 1.6).")
    raise ValueError("No zCDP follows from an (epsilon, delta) pair. Choose zCDP or Gaussian noise above.")


def as_approx(start: Claim, given: Claim, k: int, g: int, delta: float) -> list[Route]:
    """Return ways to read ``given`` at delta, the smallest epsilon first. Raises TypeError where none exists."""
    if isinstance(given, ApproxDP):
        why = "A larger delta only weakens it." if given.delta < delta else "The pair itself."
        return [Route("Basic", accounting.to_approx(given, delta).epsilon, why)]
    if isinstance(given, ZCDP):
        return [
            Route("Tight", accounting.to_approx(given, delta).epsilon, TIGHT),
            Route("Simple", accounting.zcdp_to_approx(given.rho, delta, tight=False), SIMPLE),
        ]
    # Each release becomes zCDP by itself before rho adds: k (epsilon^2 / 2), not (k epsilon)^2 / 2.
    through = accounting.to_approx(whole(as_zcdp(start)[0], k, g), delta).epsilon
    if isinstance(given, PureDP):
        routes = [
            Route("Basic", given.epsilon, "Holds with delta 0."),
            Route("Through zCDP", through, f"{PURE_ZCDP} Then rho adds."),
        ]
    else:
        routes = [
            Route("Exact", accounting.to_approx(given, delta).epsilon, CURVE),
            Route("Through zCDP", through, "(mu squared / 2)-zCDP, converted."),
        ]
    return sorted(routes, key=lambda r: r.value)


def chance(start: Claim, given: Claim, k: int, g: int) -> Route:
    """Return the attacker's best chance; for repeated pure releases the smaller of two bounds."""
    route = Route("", accounting.attacker_success(given), CHANCES[given.kind])
    if isinstance(given, PureDP) and k > 1:
        through = accounting.attacker_success(whole(as_zcdp(start)[0], k, g))
        if through < route.value:
            return Route("", through, "At most, through zCDP.")
        return Route("", route.value, "At most, by the summed epsilon.")
    return route


def shown(value: float) -> str:
    """Return the value with four digits, never less than the value."""
    if value < 1e-20:
        return "< 10⁻²⁰"
    # Twelve digits first: a float that stands for 0.1 must not be shown as 0.1001.
    return powers(float(Context(prec=4, rounding=ROUND_CEILING).create_decimal(f"{value:.12g}")), 4)


def words(given: Claim) -> str:
    """Return the guarantee as a short statement."""
    if isinstance(given, ApproxDP):
        return f"({shown(given.epsilon)}, {shown(given.delta)})-DP"
    value, name = {"pure": ("epsilon", "DP"), "zcdp": ("rho", "zCDP"), "gdp": ("mu", "GDP")}[given.kind]
    return f"{shown(getattr(given, value))}-{name}"


@st.fragment
def section(study: Study, palette: Palette) -> None:
    """Show the converter. It is a fragment: the cards of the other tab need not be drawn again at each keystroke."""
    start, k, g, delta = _controls(study)
    place = st.columns(3, gap="medium")
    given = None
    with place[0], _card("All together"), show.problems():
        given = whole(start, k, g)
        st.metric(f"Releases: {k:,}, rows per person: {g:,}", words(given))
        if g > 1:
            st.caption(GROUPS[given.kind].format(g=f"{g:,}"))
        if k > 1:
            st.caption(TIMES[given.kind].format(k=f"{k:,}"))
        if k == g == 1:
            st.caption("Raise the number of releases or of rows.")
    if given is None:
        return
    with place[1], _card(f"As (epsilon, delta) at delta = {powers(delta)}"):
        _approx(start, given, k, g, delta)
    with place[2], _card("As zCDP"):
        _zcdp(start, k, g)
    before, after = st.columns(2, gap="medium")
    for where, title, best in (
        (before, "One release, one row", chance(start, start, 1, 1)),
        (after, "All together", chance(start, given, k, g)),
    ):
        with where, _card(f"Attacker's best chance: {title.lower()}"):
            st.metric("Right guesses", show.chance(best.value), label_visibility="collapsed")
            show.attacker_meter(best.value, palette)
            st.caption(best.why)
    st.caption("Rounded up. The attacker guesses between two neighbouring tables.")


def _controls(study: Study) -> tuple[Claim, int, int, float]:
    """Show the settings and return (guarantee of one release, releases, rows per person, delta)."""
    with st.container(border=True):
        kind = address.bound(
            st.segmented_control,
            "Guarantee of one release",
            list(NAMES),
            name="convert.kind",
            default=study.kind,
            quiet=True,
            required=True,
            format_func=NAMES.get,
            key="convert-kind",
        )
        places = st.columns(5 if kind == "approx" else 4, vertical_alignment="bottom")
        level_name = LEVEL_NAMES[kind]
        value = address.bound(
            places[0].number_input,
            level_name.capitalize(),
            1e-6,
            100.0,
            name=f"convert.{level_name}",
            default=min(float(getattr(study, level_name, 1.0)), 100.0),
            quiet=True,
            step=0.1,
            format="%g",
            key=f"convert-{kind}-{level_name}",
            help="Bounds one row's change.",
        )
        own = study.delta
        if kind == "approx":
            own = _delta("Delta of one release", "convert-own-delta", study.delta, places[1])
        k, g = (
            address.bound(
                place.number_input, label, 1, most, name=f"convert.{name}", default=1, quiet=True,
                key=f"convert-{name}", help=why,
            )
            for place, label, most, name, why in (
                (places[-3], "Releases", 1000, "releases", "Of the same rows."),
                (places[-2], "Rows per person", 100, "rows", "A guarantee protects one row."),
            )
        )  # fmt: skip
        delta = _delta("Delta to read it at", "convert-delta", study.delta, places[-1])
    classes: dict[str, Callable[[float], Claim]] = {"pure": PureDP, "zcdp": ZCDP, "gdp": GaussianDP}
    return (ApproxDP(value, own) if kind == "approx" else classes[kind](value)), int(k), int(g), delta


def _delta(label: str, key: str, start: float, where) -> float:
    # The value on the slider must stay one of its options when a link brings another study.
    setting: dict[str, Any] = {"name": f"convert.{key.removeprefix('convert-')}", "key": key, "default": start}
    setting["code"] = address.number(1e-15, 0.5, whole=False)
    now = address.settle(**setting)
    options = log_grid(1e-12, 0.1, start, now)
    chosen = address.bound(where.select_slider, label, options, **setting, quiet=True, format_func=powers)
    ends("stronger privacy", "smaller epsilon", where)
    return chosen


def _approx(start: Claim, given: Claim, k: int, g: int, delta: float) -> None:
    """Show what the guarantee amounts to as (epsilon, delta)."""
    try:
        best, *rest = as_approx(start, given, k, g, delta)
    except TypeError:  # the pair's own delta is larger. A reason is an answer, not an error
        assert isinstance(given, ApproxDP)
        st.info(
            f"Nothing follows at delta = {powers(delta)}. Choose {shown(given.delta)} or more, zCDP or Gaussian noise."
        )
        return
    st.metric(f"Epsilon, {best.name.lower()}", shown(best.value))
    st.caption(best.why)
    for route in rest:
        st.markdown(f"{route.name}: **{shown(route.value)}**")
        st.caption(route.why)


def _zcdp(start: Claim, k: int, g: int) -> None:
    try:
        single, why = as_zcdp(start)
    except ValueError as reason:
        st.info(str(reason))
        return
    st.metric("Rho", shown(whole(single, k, g).rho))
    st.caption(why)
    if single is not start and k * g > 1:
        st.caption("Each release is converted first.")


def _card(title: str):
    """Return a titled container with a border."""
    box = st.container(border=True, height="stretch")
    box.markdown(f"**{title}**")
    return box
