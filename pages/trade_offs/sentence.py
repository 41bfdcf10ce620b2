"""The question of Trade-offs in one editable sentence, its answer, and one chart.

The method comes from the stored evidence (`privcov.advice.ask`, as in the shell). The number does so at once; releases
on the rows of the study take its place (`privcov.advice.live`).
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from pages.shell import address, advice_panel, cached, fields, frame, show
from pages.shell.glossary import term
from pages.shell.jobs import Job, Jobs
from pages.shell.study import Study
from privcov import accounting
from privcov.advice import ask, live
from privcov.advice.answer import UNKNOWN, Question, label_of, structure_label
from privcov.advice.ask import Reply
from privcov.advice.grid import NONPRIVATE, TARGETS
from privcov.audit import disclosure
from privcov.audit.risk import trade_off_of_method
from privcov.data_sources.base import SOURCES, make_dataset
from privcov.dataset import Dataset
from privcov.figures.answer import answer_chart
from privcov.figures.look import Picture
from privcov.figures.palette import Palette
from privcov.metrics.errors import answers_to_beat
from privcov.parameters import build
from privcov.privacy import with_level
from privcov.sweeps.cells import Cell

LEVEL, ERROR = "level", "error"  # what is asked for
KEEPS = ("ask", "ask.error", "ask.structure")
JOBS = Jobs("solved")
_WAIT = 0.3  # seconds for which the stored number is not shown yet
# Structure of a source at any parameters; those of AR(1) and of the Zipf norms depend on one of theirs.
_STRUCTURES = {"sparse-covariance": "independent", "banded-covariance": "banded"}
_WEAK, _STRONG = 0.3, 0.8  # of AR(1); 0.6 and 0.9 were measured


def structure_of(study: Study) -> str:
    """Return the structure of the evidence that is nearest to the study's source, or "unknown"."""
    key = study.source_key()
    if key not in ("ar1-covariance", "zipf-norms"):
        return _STRUCTURES.get(key, UNKNOWN)
    given = {s.name: s.default for s in SOURCES.get(key).parameters} | dict(study.data)
    if key == "zipf-norms":
        return "low-rank" if given["bins"] == 1 else "skewed"
    if given["rho"] < _WEAK:
        return UNKNOWN
    return "fading" if given["rho"] < _STRONG else "dense"


def question_of(study: Study, data: Dataset, structure: str) -> Question:
    """Return the question that the sentence asks, from public facts of the study."""
    return Question(data.n, data.d, study.guarantee, "covariance", structure, mean_known=data.mean_is_zero)


def section(study: Study, data: Dataset, *, brief: bool) -> Reply:
    """Show the sentence and its answer; return the answer.

    ``brief`` leaves out the chart and the methods behind the first, where another tab is looked at.
    """
    asked, wanted, structure = _sentence(study, data)
    question = question_of(study, data, structure)
    stored = ask.which_level(question, wanted) if asked == LEVEL else ask.how_far(question)
    reply = stored
    if not redraws(study, data) or structure == structure_of(study):
        reply = _measured(stored, study, data)
    if brief:
        _first(reply, data, study.bound)
        return stored
    left, right = st.columns([5, 7], gap="medium")
    with left:
        _first(reply, data, study.bound)
        if study.bound == 1:
            _others(reply)
    with right:
        if reply.releases and structure == UNKNOWN:
            show.tag(data.provenance.capitalize(), f"{reply.line.label}, measured")
        else:
            show.tag("Simulated", "stored simulations" + (f"; {reply.line.label} measured" if reply.releases else ""))
        show.picture(chart(reply, data, frame.palette()), "answer")
        for text in ask.rising(reply):
            st.caption("It rises.", help=show.as_text(text))
    _rest(reply, study, data)
    return stored


def redraws(study: Study, data: Dataset) -> bool:
    """Return whether the source can be drawn again with another n, so that replicates have fresh rows."""
    known = {card.key: card for card in SOURCES.all()}
    card = known.get(study.source_key())
    return data.provenance == "simulated" and card is not None and any(s.name == "n" for s in card.parameters)


def _measured(stored: Reply, study: Study, data: Dataset) -> Reply:
    """Return the answer from releases on the study's rows, which a job makes; the stored one until they are there."""
    rows = dataclasses.replace(study.without_method(), rho=1.0, epsilon=1.0, seed=1)
    question = (rows, stored.advice.question, stored.wanted, stored.line.key)
    draw, own = _rows_of(study, data), cached.in_session(study)

    def cells(stop: threading.Event) -> Iterator[Cell]:
        more: dict[str, Any] = {"seed": study.rows, "stop": stop.is_set}

        def kept(what: tuple, make: Callable[[], Any]) -> Any:
            return make() if own else cached.SHARED.get((*what, rows, stored.line.key), make)

        kind = with_level(stored.guarantee, 1.0)
        try:
            reply = kept(("answer", *question), lambda: live.measured(stored, draw, **more))
            yield Cell([{"reply": reply}], False)
            curve = kept(("curve", kind), lambda: live.curve_of(stored, draw, **more))
            yield Cell([{"reply": live.with_curve(reply, curve)}], False)
        except ValueError:
            if not stop.is_set():
                raise

    job = JOBS.find(question)
    if job is None or job.progress.state == "stopped":  # another question had taken its place
        job = JOBS.start(question, cells, 2, size=data.n * data.d, wait=_WAIT)
    found = job.progress.rows[:]

    def look(job: Job) -> None:
        if len(job.progress.rows) > len(found):
            st.rerun()

    if job.progress.alive:
        JOBS.watch(question, look, every=0.4)
    if found:
        return found[-1]["reply"]
    if job.progress.problem:
        st.caption(show.as_text(job.progress.problem))
    return stored


def _rows_of(study: Study, data: Dataset) -> Callable[[int], Dataset]:
    """Return a function of the replicate that returns its rows: fresh ones where the source can be drawn again.

    They are kept, because drawing them costs more than the releases of one level.
    """
    if not redraws(study, data):
        return lambda _: data
    key = study.source_key()
    source = build(SOURCES.get(key).cls, "Source", dict(study.data))
    made = ("rows", key, study.data, study.rows, data.row_bound)
    return lambda r: cached.SHARED.get(
        (*made, r), lambda: make_dataset(source, seed=study.rows, repeat=r, row_bound=data.row_bound)
    )


def methods_of(reply: Reply) -> list[str]:
    """Return the methods to draw as curves: the recommended one and the two behind it."""
    return [line.key for line in (reply.line, *reply.runners_up[:2])]


# --- the sentence -------------------------------------------------------------------------------------------


def _sentence(study: Study, data: Dataset) -> tuple[str, float, str]:
    """Show the sentence; return what it asks for, the error in it and the structure.

    The level is chosen in the strip alone: two fields of one number overtake each other under quick keys.
    """
    name = study.level_name
    asks = {LEVEL: f"which {name} gives an error of", ERROR: f"what error comes with {name} ="}
    structures = [UNKNOWN, *(s.key for s in TARGETS["covariance"].structures)]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask"):
        _word("With")
        _size(study, data, "n", "Rows", 135)
        _word("rows and")
        _size(study, data, "d", "Columns", 100)
        _word("columns,")
        asked = address.bound(
            st.selectbox, "Question", [ERROR, LEVEL], name="ask", default=ERROR, key=f"ask.what.{name}",
            format_func=asks.get, label_visibility="collapsed", width=270,
        )  # fmt: skip
        percent = 10.0
        if asked == LEVEL:
            percent = address.bound(
                st.number_input, "Error, %", 0.1, 300.0, name="ask.error", default=10.0, key="ask.percent",
                step=1.0, format="%g", label_visibility="collapsed", width=120,
            )  # fmt: skip
            _word("%, if")
        else:
            _word(f"{getattr(study, name):g}, if")
        structure = address.bound(
            st.selectbox, "Structure", structures, name="ask.structure", default=structure_of(study),
            key="ask.structure", format_func=_known, label_visibility="collapsed", width=330,
        )  # fmt: skip
        _word("?")
    return asked, percent / 100, structure


def _known(structure: str) -> str:
    """Return the end of the sentence: what is known of the structure."""
    return "nothing is known of them" if structure == UNKNOWN else structure_label("covariance", structure)


def _word(text: str) -> None:
    """Show words between the fields of the sentence."""
    st.markdown(text, width="content")


def _size(study: Study, data: Dataset, name: str, label: str, width: int) -> None:
    """Show the number of rows or of columns, which belongs to the study; a table has its own."""
    card = {c.key: c for c in SOURCES.all()}.get(study.source_key())
    spec = next((s for s in card.parameters if s.name == name), None) if card is not None else None
    value = getattr(data, name)
    more: dict[str, Any] = {"label_visibility": "collapsed", "width": width}
    if spec is None:
        st.number_input(
            label, value, value, value, key=f"ask.{name}.{value}", disabled=True, **more,
            help="Of this table; simulated sources have any size.",
        )  # fmt: skip
        return
    assert spec.low is not None  # a number is declared with its bounds
    assert spec.high is not None

    def put(s: Study, chosen: float) -> Study:
        rest = {k: v for k, v in s.data if k != name}
        if int(chosen) != spec.default:
            rest[name] = int(chosen)
        source = s.source or ("" if not rest else s.source)
        return dataclasses.replace(s, source=source, data=tuple(sorted(rest.items())))

    fields.of_study(
        st.number_input, label, int(spec.low), int(spec.high), key=f"ask.{name}", shown=int(value), put=put, **more
    )


UNMEASURED = "Releases on the rows of this table say what it needs."


# --- the answer ---------------------------------------------------------------------------------------------


OTHER_BOUND = "Stored simulations have the usual row bound, so nothing is said here of other methods or more rows."


def _first(reply: Reply, data: Dataset, bound: float) -> None:
    """Show the recommended method, its level and error, the attacker's chance and what would change it.

    Of a table the stored simulations know the size alone, so nothing is said before its own rows were measured; and
    nothing of another row bound, so that what they say of other methods and sizes is left out.
    """
    table = data.truth is None
    large = '<p data-says="{0}" style="font-size: 1.35rem; line-height: 1.35; margin: 0"><b>{0}</b></p>'
    if table and not reply.releases:
        st.html(large.format(UNMEASURED))
        return
    spread = f"± {show.percent(reply.spread)} from release to release" if reply.spread else ""
    if reply.releases:
        where = "these rows, to the sample" if table else "fresh rows" if reply.draws > 1 else "one draw of the rows"
        spread += f"; mean of {reply.releases} (± {show.percent(reply.standard_error)}), {where}"
    answer = escape(ask.sentence(reply)).replace(" %", "\u00a0%")
    st.html(f"{large.format(answer)}<div>{spread}</div>")
    claim = trade_off_of_method(reply.line.key, reply.guarantee)
    show.attacker_line(accounting.attacker_success(claim), frame.palette(), "Attacker, this method")
    if bound != 1:
        st.markdown(OTHER_BOUND)
    elif not table:
        st.markdown(" ".join(show.as_text(text) for text in ask.notes(reply)))


def _others(reply: Reply) -> None:
    """Show the next methods of the table."""
    unknown = reply.advice.question.structure == UNKNOWN
    lines = [
        f"- {show.as_text(line.label)}: "
        + (f"up to {line.worst:.2g} times the best" if unknown else f"{line.error / reply.line.error:.2f}")
        for line in reply.runners_up
    ]
    if lines:
        unit = f"{ask.level_name(reply)} = {reply.level:g}" if unknown else "in errors of the first"
        st.markdown(f"**Runners-up** (stored), {unit}\n" + "\n".join(lines))


def chart(reply: Reply, data: Dataset, palette: Palette) -> Picture:
    """Return the errors of the recommended method and of the runners-up against the level.

    What was measured takes the place of the evidence; of a table only that is shown. Before, where nothing is known of
    the columns, the ratios by which methods are ranked.
    """
    question = reply.advice.question
    levels, errors = ask.curves(question, (reply.line.key, *(line.key for line in reply.runners_up)))
    curves = {key: (levels, values) for key, values in errors.items()}
    trivial = next(line for line in reply.advice.ranking if line.key == reply.advice.trivial)
    name, ranked = _brief(label_of(reply.advice, trivial.key)), question.structure == UNKNOWN
    references = [(name, trivial.worst)] if ranked else [(name, trivial.error)]
    if not ranked:
        references.append(("clipped, no noise", ask.without_noise(question)))
    if reply.curve:
        own = np.array(reply.curve).T
        curves = ({} if ranked else curves) | {reply.line.key: (own[0], own[1])}
        if ranked:
            references = [(_brief(text), error) for text, error in answers_to_beat(data, "covariance")]
        ranked = False
    return answer_chart(
        curves,
        {line.key: line.label for line in reply.advice.ranking},
        palette,
        level=reply.level,
        level_name=ask.level_name(reply),
        error=reply.line.worst if ranked else reply.error,
        wanted=None if ranked else reply.wanted,
        references=references,
        measure="At worst, times the best method's error" if ranked else "Relative Frobenius error",
    )


def _brief(name: str) -> str:
    """Return the name of a trivial answer without its explanation."""
    return name.split(" (", maxsplit=1)[0].removeprefix("the ")


def _rest(reply: Reply, study: Study, data: Dataset) -> None:
    """Show the whole table, the answer by structure, how to read them, and a link to a release."""
    there = study.at(reply.level).with_method(reply.line.key)
    with st.container(key="answer-link"):
        frame.link(
            "pages/1_Estimate.py",
            f"See such a release at {ask.level_name(reply)} = {reply.level:g}",
            there,
            icon=":material/arrow_forward:",
            width="content",
        )
    with st.expander("All methods"):
        st.markdown(advice_panel.table(reply.advice, most=len(reply.advice.ranking)))
        if known := ask.by_structure(reply):
            st.markdown("\n".join(f"- {show.as_text(text)}" for text in known))
        private = NONPRIVATE["covariance"]
        st.caption(
            f"Relative {term('frobenius', 'Frobenius')} errors on simulated rows, interpolated between cells. ±: "
            "standard deviation over fresh rows and noise. Attacker: best chance to guess whether one person is in "
            f"the table, knowing the method and all other rows. No noise: `{private}`, clipped and not private."
        )
        claim = trade_off_of_method(reply.line.key, reply.guarantee)
        bound = [] if study.bound == 1.0 else ["The stored numbers are for the default row bound of the source."]
        if reply.releases:
            own = show.percent(reply.error)
            st.caption(
                f"The numbers of the table are stored simulations; on these rows {reply.line.label} errs by {own}."
            )
        for text in (disclosure.suspicion(claim), *reply.advice.verdict[1:], *bound):
            st.caption(show.as_text(text))
        advice_panel.evidence_download("covariance", "answer")
