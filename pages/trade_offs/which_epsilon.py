"""Tab of Trade-offs: a target error, and the smallest epsilon, rho or n that meets it, or why none does."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import streamlit as st

from pages.shell import address, cached, fields, frame, glossary, show, take_home
from pages.shell import script as python_script
from pages.shell.study import REPLACE_ONE, SOUND, Study
from pages.trade_offs import reports
from pages.trade_offs.form import start as form_start
from privcov import accounting
from privcov.audit.risk import trade_off_of_method
from privcov.data_sources.base import SOURCES
from privcov.dataset import Dataset
from privcov.estimators.base import METHODS
from privcov.figures.errors import solution
from privcov.figures.look import Picture, pen_of
from privcov.figures.palette import Palette
from privcov.figures.words import raised
from privcov.sweeps import estimates
from privcov.sweeps.answer import NORM_NAMES, REFERENCE_NAMES, Answer
from privcov.sweeps.solve import RANGES, grid_of, smallest

_NARROWING = 14  # levels that bisection adds to the grid, about
_KEPT = 8
KEEPS = tuple(f"which.{name}" for name in ("method", "target", "lever", "norm", "replicates", "against", "asked"))
_UNASKED = 12.0  # seconds of work that a link may ask for


@dataclass(frozen=True)
class Question:
    """What the form asks.

    ``control`` is "rho", "epsilon" or "n"; ``target`` is a relative error, 0.1 for 10 %.
    """

    method: str
    target: float
    norm: str
    against: str
    control: str
    replicates: int


def section(study: Study, data: Dataset, answered: Sequence[str] = ()) -> None:
    """Show the tab; ``answered`` are the methods of the answer above it."""
    st.markdown(
        "Runs the method at many levels, on the same seeds, and finds the smallest whose **mean** error meets "
        "the target."
    )
    question, started = _form(study, data, answered)
    glossary.when_not([question.method])
    key = (_same(study, question), question)
    kept = st.session_state.setdefault("solved", {})
    with show.problems():
        # A link shows the answer it was copied from, where that does not take long.
        linked = not kept and frame.page_setting("which.asked") and _seconds(study, data, question) <= _UNASKED
        if started or linked:
            kept[key] = _solve(study, data, question)
            while len(kept) > _KEPT:
                kept.pop(next(iter(kept)))
    if key in kept:
        _answer(kept[key], study, data, question, above=bool(answered))
    else:
        with show.problems():
            st.info(f"Not asked yet for this set-up. It takes {_time(study, data, question)}.")


def redraws(study: Study, data: Dataset) -> bool:
    """Return whether the source can be drawn again with another n.

    Then replicates have fresh rows, and n may be asked for.
    """
    key = study.source_key()
    known = {card.key: card for card in SOURCES.all()}
    return data.provenance == "simulated" and key in known and any(s.name == "n" for s in known[key].parameters)


def _form(study: Study, data: Dataset, answered: Sequence[str]) -> tuple[Question, bool]:
    """Show the form; return its question and whether it was sent."""
    cards = [c for c in METHODS.all() if c.target == "covariance" and not c.refuses(study.kind)]
    keys = [c.key for c in cards]
    usual = study.method_key() if study.method_key() in keys else keys[0]
    start, *_ = form_start(KEEPS, "which.method", [m for m in answered[:1] if m in keys], [usual])
    references = [r for r in REFERENCE_NAMES if r != "truth" or data.truth is not None]
    controls = {study.level_name: f"smallest {study.level_name}"}
    if redraws(study, data):
        controls["n"] = f"smallest n at {raised(str(study.guarantee))}"
    with st.form("which-epsilon", border=True):
        first, second, third = st.columns([3, 2, 3])
        form = address.Form()
        method = address.bound(
            first.selectbox, "Method", keys, name="which.method", default=start, form=form,
            format_func={c.key: c.label for c in cards}.get,
        )  # fmt: skip
        percent = address.bound(
            second.number_input, "Target error, %", 0.01, 1000.0, name="which.target", default=10.0, form=form,
            step=1.0, help="Relative, on average.",
        )  # fmt: skip
        control = address.bound(
            third.selectbox, "Looking for", list(controls), name="which.lever", default=study.level_name, form=form,
            format_func=controls.get,
        )  # fmt: skip
        first, second, third = st.columns([3, 2, 3])
        norm = address.bound(
            first.selectbox, "Norm", list(NORM_NAMES), name="which.norm", default="frobenius", form=form,
            format_func=lambda k: NORM_NAMES[k].capitalize(),
        )  # fmt: skip
        replicates = address.bound(
            second.number_input, "Replicates", 3, 200, name="which.replicates", default=20, form=form,
            help="More replicates, a shorter interval.",
        )  # fmt: skip
        against = address.bound(
            third.selectbox, "Error", references, name="which.against", default=references[0], form=form,
            format_func=REFERENCE_NAMES.get, help="Compared with this.",
        )  # fmt: skip
        started = st.form_submit_button("Find it", type="primary", on_click=form.send, kwargs={"which.asked": "yes"})
    return Question(method, percent / 100, norm, against, control, int(replicates)), started


def _same(study: Study, question: Question) -> Study:
    """Return the study without what the search does not depend on.

    That is the value of the number it searches for, and a method that it does not ask about.
    """
    own = study if question.method == study.method_key() else study.without_method()
    return own if question.control == "n" else dataclasses.replace(own, rho=1.0, epsilon=1.0)


def _entry(study: Study, question: Question):
    """Return the method, with the study's own settings where it is the study's method."""
    if question.method != study.method_key():
        return question.method
    usual = {"calibration": SOUND, "neighbours": REPLACE_ONE}
    settings = study.settings(METHODS.get(question.method)).items()
    given = study.given | {k: v for k, v in settings if v != usual[k]}
    return (question.method, given) if given else question.method


def _range(question: Question, data: Dataset) -> tuple[float, float]:
    """Return the range of the search."""
    low, high = RANGES[question.control]
    return (low, min(high, cached.MOST_CELLS // data.d)) if question.control == "n" else (low, high)


def _call(study: Study, data: Dataset, question: Question) -> tuple[tuple, dict]:
    """Return the arguments of `smallest`; the script on the page is written from the same."""
    named = {
        "lever": question.control,
        "within": _range(question, data),
        "norm": question.norm,
        "against": question.against,
        "replicates": question.replicates,
    }
    if redraws(study, data):
        named = {
            "source": study.source_key(),
            "source_params": dict(study.data),
            "row_bound": data.row_bound,
            "seed": study.rows,
            **named,
        }
    else:
        named = {"dataset": data, "seed": study.seed, **named}
    return (_entry(study, question), study.guarantee, question.target), named


def _time(study: Study, data: Dataset, question: Question) -> str:
    """Return the time of the search, in words."""
    text = estimates.in_words(_seconds(study, data, question))
    return f"at most {text}, less when a small n suffices" if question.control == "n" else text


def _seconds(study: Study, data: Dataset, question: Question) -> float:
    """Return the time of the search, estimated once for every question."""
    key = ("which", _same(study, question), question)
    kept = st.session_state.setdefault("reckoned", {})
    if key not in kept:
        entry = _entry(study, question)
        pace = estimates.data_seconds_per_work() if redraws(study, data) else 0.0
        grid = grid_of(*_range(question, data), whole=question.control == "n")
        if question.control == "n":
            cost = estimates.cost_of(entry, study.guarantee, data.n, data.d)
            once = sum(cost.at(n, data.d) + pace * estimates.data_work(n, data.d) for n in grid)
        else:
            cost = estimates.cost_on(entry, data, study.guarantee)
            once = cost.seconds * (len(grid) + _NARROWING)
            once += pace * estimates.data_work(data.n, data.d)
        kept[key] = once * question.replicates * (2 if question.against == "nonprivate" else 1)
    return kept[key]


def _solve(study: Study, data: Dataset, question: Question) -> Answer:
    """Run the search, with a progress bar."""
    bar = st.progress(0.0, "Searching ...")

    def progress(done: int, about: int) -> None:
        bar.progress(min(1.0, done / about), f"Level {done} of about {max(done, about)}")

    given, named = _call(study, data, question)
    try:
        return smallest(*given, **named, progress=progress)
    finally:
        bar.empty()


def _answer(answer: Answer, study: Study, data: Dataset, question: Question, *, above: bool) -> None:
    """Show the answer and its curve; ``above`` says that the sentence of the page has an answer too."""
    show.tag(
        data.provenance.capitalize(),
        ("fresh rows and fresh noise in every replicate" if answer.fresh_rows else "these rows, fresh noise")
        + ("; simulated now, not interpolated as in the sentence above" if above else ""),
    )
    st.html(f'<p role="status" style="font-size: 1.45rem; line-height: 1.35; margin: 0">{escape(str(answer))}</p>')
    if answer.level is not None and answer.lever != "n":
        asked = study.at(answer.level).guarantee
        if isinstance(_entry(study, question), str):
            claim = trade_off_of_method(question.method, asked)
            show.attacker_line(accounting.attacker_success(claim), frame.palette(), "Attacker, this method")
        else:  # with settings of its own, of which the guarantee alone is certain
            fields.attacker(asked)
    for note in answer.notes:
        st.markdown(show.as_text(note))
    parts = [("no noise", answer.parts["clipped"])]
    if answer.parts.get("sampling"):
        parts.append(("sampling error alone", answer.parts["sampling"]))
    # One line where two errors would be written over each other.
    if len(parts) == 2 and abs(parts[0][1] / parts[1][1] - 1) < 0.1:
        parts = [("sampling error alone, no noise", parts[1][1])]
    show.picture(_picture(answer, question, parts, frame.palette()), "which-epsilon")
    about = _band(answer)
    st.caption(about)
    again = script(study, data, question)
    left, right = st.columns(2)
    with left, st.expander("Table"):
        st.dataframe(answer.curve, hide_index=True)
        show.download("CSV", lambda: answer.curve.to_csv(index=False), "which-epsilon.csv", "download-which")
    with right, st.expander("The same in Python"):
        st.code(again, language="python")
    drawn = functools.partial(_picture, answer, question, parts)
    reports.of_which(answer, study, data, drawn, take_home.unlinked(about), again)


def _picture(answer: Answer, question: Question, parts: Sequence[tuple[str, float]], palette: Palette) -> Picture:
    """Return the picture of the search."""
    return solution(
        answer.curve,
        palette,
        pen_of(question.method, palette),
        name=answer.title,
        target=answer.target,
        level=answer.level,
        interval=answer.interval,
        x_label="n (rows)" if answer.lever == "n" else f"{answer.lever} (stronger privacy left)",
        y_label=f"Relative {NORM_NAMES[answer.norm]} error",
        references=parts,
    )


def _band(answer: Answer) -> str:
    """Return what the line, the band and the interval are, in words."""
    return (
        f"Line: mean over {answer.replicates} replicates. Band: 95 % t-interval of that mean "
        f"({glossary.term('mean-interval')}), not of one release. The answer's interval: levels whose band holds "
        "the target (dotted); it covers the right one in about 95 % of searches."
    )


def script(study: Study, data: Dataset, question: Question) -> str:
    """Return source text whose variable ``answer`` is the answer on the page."""
    given, named = _call(study, data, question)
    entry, guarantee, target = given
    head = ["import privcov"]
    if "dataset" in named:  # the lines that make the study's rows
        head = python_script.rows(study, data)
    listed = [f"    {k}={'ds' if k == 'dataset' else repr(v)}," for k, v in named.items()]
    return "\n".join(
        [
            *head,
            "from privcov.sweeps.solve import smallest",
            "",
            f"answer = smallest({entry!r}, privcov.{guarantee!r}, {target!r},",
            *listed,
            ")",
            "print(answer)",
            "print(answer.curve)",
        ]
    )
