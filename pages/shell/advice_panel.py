"""The panel behind "Which method?": the answer, its numbers, what would change it, and where it was measured."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

import streamlit as st

from pages.shell import cached, frame, show
from pages.shell.study import Study
from privcov.advice.advise import advise
from privcov.advice.answer import HARMFUL, REMEDY, UNKNOWN, Advice, if_known, label_of, structure_label
from privcov.advice.grid import FOLDER, TARGETS
from privcov.advice.rank import TRIVIAL, Line
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.figures.words import plain, raised
from privcov.parameters import build

_SHOWN = 5  # methods in the small table
_TARGETS = {"covariance": "Covariance", "precision": "Precision", "graph": "Graph"}


def for_study(study: Study, where: str, default_source: str, targets: Sequence[str], offered: Sequence[str]) -> None:
    """Show the inside of the popover; see `advice.section`."""
    data = cached.dataset(study, default_source)
    st.markdown(f"**Which method for my n, d and {study.level_name}?**")
    st.caption(
        show.as_text(f"For {raised(str(study.guarantee))}, from public facts and measured cells. No row is read.")
    )
    answer = st.container()  # the answer comes first, and is computed from what follows
    left, right = st.columns(2)
    n = left.number_input("Rows n", 1, 10_000_000, data.n, key=f"advice-n-{where}-{data.n}")
    d = right.number_input("Columns d", 1, 2_000, data.d, key=f"advice-d-{where}-{data.d}")
    target = _target(study, where, targets)
    structure = _structure(target, f"advice-structure-{where}-{target}")
    known = st.toggle(
        "The mean is publicly known",
        data.mean_is_zero,
        key=f"advice-mean-{where}-{data.mean_is_zero}",
        help="Otherwise it is measured too, with more noise.",
    )
    advice = advise(int(n), int(d), study.guarantee, target, structure, mean_known=known)
    with answer:
        _answer(advice)
        if advice.pick:
            _use_it(advice, where, offered, study)
    _rest(advice, where)
    _again(advice, study)


def _target(study: Study, where: str, targets: Sequence[str]) -> str:
    """Show what may be wanted and return the choice."""
    if len(targets) == 1:
        return targets[0]
    start = METHODS.get(study.method_key()).target
    return st.segmented_control(
        "Wanted", targets, default=start if start in targets and "covariance" in targets else targets[0], required=True,
        format_func=_TARGETS.__getitem__, key=f"advice-target-{where}-{study.method_key()}",
    )  # fmt: skip


def _structure(target: str, key: str) -> str:
    """Show the structures that may be suspected and return the choice."""
    return st.selectbox(
        "What do you suspect?",
        [UNKNOWN, *(s.key for s in TARGETS[target].structures)],
        format_func=lambda chosen: structure_label(target, chosen).capitalize(),
        key=key,
        help="From knowledge of the field, not from the rows.",
    )


def _answer(advice: Advice) -> None:
    first, *_ = advice.verdict
    name = label_of(advice, advice.pick) if advice.pick else "None"
    rest = first.removeprefix(name).lstrip(".: ")
    text = f"**{show.as_text(name)}.** {show.as_text(rest[:1].upper() + rest[1:])}"
    (st.success if advice.pick and not advice.outside else st.warning)(text)
    if advice.outside:
        st.warning(f"Outside the evidence: no stored cell is near. {REMEDY}")


def _use_it(advice: Advice, where: str, offered: Sequence[str], study: Study) -> None:
    """Show the button that chooses the answer, or why there is none."""
    pick = advice.pick
    if offered and pick not in offered:
        st.caption(show.as_text(f"{label_of(advice, pick)} is not on offer on this page."))
    elif pick == study.method_key():
        st.caption("It is already chosen.")
    else:
        use = functools.partial(frame.change, lambda s: s.with_method(pick))
        st.button("Use it", type="primary", on_click=use, key=f"advice-use-{where}")


def _rest(advice: Advice, where: str) -> None:
    """Show the table, what would change the answer, and where it was measured."""
    st.markdown(table(advice))
    if known := if_known(advice):
        st.markdown("**If you know the structure**")
        st.markdown("\n".join(f"- {show.as_text(text)}" for text in known))
    if advice.what_would_change:
        st.markdown("**What would change it**")
        st.markdown("\n".join(f"- {show.as_text(text)}" for text in advice.what_would_change))
    for text in advice.verdict[1:]:
        st.caption(show.as_text(text))
    evidence_download(advice.question.target, where)


def evidence_download(target: str, where: str) -> None:
    """Show the download of the stored evidence of a target."""
    show.download(
        "The evidence as CSV",
        lambda: (FOLDER / f"{target}.csv").read_text(encoding="utf-8"),
        f"advice-{target}.csv",
        f"advice-csv-{where}",
    )


def table(advice: Advice, most: int = _SHOWN) -> str:
    """Return the best ``most`` methods and the trivial answers as a markdown table."""
    methods = [line for line in advice.ranking if not line.trivial][:most]
    kept = [line for line in advice.ranking if line in methods or line.trivial]
    target = advice.question.target
    if len(advice.cells) > 1:
        head = ["Answer", "Worst ratio to the best", "Errors over the structures"]
        rows = [[_ratio(line.worst), _span([a.error for a in line.answers.values()])] for line in kept]
        words = f"{TARGETS[target].measure}, over {len(advice.cells)} structures."
        if any(line.harms for line in kept):
            words += f" \\* {HARMFUL}"
    else:
        head = ["Answer", "Error", "Over empty" if target == "graph" else "Over zero", "Over diagonal", "Over no noise"]
        rows = [
            [_number(line), _ratio(line.to_zero), _ratio(line.to_diagonal), _ratio(line.to_nonprivate)] for line in kept
        ]
        words = f"{TARGETS[target].measure}; mean (standard error). Over: divided by the error of that answer."
    named = []
    for line, numbers in zip(kept, rows, strict=True):
        name = show.as_text(_name(advice, line.key) + (" *" if line.harms and len(advice.cells) > 1 else ""))
        named.append([f"**{name}**" if line.key == advice.pick else name, *numbers])
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *named]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + f"\n\n:small[{words[:1].upper() + words[1:]}]"


def _number(line: Line) -> str:
    """Return an error with its standard error, as text."""
    return plain(line.error) + (f" ({line.se:.1g})" if line.se else "")


def _span(errors: list[float]) -> str:
    """Return the smallest and the largest error, as text."""
    low, high = min(errors), max(errors)
    return _ratio(low) if low == high else f"{_ratio(low)} to {_ratio(high)}"


def _name(advice: Advice, key: str) -> str:
    """Return the name of a method or of a trivial answer."""
    if key not in TRIVIAL:
        return METHODS.get(key).label
    return label_of(advice, key).split(" (")[0].removeprefix("the ").capitalize()


def _ratio(value: float) -> str:
    """Return a ratio as text of two digits."""
    return "-" if value != value else plain(float(f"{value:.2g}"))


def _again(advice: Advice, study: Study) -> None:
    """Show a link that runs the same question on simulated rows, where a page can do that."""
    target = advice.question.target
    one = next(s for s in TARGETS[target].structures if s.key == advice.cells[0].structure)
    asked = dict(one.params) | {"n": advice.question.n, "d": advice.question.d}
    source = build(SOURCES.get(one.source).cls, f"Source {one.source!r}", asked)
    specs = SOURCES.get(one.source).parameters
    data = tuple(sorted((s.name, getattr(source, s.name)) for s in specs if getattr(source, s.name) != s.default))
    there = dataclasses.replace(study.with_source(one.source), data=data)
    if target == "covariance":
        best = [line.key for line in advice.ranking if not line.trivial][:3]
        own = {"methods": ",".join(["diagonal", *best])}
        frame.link("pages/2_Trade_offs.py", "Run this question on simulated rows", there, own)
    else:
        frame.link("pages/3_Graph_recovery.py", "Look at this question on simulated rows", there)
