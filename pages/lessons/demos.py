"""Six demonstrations, one screen and one control each: the attack on the left, the repair on the right."""

from __future__ import annotations

from html import escape

import streamlit as st

from pages.common import frame, show
from pages.common.fields import ends
from privcov.attacks import demonstrations
from privcov.attacks.demonstrations import DEMONSTRATIONS, Curve, Demonstration, Finding
from privcov.attacks.demonstrations_attack import CONFIDENCE, Side
from privcov.plots import demonstrations as pictures
from privcov.plots.palette import wash

_CHOICE = "demo-choice"


def draw() -> None:
    """Show the chooser and the chosen demonstration; settings are ``demo`` and ``demo_lever``."""
    shown = _choose()
    left, right = st.columns(2, gap="large", vertical_alignment="center")
    with left:
        st.markdown(
            f"**Why it feels harmless.** {show.as_text(shown.harmless)}  \n"
            f"**Where it occurs.** {show.as_text(shown.occurs)}"
        )
        value = _control(shown)
    with right:
        curve = pictures.over_lever(_curve(shown.key), shown, value, frame.palette())
        show.picture(curve, "demo-curve")
    result = _result(shown.key, value, st.session_state["study"].seed)
    show.tag("Simulated", shown.tables)
    left, right = st.columns(2, gap="medium")
    with left.container(border=True, height="stretch"):
        _side(result.done, shown, done=True)
    with right.container(border=True, height="stretch"):
        _side(result.repaired, shown, done=False)
    with st.expander("The game, and the same in Python"):
        st.markdown(_GAME)
        st.code(script(shown, value, st.session_state["study"].seed), language="python")


_GAME = f"""
- A coin picks one of two tables. The attacker knows both and the method, sees the answer, and guesses.
- The large number is the best attacker's, in closed form wherever there is one; below it, simulated attacks with the
  exact {show.percent(CONFIDENCE)} binomial interval (Clopper and Pearson).
- **Permitted at most**: what the claim leaves any attacker. Gaussian noise stays below it: zCDP covers worse
  mechanisms.
  **If charged**: permitted once the ledger has counted every draw.
"""


def _choose() -> Demonstration:
    known = {d.key: d for d in DEMONSTRATIONS}
    chosen = known.get(frame.page_setting("demo"), DEMONSTRATIONS[0])
    if st.session_state.get(_CHOICE) != chosen.key:
        st.session_state[_CHOICE] = chosen.key
    st.pills(
        "Demonstration",
        list(known),
        format_func=lambda key: known[key].title,
        key=_CHOICE,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: frame.set_query(demo=st.session_state[_CHOICE], demo_lever=""),
    )
    return chosen


def _text(value: float) -> str:
    """Return a value of a control as its text in an address; never with a plus sign, which is a space there."""
    return f"{value:.12g}"


def _control(shown: Demonstration) -> float:
    control, key = shown.control, f"demo-lever-{shown.key}"
    by_text = {_text(value): value for value in control.options}
    value = by_text.get(frame.page_setting("demo_lever"), control.default)
    if st.session_state.get(key) != value:
        st.session_state[key] = value
    st.select_slider(
        control.label,
        control.options,
        key=key,
        format_func=control.words,
        on_change=lambda: frame.set_query(demo_lever=_text(st.session_state[key])),
    )
    ends(control.left, control.right)
    return value


def _side(side: Side, shown: Demonstration, *, done: bool) -> None:
    """Show one side: what is done, how often the attacker is right, and what is permitted."""
    palette = frame.palette()
    title, sentence = ("As it is done", shown.habit) if done else ("As it should be", shown.repair)
    st.markdown(f"**{title}.** {show.as_text(sentence)}")
    one, two, three = st.columns([3, 3, 5], vertical_alignment="center")
    one.metric("Attacker is right", show.chance(side.success))
    about = " Here: about the printed person, picked after the release." if shown.certain else ""
    two.metric("Permitted at most", show.chance(side.limit), help=f"{side.claim} was claimed.{about}")
    with three:
        show.attacker_meter(side.success, palette)
    colour = palette.bad if side.broken or side.worthless or side.exceeded else palette.good
    st.html(
        f'<div role="status" style="border-left: .3rem solid {colour}; background: {wash(colour, 0.1)}; '
        f'padding: .55rem .9rem; border-radius: .3rem"><b>{verdict(side, done=done)}</b> {escape(side.finding)}</div>'
    )
    show.picture(pictures.seen(side, title, palette), f"demo-{'done' if done else 'repaired'}")
    st.caption(
        f"{side.guesses:,} simulated attacks: right in {show.percent(side.hits / side.guesses)} "
        f"({show.percent(CONFIDENCE)} binomial interval {show.percent(side.low)} to {show.percent(side.high)})"
        + ("; the number above is the closed form." if side.exact else ".")
    )


def verdict(side: Side, *, done: bool) -> str:
    """Return the outcome in a few words."""
    if side.broken:
        return "The attack succeeds."
    if side.worthless:
        return "The claim is kept, and permits certainty."
    if side.exceeded:
        return "Claim exceeded; too little for this attacker to show."
    return "Harmless at this end of the control." if done else "The repair holds."


@st.cache_resource(max_entries=64, show_spinner="The attacker is at work ...")
def _result(key: str, value: float, seed: int) -> Finding:
    """Run both attacks, once for all visitors."""
    return demonstrations.run(key, value, seed=seed)


@st.cache_resource(max_entries=len(DEMONSTRATIONS), show_spinner=False)
def _curve(key: str) -> Curve:
    """Return the attacker's success over all values of the control, computed once for all visitors."""
    return demonstrations.curve(key)


def script(shown: Demonstration, value: float, seed: int) -> str:
    """Return source text whose variable ``found`` holds both attacks on the page."""
    return "\n".join(
        [
            "from privcov.attacks import demonstrations",
            "",
            f"found = demonstrations.run({shown.key!r}, {value!r}, seed={seed})",
            "print(found.done.success, found.done.limit, found.done.finding)",
            "print(found.repaired.success, found.repaired.limit, found.repaired.finding)",
        ]
    )
