"""Six demonstrations, one screen and one control each: the attack on the left, the repair on the right."""

from __future__ import annotations

import functools
from typing import Any

import streamlit as st

from pages.common import address, frame, show
from pages.lessons import player
from pages.lessons.lesson import Control, Screen, compute_once
from privcov.attacks import demonstrations
from privcov.attacks.demonstrations import DEMONSTRATIONS, Curve, Demonstration
from privcov.attacks.demonstrations_attack import CONFIDENCE, AttackResult
from privcov.plots import demonstrations as pictures
from privcov.plots.palette import DARK, LIGHT, Palette

BY_KEY = {one.key: one for one in DEMONSTRATIONS}


def draw() -> None:
    """Show the chooser and the chosen demonstration; settings are ``demo`` and ``demo_lever``."""
    demo, palette, seed = _choose(), frame.palette(), st.session_state["study"].seed
    values = {_text(value): value for value in demo.control.options}
    if frame.page_setting("demo_lever") not in ("", *values):
        frame.leave_out("demo_lever", f"It is one of {', '.join(values)}.")
    make = functools.partial(compute_once, demonstration_content, demo.key, palette.dark, seed)
    player.play(f"{demo.key}-{palette.dark}-{seed}", make, palette, "demo_lever", slow=True)
    value = values[frame.page_setting("demo_lever", _text(demo.control.default))]
    with st.expander("The game, and the same in Python"):
        st.markdown("\n".join(f"- {sentence}" for sentence in GAME))
        st.code(script(demo, value, seed), language="python")


def demonstration_content(key: str, dark: bool, seed: int) -> dict[str, Any]:
    """Return what the player shows of a demonstration."""
    demo, palette = BY_KEY[key], DARK if dark else LIGHT
    control = demo.control
    curve = demonstrations.curve(key)
    frames = player.frames([[at(demo, curve, value, palette, seed) for value in control.options]], palette)
    plain = Control(control.label, control.options, control.default, control.left, control.right, control.words)
    aim = f"**Why it feels harmless.** {demo.harmless} **Where it occurs.** {demo.occurs}"
    return {
        **player.control_content(plain),
        **frames,
        "values": [_text(value) for value in control.options],
        "key": f"{key}-{dark}-{seed}",
        "number": key,
        "aim": player.paragraphs(aim),
        "question": "",
        "choices": [],
    }


def at(demo: Demonstration, curve: Curve, value: float, palette: Palette, seed: int) -> Screen:
    """Return the screen at a value of the control: the curve, both sides' answers, the verdicts."""
    result = demonstrations.run(demo.key, value, seed=seed)
    screen = Screen(palette)
    screen.tag("Simulated", demo.tables)
    screen.put(pictures.over_lever(curve, demo, value, palette), "curve-demo")
    sides = ((result.done, "As it is done", "chart-done"), (result.repaired, "As it should be", "chart-repaired"))
    panels = [(title, pictures.answer_histogram(side, title, palette), key) for side, title, key in sides]
    if result.done.histogram.second is not None:  # one range for both, so that they can be compared
        ends = [end for _, picture, _ in panels for end in picture.figure.layout.xaxis.range]
        for _, picture, _ in panels:
            picture.figure.layout.xaxis.range = [min(ends), max(ends)]
    screen.side_by_side(panels)
    screen.sentence = f"{side_text(result.done, demo, done=True)}\n\n{side_text(result.repaired, demo, done=False)}"
    return screen


def side_text(side: AttackResult, demo: Demonstration, *, done: bool) -> str:
    """Return one side in words: what is done, how often the attacker is right, and what is permitted."""
    title, sentence = ("As it is done", demo.habit) if done else ("As it should be", demo.repair)
    about = " about the printed person, picked after the release" if demo.certain else ""
    claim = str(side.claim).replace("1e-300", "0")  # the smallest epsilon that is not 0
    exact = "; the number above is the closed form" if side.exact else ""
    return (
        f"**{title}.** {sentence} Attacker is right{about}: **{show.chance(side.success)}**. Permitted at most by "
        f"{claim}: {show.chance(side.limit)}. **{verdict(side, done=done)}** {side.finding} "
        f"{side.guesses:,} simulated attacks: right in {show.percent(side.hits / side.guesses)} "
        f"({show.percent(CONFIDENCE)} binomial interval {show.percent(side.low)} to {show.percent(side.high)}){exact}."
    )


GAME = (
    "A coin picks one of two tables. The attacker knows both and the method, sees the answer, and guesses.",
    "The large number is the best attacker's, in closed form wherever there is one; below it, simulated attacks with "
    f"the exact {show.percent(CONFIDENCE)} binomial interval (Clopper and Pearson).",
    "**Permitted at most**: what the claim leaves any attacker. Gaussian noise stays below it: zCDP covers worse "
    "mechanisms. **If charged**: permitted once the ledger has counted every draw.",
)


def _choose() -> Demonstration:
    key = address.bind_widget(
        st.pills, "Demonstration", list(BY_KEY), name="demo", default=DEMONSTRATIONS[0].key, key="demo-choice",
        clears=("demo_lever",), format_func=lambda key: BY_KEY[key].title, required=True, label_visibility="collapsed",
    )  # fmt: skip
    return BY_KEY[key]


def _text(value: float) -> str:
    """Return a value of a control as its text in an address; never with a plus sign, which is a space there."""
    return f"{value:.12g}"


def verdict(side: AttackResult, *, done: bool) -> str:
    """Return the outcome in a few words."""
    if side.refutes_claim:
        return "The attack succeeds."
    if side.worthless:
        return "The claim is kept, and permits certainty."
    if side.exceeded:
        return "Claim exceeded; too little for this attacker to show."
    return "Harmless at this end of the control." if done else "The repair holds."


def script(demo: Demonstration, value: float, seed: int) -> str:
    """Return source text whose variable ``found`` holds both attacks on the page."""
    return "\n".join(
        [
            "from privcov.attacks import demonstrations",
            "",
            f"found = demonstrations.run({demo.key!r}, {value!r}, seed={seed})",
            "print(found.done.success, found.done.limit, found.done.finding)",
            "print(found.repaired.success, found.repaired.limit, found.repaired.finding)",
        ]
    )
