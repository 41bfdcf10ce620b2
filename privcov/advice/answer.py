"""A question, its answer, and the answer in sentences: what to use, where it was measured, what would change it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from privcov import checks
from privcov.advice.evidence import Point
from privcov.advice.grid import REPLICATES, TARGETS
from privcov.advice.rank import Line
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, Guarantee, PureDP, ZCDP

UNKNOWN = "unknown"
HARMFUL = "Worse than the zero matrix in some structure, so listed last and never recommended."
REMEDY = "Run the question on simulated rows of your size, in Curves or with privcov.run, before you rely on this."
FAR = 2.5  # factor beyond the cells up to which they are near; neighbouring cells lie up to twice as far apart


@dataclass(frozen=True)
class Question:
    """The public facts of a question about methods.

    ``target`` is "covariance", "precision" or "graph"; ``structure`` a key of TARGETS[target].structures, or "unknown".
    ``mean_known``: it is publicly zero. ``add_remove``: the number of rows is not public. ``private``: only methods
    offered for private rows. ``length_ratio`` > 0 is row bound over root mean square row length about the mean, or 1 /
    spread with the usual standard deviation as a fraction of a half-range; by default that of the evidence. The
    guarantee covers all ``rows_per_person``. Raises ValueError for a fact out of range, TypeError for another kind of
    guarantee.
    """

    n: int
    d: int
    guarantee: Guarantee
    target: str = "covariance"
    structure: str = UNKNOWN
    mean_known: bool = False
    add_remove: bool = False
    private: bool = False
    length_ratio: float | None = None
    rows_per_person: int = 1

    def __post_init__(self) -> None:
        checks.whole("n", self.n, 1)
        checks.whole("d", self.d, 1)
        checks.whole("rows_per_person", self.rows_per_person, 1)
        checks.one_of("target", self.target, tuple(TARGETS))
        checks.one_of("structure", self.structure, (UNKNOWN, *(s.key for s in TARGETS[self.target].structures)))
        if not isinstance(self.guarantee, (PureDP, ApproxDP, ZCDP)):
            raise TypeError(f"guarantee must be PureDP, ApproxDP or ZCDP, got {self.guarantee!r}.")
        if self.length_ratio is not None:
            checks.positive("length_ratio", self.length_ratio)

    @property
    def structures(self) -> tuple[str, ...]:
        """The structures that the answer has to hold for."""
        known = tuple(s.key for s in TARGETS[self.target].structures)
        return known if self.structure == UNKNOWN else (self.structure,)


@dataclass(frozen=True)
class Cell:
    """The measured cell nearest to a question, one per structure; the answer is interpolated between the cells.

    ``factor`` is how far the question lies beyond all cells, in n, d or noise over signal; 1 between them.
    """

    structure: str
    point: Point
    factor: float


@dataclass(frozen=True)
class Change:
    """A change of one fact that would change the answer.

    ``what`` is "better" (than the trivial answers), "half" (the error is at most half of theirs) or "lost" (no method
    is better any more). ``at`` has the facts with ``name`` changed, None where that was not reached; ``pick`` is the
    method there, or "". ``value`` is the fact there, or at the last place that was tried, in the units of the question.
    """

    name: str
    what: str
    at: Point | None
    pick: str
    value: float


@dataclass(frozen=True)
class Advice:
    """A recommendation with its evidence.

    ``pick`` is a method, or "" for none; ``ties`` are as good. ``ranking`` has all answers, best first, the trivial
    ones among them; ``cells`` the nearest measured ones, ``noise_factors`` the noise of the question over theirs, by
    structure. ``by_structure`` has what is recommended where the structure is known, and its error.
    """

    question: Question
    pick: str
    trivial: str
    ties: tuple[str, ...]
    ranking: tuple[Line, ...]
    cells: tuple[Cell, ...]
    changes: tuple[Change, ...]
    noise_factors: tuple[float, ...]
    by_structure: tuple[tuple[str, str, float], ...]

    @property
    def outside(self) -> bool:
        """Whether the question lies far beyond all cells."""
        return max(c.factor for c in self.cells) > FAR

    @property
    def verdict(self) -> tuple[str, ...]:
        """The recommendation, or that there is none, in sentences."""
        return verdict(self)

    @property
    def what_would_change(self) -> tuple[str, ...]:
        """What would change the recommendation, in sentences."""
        return changes(self)


# --- sentences --------------------------------------------------------------------------------------------------

TRIVIAL_NAMES = {
    ("covariance", "zero"): "the zero matrix",
    ("covariance", "diagonal"): "the diagonal (private variances, no covariances)",
    ("precision", "zero"): "the zero matrix",
    ("precision", "diagonal"): "the diagonal (one over the variances, taken as known exactly)",
    ("graph", "zero"): "the empty graph",
}
NONPRIVATE_NAMES = {
    "covariance": "the same rows without noise",
    "precision": "the graphical lasso without noise",
    "graph": "the graphical lasso without noise",
}


def structure_label(target: str, key: str) -> str:
    """Return the label of a structure, as the form shows it."""
    if key == UNKNOWN:
        return "I do not know"
    return next(s.label for s in TARGETS[target].structures if s.key == key)


def label_of(advice: Advice, key: str) -> str:
    """Return a method's label, or the name of a trivial answer."""
    return TRIVIAL_NAMES.get((advice.question.target, key)) or METHODS.get(key).label


def verdict(advice: Advice) -> tuple[str, ...]:
    """Return the recommendation and the numbers behind it, in sentences."""
    question = advice.question
    lines = {line.key: line for line in advice.ranking}
    if advice.pick:
        return (_recommended(advice, lines[advice.pick], lines), *_notes(advice, lines))
    best = lines[advice.trivial]
    methods = [line for line in advice.ranking if not line.trivial]
    name = label_of(advice, advice.trivial)
    if not methods:
        return ("No method offered here gives this guarantee.",)
    rival = methods[0]
    if question.structure == UNKNOWN:
        text = (
            f"None is safe if you know nothing: {rival.label} errs by up to {_times(rival.worst)} the best method's "
            f"error, and {name} by up to {_times(best.worst)}."
        )
        if rival.wins:
            text += (
                f" If {_or([structure_label(question.target, s) for s in rival.wins])}, {rival.label} is the better "
                "answer: say so if you know it."
            )
    else:
        text = (
            f"None: {name} errs by {_number(best)}, and no method is better by a tenth beyond Monte-Carlo error. The "
            f"nearest is {rival.label} with {_number(rival)}."
        )
    return (text, *_notes(advice, lines))


def _recommended(advice: Advice, pick: Line, lines: dict[str, Line]) -> str:
    question = advice.question
    trivial = lines[advice.trivial]
    if question.structure == UNKNOWN:
        text = (
            f"{pick.label}. Safest choice if you know nothing: at most {_times(pick.worst)} the best method's error; "
            f"{label_of(advice, trivial.key)}: {_times(trivial.worst)}. {_errs(advice, pick)}"
        )
        missing = [s for s in question.structures if s not in pick.wins]
        if missing:
            where = _or([structure_label(question.target, s) for s in missing])
            text += f" If {where}, a trivial answer is as good"
            rival = next((x for x in advice.ranking if x is not pick and not x.harms and {*missing} <= {*x.wins}), None)
            text += "." if rival is None else f", and {rival.label} is better than both. {_errs(advice, rival)}"
        return text
    return (
        f"{pick.label}: error {_number(pick)}, against {_number(trivial)} of {label_of(advice, trivial.key)}"
        + (
            f"; {_times(pick.to_nonprivate)} that of {NONPRIVATE_NAMES[question.target]}"
            if pick.to_nonprivate > 0
            else ""
        )
        + "."
    )


def _errs(advice: Advice, line: Line) -> str:
    """Return a sentence with the range of a method's error over the structures."""
    what = "Matthews correlation" if advice.question.target == "graph" else "error"
    errors = {s: 1 - a.error if advice.question.target == "graph" else a.error for s, a in line.answers.items()}
    low, high = min(errors, key=errors.__getitem__), max(errors, key=errors.__getitem__)
    ends = [f"{errors[s]:.2g} (if {structure_label(advice.question.target, s)})" for s in (low, high)]
    return f"Its {what} is {ends[0]} to {ends[1]}."


def table(advice: Advice) -> tuple[str, ...]:
    """Return the ranking as lines of plain text: a heading, then one line per answer."""
    if len(advice.cells) > 1:
        lines = [f"{'':<26}{'worst ratio to the best':>25}{'errors over the structures':>29}"]
        for line in advice.ranking:
            errors = [a.error for a in line.answers.values()]
            name = line.key + (" *" if line.harms else "")
            lines.append(f"{name:<26}{line.worst:>25.3g}{f'{min(errors):.3g} to {max(errors):.3g}':>29}")
        if any(line.harms for line in advice.ranking):
            lines.append(f"* {HARMFUL}")
        return tuple(lines)
    lines = [f"{'':<26}{'error':>10}{'± se':>10}{'/ zero':>10}{'/ diagonal':>12}{'/ no noise':>12}"]
    for line in advice.ranking:
        ratios = f"{line.to_zero:>10.3g}{line.to_diagonal:>12.3g}{line.to_nonprivate:>12.3g}".replace("nan", "  -")
        lines.append(f"{line.key:<26}{line.error:>10.3g}{line.se:>10.1g}{ratios}")
    return tuple(lines)


def _notes(advice: Advice, lines: dict[str, Line]) -> tuple[str, ...]:
    """Return the notes on ties, distance and noise, in sentences."""
    notes = []
    if advice.ties and advice.pick:
        names = _and([lines[key].label for key in advice.ties])
        notes.append(f"Within five per cent, or not told apart by {REPLICATES} replicates: {names}.")
    if advice.outside:
        far = max(cell.factor for cell in advice.cells)
        notes.append(f"Outside the evidence: the nearest cell is a factor {far:.3g} away in n, d or noise. {REMEDY}")
    notes.append(measured_at(advice))
    factor = max(advice.noise_factors)
    if factor > 1.01 or factor < 0.99:
        notes.append(
            f"Your noise is {factor:.3g} times that of the cells at the same n, d and guarantee "
            f"({_and(_reasons(advice))}); the errors are those at that noise."
        )
    return tuple(notes)


def _reasons(advice: Advice) -> list[str]:
    """Return why the noise of the question differs from that of the cells."""
    question = advice.question
    reasons = []
    if not question.mean_known or question.add_remove:
        reasons.append("the mean is measured as well")
    if question.add_remove:
        reasons.append("n is protected")
    if question.rows_per_person > 1:
        reasons.append(f"a person has up to {question.rows_per_person} rows")
    if question.length_ratio is not None:
        reasons.append(f"the row bound is {question.length_ratio:.3g} times the usual length of a row")
    return reasons or ["settings differ"]


def measured_at(advice: Advice) -> str:
    """Return where the evidence was measured."""
    places = list(dict.fromkeys(cell.point for cell in advice.cells))
    spots = _and([place(point) for point in places])
    return f"Interpolated between cells of simulated rows, {REPLICATES} replicates each; the nearest: {spots}."


def place(point: Point) -> str:
    """Describe a measured point in a few words."""
    return f"n = {point.n:,}, d = {point.d}, {_level(point)}"


def if_known(advice: Advice) -> tuple[str, ...]:
    """Return what would be recommended if the structure were known, one sentence per structure."""
    if advice.question.structure != UNKNOWN:
        return ()
    target = advice.question.target
    return tuple(
        f"If {structure_label(target, structure)}: {label_of(advice, key).split(' (private')[0].split(' (one')[0]}, "
        f"error {error:.3g}{', and no method is better by a tenth' * ((target, key) in TRIVIAL_NAMES)}."
        for structure, key, error in advice.by_structure
    )


def changes(advice: Advice) -> tuple[str, ...]:
    """Return what would change the verdict, fact by fact, from measured places only."""
    sentences = [_change(advice, change) for change in advice.changes if (change.what, change.at) != ("lost", None)]
    kept = [_fact(advice, c) for c in advice.changes if (c.what, c.at) == ("lost", None)]
    if kept:
        sentences.append(f"A method stays better than the trivial answers to the end of the evidence: {_and(kept)}.")
    return tuple(sentences)


def _change(advice: Advice, change: Change) -> str:
    place = _fact(advice, change)
    if change.what == "lost":
        return f"At {place} no method is better than the trivial answers any more."
    if change.at is None:
        reached = f"does {_half(advice)}" if change.what == "half" else "is a method better than the trivial answers"
        return f"To the end of the evidence, {place}, in no cell {reached}."
    if change.what == "half":
        return f"At {place} {_half(advice).replace('error come', 'error comes')}."
    return f"At {place} {label_of(advice, change.pick)} is better than the trivial answers."


def _half(advice: Advice) -> str:
    every = " in every structure" if advice.question.structure == UNKNOWN else ""
    if advice.question.target == "graph":
        return f"the edges come to a Matthews correlation of 0.5 or more{every}"
    return f"the error come to half that of the zero matrix or less{every}"


def _fact(advice: Advice, change: Change) -> str:
    if change.name == "n":
        return f"n = {int(change.value):,}"
    if change.name == "d":
        return f"{int(change.value)} columns"
    name = "rho" if advice.question.guarantee.kind == "zcdp" else "epsilon"
    return f"{name} = {change.value:.2g} (about)"


def _level(point: Point) -> str:
    return f"rho = {point.level:g}" if point.kind == "zcdp" else f"{point.guarantee}"


def _number(line: Line) -> str:
    return f"{line.error:.3g}" + (f" ± {line.se:.1g}" if line.se > 0 else "")


def _times(ratio: float) -> str:
    return "infinitely" if math.isinf(ratio) else f"{ratio:.1f} times" if ratio < 9.95 else f"{ratio:,.0f} times"


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
