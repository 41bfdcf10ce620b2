"""The question of Trade-offs in one editable sentence, and its answer by `privcov.expect`: releases simulated now."""

from __future__ import annotations

import dataclasses
import math
import threading
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from pages.common import address, fields, frame, show, study_form, study_results
from pages.common.jobs import ANSWERS, Job, Jobs, Steps
from pages.common.study import OPENING, Study
from privcov.core.guarantees import Guarantee, level_of, with_level
from privcov.core.words import percent, plain
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS
from privcov.plots.errors import bars, curves
from privcov.plots.look import Picture
from privcov.plots.palette import Palette
from privcov.releases.private_request import private_methods
from privcov.steward.example_rows import STRUCTURES
from privcov.steward.expect import ENDS, FEWEST_ROWS, Expectation, expect, fraction_declared, least_level, least_rows
from privcov.tables.declaration.typical_ranges import NINE_IN_TEN
from privcov.tables.declared_columns import MAX_COLUMNS

ERROR, LEVEL, ROWS = "error", "level", "rows"  # what is asked for
SETTING_NAMES = ("ask", "ask.n", "ask.d", "ask.error", "ask.bounds", "ask.structure", "ask.row", "ask.methods")
JOBS = Jobs("expected", ANSWERS)
USUAL = "usual"  # the bounds of a table like most
BOUNDS = {USUAL: None, "2": 0.5, "3": 0.33, "5": 0.2, "10": 0.1}  # half-range in deviations, and `spread`
# Structure and largest correlation, by their text in the address.
MOVES = {
    f"{structure}{'' if strength == 0.5 else f'-{strength:g}'}": (structure, strength)
    for structure in STRUCTURES
    for strength in ((0.5,) if structure == "independent" else (0.2, 0.5, 0.8))
}
_WAIT = 0.4  # seconds for a first answer
_POINTS = 9  # of a curve
_ON_CURVE, _WIDE, _ON_WIDE = 20, 100, 8  # releases at each point; fewer for more columns: slower, less variable
_SIZES = (100, 10**6)  # rows of a curve
_WIDER = (1.15, 1.35, 1.7, 2.3)  # times the row bound that follows from the declaration
_PAYS = 0.95  # largest error ratio at which a wider row bound is offered
_SKEW, _WORSE = 1.0, 1.1  # deviation of the logarithm of skewed columns, and the error ratio that is worth a sentence
_FLOOR = 0.7  # part of the error from which clipping is named


@dataclasses.dataclass(frozen=True)
class Question:
    """The question. ``target_error`` is 0 where the error is asked for. ``n`` is 0 where the rows are asked for."""

    unknown: str
    n: int
    d: int
    guarantee: Guarantee
    target_error: float
    bounds: str
    structure: str
    strength: float = 0.5
    fraction: float = 0.0  # row bound over the longest row; 0 for what follows from the declaration
    skew: float = 0.0

    def answer(self) -> Expectation:
        """Return the expectation that answers the question."""
        if self.unknown == ERROR:
            return self.at(level_of(self.guarantee))
        least = (
            least_level(self.target_error, self.n, self.d, self.guarantee, **self.supposed)
            if self.unknown == LEVEL
            else least_rows(self.target_error, self.d, self.guarantee, **self.supposed)
        )
        return self.expectation(least.n, least.guarantee)

    def at(self, value: float, releases: int | None = None) -> Expectation:
        """Return the expectation at another level, or at another n where the question asks for n."""
        if self.unknown == ROWS:
            return self.expectation(round(value), self.guarantee, releases=releases)
        return self.expectation(self.n, with_level(self.guarantee, value), releases=releases)

    def expectation(self, n: int, guarantee: Guarantee, method: str = "auto-cov", **more: Any) -> Expectation:
        """Return an expectation under the suppositions, kept for all visits: nothing in it is of a visitor's rows."""
        return study_results.SHARED.get(
            (
                "expected",
                n,
                dataclasses.replace(self, n=0, unknown="", target_error=0.0, guarantee=guarantee),
                method,
                *more.values(),
            ),
            lambda: expect(n, self.d, guarantee, method, **self.supposed, **more),
        )

    @property
    def few(self) -> int:
        """Number of releases where a mean to a few percent will do."""
        return _ON_CURVE if self.d <= _WIDE else _ON_WIDE

    @property
    def supposed(self) -> dict[str, Any]:
        """The arguments of `expect` for what is supposed of the rows."""
        arguments = {"spread": BOUNDS[self.bounds], "structure": self.structure, "strength": self.strength}
        arguments["random_state"] = 0
        more = {"row_bound_fraction": self.fraction, "skew": self.skew}
        return arguments | {name: value for name, value in more.items() if value}

    def wider(self, expectation: Expectation) -> tuple[float, float] | None:
        """Return the row bound that costs least, as a part of the longest row, and its error; None if no wider pays."""
        now = self.fraction or fraction_declared(expectation.d, BOUNDS[self.bounds])
        expectations = {
            fraction: dataclasses.replace(self, fraction=fraction).expectation(
                expectation.n, expectation.guarantee, releases=self.few
            )
            for fraction in (float(f"{now * times:.2g}") for times in _WIDER)
            if now < fraction <= 1
        }
        if not expectations:
            return None
        best = min(expectations, key=lambda one: expectations[one].error)
        error = dataclasses.replace(self, fraction=best).expectation(expectation.n, expectation.guarantee).error
        return (best, error) if error < _PAYS * expectation.error else None

    def with_skew(self) -> Question:
        """Return the same question for skewed columns."""
        return dataclasses.replace(self, skew=_SKEW)

    def axis(self) -> np.ndarray:
        """Return the places of the curve, so that the first ones drawn are far apart."""
        low, high = _SIZES if self.unknown == ROWS else ENDS[self.guarantee.kind]
        order = [*range(0, _POINTS, 4), *range(2, _POINTS, 4), *range(1, _POINTS, 2)]
        return np.geomspace(low, high, _POINTS)[order]

    def call(self) -> str:
        """Return the line of Python that prints the answer."""
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.supposed.items())
        level = f"privcov.{self.guarantee!r}"
        value = {
            ERROR: f"privcov.expect({self.n}, {self.d}, {level}, {arguments})",
            LEVEL: f"least_level({self.target_error!r}, {self.n}, {self.d}, {level}, {arguments})",
            ROWS: f"least_rows({self.target_error!r}, {self.d}, {level}, {arguments})",
        }[self.unknown]
        return f"print({value})"

    def script(self) -> str:
        """Return the Python of the answer, and of the answer for skewed columns."""
        name = {LEVEL: "least_level", ROWS: "least_rows"}.get(self.unknown)
        more = f"\nfrom privcov.steward.expect import {name}" if name else ""
        return f"import privcov{more}\n\n{self.call()}\n{self.with_skew().call()}"


def section(study: Study) -> None:
    """Show the sentence, its answer, and on request other methods."""
    question = _sentence(study)
    if question.n:
        study_form.doubt(study, question.n)
    job = JOBS.find(question)
    if job is None or job.progress.state == "stopped":  # another question had taken its place
        job = JOBS.start(question, lambda stop: _steps(question, stop), _POINTS + 3, wait=_WAIT)
    JOBS.watch(question, lambda job: _paint(question, study, job), every=0.5)
    compared = address.bind_widget(
        st.toggle, "Which method?", name="ask.methods", default=False, key="ask.methods",
        help="The same question for other methods that private rows are offered, on the same rows.",
    )  # fmt: skip
    answers = job.progress.rows[:1]
    if compared and answers:
        _methods(question, answers[0]["answer"])


def _steps(question: Question, stop: threading.Event) -> Steps:
    """Compute the answer, a wider row bound where clipping is the floor, then the points of the curve."""
    expectation = question.answer()
    yield {"answer": expectation}
    yield {"wider": question.wider(expectation) if _is_floor(expectation) else None}
    yield {"skewed": question.with_skew().answer()}
    for value in question.axis():
        if not stop.is_set():
            yield {"point": (float(value), question.at(value, question.few))}


def _paint(question: Question, study: Study, job: Job) -> None:
    """Show the parts of the answer that are computed; before the first part, show the last answer, dimmed."""
    if job.progress.problem:
        st.error(show.as_text(job.progress.problem))
        return
    rows = job.progress.rows[:]
    expectation = next((row["answer"] for row in rows if "answer" in row), None)
    left, right = st.columns([5, 7], gap="medium")
    with left:
        if expectation is None:
            last = st.session_state.get("ask.last", "")
            st.html(f'<p style="{_LARGE}; opacity: 0.35" aria-hidden="true"><b>{escape(last)}</b></p>Simulating ...')
            right.html('<div style="height: 27rem"></div>')
            return
        words = st.session_state["ask.last"] = sentence(question, expectation)
        st.html(f'<p data-says="{escape(words)}" style="{_LARGE}"><b>{escape(words)}</b></p>')
        show.attacker_line(expectation.attacker, frame.palette(), "Attacker, this release")
        if question.unknown == ROWS:
            study_form.doubt(study, expectation.n)
        if question.unknown == LEVEL:
            st.caption("The slider does not change this answer.")
        st.markdown(" ".join(map(show.as_text, notes(question, expectation))))
        skewed = next((row["skewed"] for row in rows if "skewed" in row), None)
        if skewed and cost(question, skewed) > _WORSE * cost(question, expectation):
            words = show.as_text(sentence(question, skewed))
            st.markdown(f"Skewed columns: {words}", help="Incomes are skewed. A log scale makes such a column normal.")
        _row_bound(question, next((row["wider"] for row in rows if "wider" in row), None))
    with right:
        show.tag("Simulated", "releases of invented rows")
        points = [row["point"] for row in rows if "point" in row]
        if len(points) > 2:
            show.picture(chart(question, expectation, points, study.level_name, frame.palette()), "answer")
            st.caption(f"Band: eight in ten of {question.few} releases, over tables and noise.")
    with st.expander("What was simulated"):
        st.markdown(show.as_text(explained(expectation)))
        st.code(question.script(), language="python")
        if question.unknown != ROWS and with_source(study).sizes():
            level = level_of(expectation.guarantee)
            source = SOURCES.get(study.source_key()).label
            words = f"One release of {source.split(':')[0]} at {study.level_name} = {level:g}"
            frame.link("pages/1_Estimate.py", words, study.at(level).with_method("auto-cov"))


_LARGE = "font-size: 1.35rem; line-height: 1.35; margin: 0"


def sentence(question: Question, expectation: Expectation) -> str:
    """Return the answer in one sentence."""
    level = f"{'rho' if expectation.guarantee.kind == 'zcdp' else 'epsilon'} = {plain(level_of(expectation.guarantee))}"
    if question.unknown == ERROR:
        return f"At {level}, expect an error of {percent(expectation.error)}."
    target = f"{100 * question.target_error:g}\u00a0%"
    if expectation.error > question.target_error:
        most = f"{expectation.n:,} rows" if question.unknown == ROWS else level
        still = percent(expectation.error)
        return f"Up to {most} the error is never {target} under these limits and this row bound: still {still}."
    if question.unknown == ROWS:
        more = " or more" if expectation.n == FEWEST_ROWS else ""
        return f"{expectation.n:,} rows{more} give an error of {target} at {level}."
    if level_of(expectation.guarantee) == ENDS[expectation.guarantee.kind][0]:
        return f"An error of {target} comes with any level from {level}."
    return f"An error of {target} needs {level}."


def cost(question: Question, answer: Expectation) -> float:
    """Return the answer as a number that is larger for a harder table: the error, the level or the rows."""
    if question.unknown == ERROR:
        return answer.error
    if answer.error > question.target_error:
        return math.inf
    return answer.n if question.unknown == ROWS else level_of(answer.guarantee)


def _is_floor(expectation: Expectation) -> bool:
    return expectation.nonprivate > _FLOOR * expectation.error


def _row_bound(question: Question, wider: tuple[float, float] | None) -> None:
    """Show the button for a cheaper wider row bound, or for the declared row bound.

    The button stands in a fragment, and the question is asked by the page.
    """
    pressed = False
    if wider is not None:
        fraction, error = wider
        words = f"Take a row bound of {percent(fraction)} of the longest row"
        words += f": error {percent(error)}" if question.unknown == ERROR else ""
        pressed = st.button(words, key="ask-wider", on_click=frame.set_query, kwargs={"ask.row": f"{fraction:g}"})
    elif question.fraction:
        words = f"Leave the row bound of {percent(question.fraction)} of the longest row"
        pressed = st.button(words, key="ask-usual", on_click=frame.set_query, kwargs={"ask.row": ""})
    if pressed:
        st.rerun()


def notes(question: Question, expectation: Expectation) -> list[str]:
    """Return how far the releases spread, and what the number is mostly made of."""
    low, high = expectation.error_range
    sentences = [f"Nine in ten releases: {percent(low)} to {percent(high)}."]
    if not low <= expectation.error <= high:
        sentences.append("A few are far worse.")
    if expectation.d > 1:
        sentences.append(f"Correlations are off by {plain(expectation.correlation_error)} (root mean square).")
    related = expectation.d > 1 and question.structure != "independent"
    if related and expectation.error >= 0.95 * min(expectation.zeros, expectation.diagonal):
        sentences.append("The variances alone, or zeros, are as good: take more rows, or fewer columns.")
    if _is_floor(expectation):
        sentences.append(f"Clipping alone costs {percent(expectation.nonprivate)}.")
    return sentences


def explained(expectation: Expectation) -> str:
    """Return what the number averages, and the errors to compare with."""
    releases = f"{len(expectation.errors)} releases, ± {percent(expectation.error_se)} over five tables"
    return (
        "Error: the size of all errors of covariances together, over that of the covariances, each column divided by "
        f"half of its limits' range. Normal rows of columns alike, one row a person, the number of rows public; "
        f"{expectation.table}; the mean of the rows is measured too. Method {METHODS.get(expectation.method).label}, "
        f"mean of {releases}. To compare: zeros {percent(expectation.zeros)}; the variances alone, not private, "
        f"{percent(expectation.diagonal)}; cells cut at the limits and shortened rows, without noise, "
        f"{percent(expectation.nonprivate)}; "
        f"sampling, rows to population, {percent(expectation.sampling)}. Skewed columns are lognormal with "
        f"sigma {_SKEW:g}, under limits alone at their low end. Plan knows the limits of each column, and a public "
        "table all of it."
    )


def chart(
    question: Question,
    expectation: Expectation,
    points: list[tuple[float, Expectation]],
    level_name: str,
    palette: Palette,
) -> Picture:
    """Return the errors against the level, or against the rows where these were asked for."""
    rows = [
        {"method": "Auto", "key": expectation.method, "x": value, "mean": one.error}
        | dict(zip(("low", "high"), np.quantile(one.errors, (0.1, 0.9)), strict=True))
        for value, one in points
    ]
    references = [("zeros", 1.0), ("variances alone", expectation.diagonal), ("clipping alone", expectation.nonprivate)]
    if question.target_error:
        references.append(("asked for", question.target_error))
    picture = curves(
        pd.DataFrame(rows), palette, x="x", order=["Auto"], labels={}, height=390,
        x_label="Rows" if question.unknown == ROWS else f"{level_name} (stronger privacy left)",
        y_label="Relative Frobenius error", references=[one for one in references if one[1] > 1e-3],
        mark=expectation.n if question.unknown == ROWS else level_of(expectation.guarantee),
    )  # fmt: skip
    return Picture(picture.figure, f"The answer. {picture.alt}")


def _methods(question: Question, expectation: Expectation) -> None:
    """Show the errors of the other methods on the same rows, as bars."""
    kind = expectation.guarantee.kind
    cards = [c for c in private_methods() if c.target == "covariance" and not c.refuses(kind)]
    with st.spinner("Simulating releases of each method ...", show_time=False):
        alternatives = {
            c.label: question.expectation(expectation.n, expectation.guarantee, c.key, releases=question.few)
            for c in cards[1:]
        }
        errors = {cards[0].label: expectation} | alternatives
    by_error = sorted(errors.items(), key=lambda one: one[1].error)
    trivial = [("Variances alone, not private", expectation.diagonal), ("Zeros", expectation.zeros)]
    show.picture(
        bars([*((name, one.error) for name, one in by_error), *trivial], frame.palette(), quiet=len(trivial)), "methods"
    )
    best = next(c for c in cards if c.label == by_error[0][0])
    least = min(question.few, len(expectation.errors))
    st.caption(f"Mean of {least} releases or more, on the same five invented tables. {METHODS.get(best.key).summary}")


# --- the sentence -------------------------------------------------------------------------------------------


def _sentence(study: Study) -> Question:
    """Show the sentence and return its question.

    The level is chosen in the strip alone: two fields of one number overtake each other under quick keys.
    """
    name = study.level_name
    asks = {
        ERROR: f"what error comes with {name} =",
        LEVEL: f"which {name} gives an error of",
        ROWS: "how many rows give an error of",
    }
    percentage, n = 0.0, 0
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="ask"):
        _word("With")
        unknown = frame.page_setting("ask", ERROR)
        if unknown != ROWS:
            n = _size(study, "n", "Rows", 135)
            _word("rows and")
        d = _size(study, "d", "Columns", 100)
        _word("columns,")
        unknown = address.bind_widget(
            st.selectbox, "Question", list(asks), name="ask", default=ERROR, key=f"ask.what.{name}",
            format_func=asks.get, label_visibility="collapsed", width=270,
        )  # fmt: skip
        if unknown == ERROR:
            _word(f"{getattr(study, name):g}, if")
        else:
            percentage = address.bind_widget(
                st.number_input, "Error, %", 0.1, 99.0, name="ask.error", default=10.0, key="ask.percent",
                step=1.0, format="%g", label_visibility="collapsed", width=120,
            )  # fmt: skip
            _word("%, if" if unknown == LEVEL else f"% at {name} = {getattr(study, name):g}, if")
        bounds = address.bind_widget(
            st.selectbox, "Bounds", list(BOUNDS), name="ask.bounds", default=USUAL, key="ask.bounds",
            format_func=_bounds, label_visibility="collapsed", width=330,
        )  # fmt: skip
        _word("and")
        moves = address.bind_widget(
            st.selectbox, "Structure", list(MOVES), name="ask.structure", default="blocks", key="ask.structure",
            format_func=_moves, label_visibility="collapsed", width=270,
        )  # fmt: skip
    # The level of the strip does not change the answer where it is asked for.
    guarantee = with_level(study.guarantee, 1.0) if unknown == LEVEL else study.guarantee
    row_bound = address.number(0.001, 1.0, whole=False)
    fraction = address.settle("ask.row", "ask.row", row_bound, 0.0)
    if d > MAX_COLUMNS or (unknown != ROWS and n < 2):
        raise ValueError(f"A table with 2 rows or more and at most {MAX_COLUMNS} columns can be simulated. Change it.")
    return Question(unknown, n, d, guarantee, percentage / 100, bounds, *MOVES[moves], fraction)


def with_source(study: Study) -> Study:
    """Return the study with the name of its source, also of the default."""
    return dataclasses.replace(study, source=study.source_key())


def _of_table(study: Study) -> dict[str, int]:
    """Return the rows and columns of the study's table; without one, those of a first visit."""
    try:
        data = study_results.dataset(study)
    except ValueError:
        return {name: int(value) for name, value in OPENING.data}
    return {"n": data.n, "d": data.d}


def _bounds(key: str) -> str:
    if (spread := BOUNDS[key]) is None:
        return "you declare where nine in ten values lie"
    values = "limits alone: nine in ten" if key == "10" else "nine in ten values"
    return f"{values} fill {round(100 * NINE_IN_TEN * spread)}\u00a0% of the bounds"


def _moves(key: str) -> str:
    structure, strength = MOVES[key]
    return STRUCTURES[structure] + ("" if structure == "independent" else f", r = {strength:g}")


def _word(text: str) -> None:
    st.markdown(text, width="content")


def _size(study: Study, name: str, label: str, width: int) -> int:
    """Show and return the number of rows or of columns: of the study where its rows are simulated, else its own."""
    more: dict[str, Any] = {"label_visibility": "collapsed", "width": width}
    if name not in with_source(study).sizes():
        value = _of_table(study)[name]
        most = MAX_COLUMNS if name == "d" else _SIZES[1]
        return address.bind_widget(
            st.number_input, label, 2 if name == "n" else 1, max(value, most), name=f"ask.{name}", default=value,
            key=f"ask.{name}-{value}", **more,
        )  # fmt: skip
    value = int(with_source(study).sizes()[name])
    spec = next(s for s in SOURCES.get(study.source_key()).parameters if s.name == name)
    assert spec.low is not None  # a number is declared with its bounds
    assert spec.high is not None

    def put(s: Study, size: float) -> Study:
        rest = {k: v for k, v in s.data if k != name}
        if int(size) != spec.default:
            rest[name] = int(size)
        return dataclasses.replace(s, data=tuple(sorted(rest.items())))

    high = max(value, MAX_COLUMNS) if name == "d" else int(spec.high)
    fields.study_widget(st.number_input, label, int(spec.low), high, key=f"ask.{name}", value=value, put=put, **more)
    return value
