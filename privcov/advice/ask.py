"""Two questions about accuracy: which epsilon gives an error, and which error an epsilon gives.

Both are answered by the ranking of `privcov.advice.advise`, so the method that is named is the first of the table that
stands beside it. The first question is the inverse of the second: it looks for the smallest epsilon (or rho) from which
on the recommended method stays within the error.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from privcov import checks
from privcov.advice.advise import answer_of, noise_factors, ruled
from privcov.advice.answer import REMEDY, UNKNOWN, Advice, Question, label_of, structure_label
from privcov.advice.evidence import guarantee_from, strength_of
from privcov.advice.grid import LEVELS, NS, TARGETS
from privcov.advice.rank import TRIVIAL, Line
from privcov.advice.surface import surface
from privcov.privacy import ApproxDP, Guarantee, PureDP, ZCDP, level_of, with_level

ENDS = {"zcdp": (1e-5, 10.0), "approx": (0.01, 20.0), "pure": (0.01, 20.0)}  # levels that are looked at
STEPS = 97  # levels in the first look; each further look divides one step again
LOOKS = 3
_RISES = 1.15  # times the least measured error; a few releases beside the answer do not tell less
SURE = 0.025  # standard error of a measured error, as a part of it, up to which it is said without "about"
CLOSE = 0.99  # an error above this part of the one that was asked for is that one, in words


@dataclass(frozen=True)
class Reply:
    """The answer to one of the two questions.

    advice: the recommendation and its table at ``level``. line: the first method of the table: the recommended one,
    unless ``advice.pick`` is empty. wanted: the error that was asked for, or None where the error of a level was asked
    for. level: epsilon or rho of the answer, rounded up to three digits. reached: whether the method stays within
    ``wanted`` there; True where nothing was wanted.

    error, spread: error of the method, and the standard deviation of it from one release to the next, in the structure
    ``where`` it is largest. standard_error: of a measured error. least: whether ``level`` is the smallest that
    was measured and would be enough. releases: how many on ``draws`` tables were made for this answer
    (`privcov.advice.live`); 0 where it comes from the evidence.
    curve: (level, error) of the method at the levels that were measured, rising.
    """

    advice: Advice
    line: Line
    wanted: float | None
    level: float
    reached: bool
    error: float
    spread: float
    where: str
    least: bool = False
    standard_error: float = 0.0
    releases: int = 0
    draws: int = 0
    curve: tuple[tuple[float, float], ...] = ()

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the answer."""
        return self.advice.question.guarantee

    @property
    def runners_up(self) -> tuple[Line, ...]:
        """The next three methods of the table."""
        return tuple(x for x in self.advice.ranking if not x.trivial and x is not self.line)[:3]


# --- the two questions --------------------------------------------------------------------------------------


def how_far(question: Question) -> Reply:
    """Return how far from the truth the recommended method is under the guarantee of the question."""
    return reply_at(question, None)


def which_level(question: Question, wanted: float) -> Reply:
    """Return the smallest level at which the recommended method errs by at most ``wanted``, or where it errs least."""
    wanted = checks.positive("wanted", wanted)
    return _which_level(dataclasses.replace(question, guarantee=with_level(question.guarantee, 1.0)), wanted)


@lru_cache(maxsize=256)
def _which_level(question: Question, wanted: float) -> Reply:
    """Return `which_level`; every level of the question has the same answer."""
    strength, least = _least(question, wanted, partial(largest, question))
    return dataclasses.replace(reply_at(_at(question, strength), wanted), least=least)


def _least(question: Question, wanted: float, errors: Callable[[np.ndarray], np.ndarray]) -> tuple[float, bool]:
    """Return the smallest strength at which ``errors`` are within ``wanted``, and whether it is the first.

    ``errors`` has the errors at an array of strengths, which need not fall: less noise may hide a pattern from Auto.
    The strength of the smallest error where none is enough.
    """
    _, strengths = levels_of(question)
    found = errors(strengths)
    if found.min() > wanted:
        return strengths[found.argmin()], False
    at = int(np.argmax(found <= wanted))
    if at == 0:
        return strengths[0], True
    below, above = strengths[at - 1], strengths[at]
    for _ in range(LOOKS):
        closer = np.geomspace(below, above, STEPS)
        at = int(np.argmax(errors(closer[1:]) <= wanted))
        below, above = closer[at], closer[at + 1]
    return above, False


def rows_for(question: Question, wanted: float) -> int | None:
    """Return about how many rows bring the error down to ``wanted`` under the guarantee of the question."""
    most = max(NS)
    if question.n >= most:
        return None
    rows = np.geomspace(question.n, most, 3 * STEPS)
    enough = largest(question, np.full(len(rows), strength_of(question.guarantee)), rows) <= wanted
    if not enough[-1]:
        return None
    short = np.flatnonzero(~enough)
    return question.n if not len(short) else _rounded_up(float(rows[short[-1] + 1]))


def largest(question: Question, strengths: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """Return the error of the recommended method at each strength, in the structure where it is largest."""
    n = np.full(len(strengths), float(question.n)) if rows is None else rows
    keys, errors, verdicts = ruled(question, n, question.d, strengths)
    methods = np.array([key not in TRIVIAL for key in keys])
    if not methods.any():
        raise ValueError("No method that was measured gives this guarantee. Ask for another kind.")
    first = np.take_along_axis(verdicts.order, methods[verdicts.order].argmax(axis=0)[None], axis=0)[0]
    return errors.max(axis=0)[first, np.arange(len(first))]


def curves(question: Question, keys: tuple[str, ...]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return levels and the errors by which answers are ranked there, or worst ratios where nothing is known."""
    levels, strengths = levels_of(question)
    found, errors, verdicts = ruled(question, np.full(len(levels), float(question.n)), question.d, strengths)
    ranked = verdicts.worst if question.structure == UNKNOWN else errors[0]
    return levels, {key: ranked[found.index(key)] for key in keys if key in found}


def without_noise(question: Question) -> float:
    """Return the error of the same rows without noise, in the structure where it is largest."""
    measured = surface(question.target, question.guarantee.kind)
    strength = strength_of(question.guarantee)
    pairs = zip(question.structures, noise_factors(question), strict=True)
    return max(measured.at(s, question.n, question.d, strength / f)["non-private"].error for s, f in pairs)


# --- the answer in words --------------------------------------------------------------------------------------


def sentence(reply: Reply) -> str:
    """Return the answer in one sentence."""
    name = level_name(reply)
    if not reply.reached:
        most = _largest_level(reply)
        at = "" if reply.level == most else f" at {name} = {reply.level:g}"
        if reply.wanted is not None and reply.error - 2 * reply.standard_error <= reply.wanted:
            return (
                f"{reply.line.label}: {name} = {reply.level:g} gives about {amount(reply, reply.error)}, the smallest "
                f"found; whether any gives {amount(reply, reply.wanted)}, {reply.releases} releases do not tell."
            )
        return (
            f"No {name} up to {most:g}, the largest measured, gives {amount(reply, reply.wanted)}. "
            f"{reply.line.label} comes nearest, with {amount(reply, reply.error)}{at}."
        )
    less = " or less" if reply.least else ""
    close = reply.wanted is not None and reply.error > CLOSE * reply.wanted  # the level was rounded up
    gives = amount(reply, reply.wanted if close else reply.error)
    most = "at most " if reply.advice.question.structure == UNKNOWN and not reply.releases else ""
    sure = reply.standard_error <= SURE * reply.error if reply.releases else _stored(reply)
    near = "" if sure else "about "
    return f"{reply.line.label}: {name} = {reply.level:g}{less} gives {most}{near}{gives}."


def _largest_level(reply: Reply) -> float:
    """Return the largest level that was looked at for an answer."""
    if reply.releases:
        return ENDS[reply.guarantee.kind][1]
    question = reply.advice.question
    return level_of(_at(question, levels_of(question)[1][-1]).guarantee)


def _stored(reply: Reply) -> bool:
    """Return whether the answer is a cell of the evidence that is known well enough, and not a number between cells."""
    question = reply.advice.question
    sizes = question.n in NS and question.d in TARGETS[question.target].ds
    return sizes and reply.level in LEVELS[reply.guarantee.kind] and reply.line.se <= SURE * reply.error


def amount(reply: Reply, error: float | None) -> str:
    """Return an error in words: of a matrix in percent, of a graph as its Matthews correlation."""
    error = reply.error if error is None else error
    if reply.advice.question.target == "graph":
        return f"a Matthews correlation of {1 - error:.2f}"
    return f"{100 * error:.3g} % error"


def level_name(reply: Reply) -> str:
    """Return "rho" or "epsilon"."""
    return "rho" if reply.guarantee.kind == "zcdp" else "epsilon"


def notes(reply: Reply) -> tuple[str, ...]:
    """Return what the answer rests on and what would change it, in sentences."""
    question, advice = reply.advice.question, reply.advice
    found = []
    if advice.outside:
        found.append(f"Outside the evidence: no cell of it is near. {REMEDY}")
    if not advice.pick:
        found.append(
            f"No method is clearly better than {label_of(advice, advice.trivial)} there, which needs "
            f"{'no' if advice.trivial == 'zero' else 'little'} privacy."
        )
    if question.structure == UNKNOWN:
        found.append(
            f"Safest choice if you know nothing: at most {reply.line.worst:.1f} times the best method's error. "
            f"Its error is largest if {structure_label(question.target, reply.where)}."
        )
    return (*found, *_sooner(reply), *changed(reply))


def rising(reply: Reply) -> tuple[str, ...]:
    """Return from which level on the measured error rises again, where it does."""
    if not reply.curve:
        return ()
    level, least = min(reply.curve, key=lambda point: point[1])
    if max(error for at, error in reply.curve if at >= level) <= _RISES * least:
        return ()
    return (
        f"Beyond about {level_name(reply)} = {level:.2g} the error rises to that of the sample: with less noise "
        f"{reply.line.label} keeps more of what sampling alone has put there.",
    )


def _sooner(reply: Reply) -> tuple[str, ...]:
    """Return from which smaller level on the recommended method is good enough, where another is recommended there.

    Where nothing is known, methods are ranked by their ratio to the best, so the error of the recommended one may jump
    from above the one that was asked for to far below it.
    """
    question, name = reply.advice.question, level_name(reply)
    if reply.releases or reply.wanted is None or not reply.reached or reply.least or reply.error > CLOSE * reply.wanted:
        return ()

    def errors(strengths: np.ndarray) -> np.ndarray:
        keys, found, _ = ruled(question, np.full(len(strengths), float(question.n)), question.d, strengths)
        return found.max(axis=0)[keys.index(reply.line.key)]

    level = level_of(_at(question, _least(question, reply.wanted, errors)[0]).guarantee)
    if level >= reply.level:
        return ()
    return (
        f"{reply.line.label} gives at most {amount(reply, reply.wanted)} from {name} = {level:g} on; just below "
        f"{name} = {reply.level:g} another method has the smaller worst ratio to the best, and a larger error.",
    )


def changed(reply: Reply) -> tuple[str, ...]:
    """Return what would change the answer: more rows, another level, or knowing the structure.

    These are read off the evidence, as many times smaller or larger as the evidence is beside what was measured.
    """
    question, name = reply.advice.question, level_name(reply)
    if reply.wanted is None and not reply.error:
        return ("No error was left where this was measured.",)
    beside = reply_at(question, None).error / reply.error if reply.releases else 1.0
    if reply.wanted is None:
        half = which_level(question, beside * reply.error / 2)
        rows = rows_for(question, beside * reply.error / 2)
        ways = [f"about {name} = {half.level:g}"] if half.reached else []
        ways += [] if rows is None else [f"about {rows:,} rows"]
        if not ways:
            return (
                f"No {name} up to {_largest_level(half):g} and no number of rows that was measured halves this error.",
            )
        return (f"Half of this error needs {' or '.join(ways)}.",)
    if not reply.reached:
        rows = rows_for(question, beside * reply.wanted)
        most = f"{max(question.n, *NS):,}"
        if rows is None:
            left = without_noise(dataclasses.replace(question, n=max(question.n, *NS)))
            if left > beside * reply.wanted:
                return (
                    f"Nor do more rows: without noise {amount(reply, left / beside)} remains, mostly from clipping. "
                    "Raise the row bound, or ask for a larger error.",
                )
            return (f"Nor do more rows, up to {most}. Ask for a larger error or fewer columns.",)
        return (f"About {rows:,} rows are needed for it at {name} = {reply.level:g}.",)
    twice = which_level(dataclasses.replace(question, n=2 * question.n), beside * reply.wanted)
    if not twice.reached or twice.level >= reply.level:
        return ()
    return (f"With {2 * question.n:,} rows about {name} = {twice.level:g} is enough.",)


def by_structure(reply: Reply) -> tuple[str, ...]:
    """Return the answer for each structure, where none was named."""
    question = reply.advice.question
    if question.structure != UNKNOWN:
        return ()
    sentences = []
    for one in TARGETS[question.target].structures:
        asked = dataclasses.replace(question, structure=one.key)
        alone = how_far(asked) if reply.wanted is None else which_level(asked, reply.wanted)
        words = sentence(alone)
        sentences.append(f"If {one.label}: {words}")
    return tuple(sentences)


# --- levels -------------------------------------------------------------------------------------------------


def levels_of(question: Question) -> tuple[np.ndarray, np.ndarray]:
    """Return the levels between the cells for a question, rising, and their strengths."""
    levels, strengths = _grid(question.guarantee.kind, getattr(question.guarantee, "delta", None))
    measured = surface(question.target, question.guarantee.kind)
    factors = noise_factors(question)
    nearest_n = float(np.clip(question.n, measured.ns[0], measured.ns[-1]))
    low = max(factors) * measured.strengths[0] * measured.ns[0] / question.n
    high = min(factors) * measured.strengths[-1] * nearest_n / question.n
    low, high = max(low, strengths[0]), min(high, strengths[-1])
    inside = np.geomspace(min(low, high / 2), high, STEPS)
    return np.exp(np.interp(np.log(inside), np.log(strengths), np.log(levels))), inside


@lru_cache(maxsize=64)
def _grid(kind: str, delta: float | None) -> tuple[np.ndarray, np.ndarray]:
    levels = np.geomspace(*ENDS[kind], STEPS)
    guarantee: Guarantee = ZCDP(1.0) if kind == "zcdp" else PureDP(1.0)
    if delta is not None:
        guarantee = ApproxDP(1.0, delta)
    return levels, np.array([strength_of(with_level(guarantee, float(level))) for level in levels])


def _at(question: Question, strength: float) -> Question:
    """Return the question at the epsilon or rho of a strength, rounded up to three digits."""
    guarantee = question.guarantee
    level = level_of(guarantee_from(guarantee.kind, float(strength), getattr(guarantee, "delta", None)))
    return dataclasses.replace(question, guarantee=with_level(question.guarantee, rounded_level(level)))


def rounded_level(level: float) -> float:
    """Return a level rounded up to three digits."""
    digits = 2 - math.floor(math.log10(level))
    return float(f"{math.ceil(round(level * 10.0**digits, 3)) / 10.0**digits:.3g}")


def _rounded_up(rows: float) -> int:
    unit = 10 ** max(0, math.floor(math.log10(rows)) - 1)
    return math.ceil(rows / unit) * unit


def reply_at(question: Question, wanted: float | None) -> Reply:
    """Return the stored answer at the guarantee of the question."""
    advice = answer_of(question)
    line = next((x for x in advice.ranking if not x.trivial), None)
    if line is None:
        raise ValueError("No method that was measured gives this guarantee. Ask for another kind.")
    where = max(line.answers, key=lambda s: line.answers[s].error)
    found = line.answers[where]
    replicates = surface(question.target, question.guarantee.kind).replicates
    return Reply(
        advice,
        line,
        wanted,
        level_of(question.guarantee),
        wanted is None or found.error <= wanted * (1 + 1e-9),
        found.error,
        found.se * math.sqrt(replicates),
        where,
    )
