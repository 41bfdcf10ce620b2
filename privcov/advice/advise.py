"""Which method for my n, d and guarantee? Answered from public facts and from measured cells; no row is read.

The question is laid beside the nearest cell of the evidence, with the noise of the question: a mean that has to be
measured, a number of rows that has to be protected and a generous row bound all make it larger, and for all methods
here that is the same as a smaller epsilon. The answer is "none" unless a method beats the trivial answers by more than
the Monte-Carlo error of the cells.
"""

from __future__ import annotations

from dataclasses import dataclass

from privcov import checks
from privcov._private import private_methods
from privcov.advice.evidence import (
    Evidence,
    Point,
    guarantee_from,
    nearest,
    noise_factor,
    read,
    strength_of,
)
from privcov.advice.grid import TARGETS
from privcov.advice.rank import Judged, Line, judge
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, Guarantee, PureDP, ZCDP

UNKNOWN = "unknown"
HALF = 0.5
FAR = 2.5  # factor between neighbouring cells, at most, halfway


@dataclass(frozen=True)
class Question:
    """Public facts only. length_ratio: row bound over root mean square row length about the mean, None for the ratio
    of the evidence; or 1 / spread, where spread is the usual deviation as a share of a column's half-range.
    rows_per_person: most rows that one person has, all of which the guarantee covers."""

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
    """The place of the grid an answer was read at, one per structure. factor: how far from the question, >= 1."""

    structure: str
    point: Point
    factor: float


@dataclass(frozen=True)
class Change:
    """What would change the answer. name: "n", "d" or "level". at: the place where it was measured to, or None.

    what: "better" (than the trivial answers), "half" (an error at most half of theirs) or "lost" (no longer better).
    pick: the method there, or "". value: the lever there, or at the last place looked at, in the question's units.
    """

    name: str
    what: str
    at: Point | None
    pick: str
    value: float


@dataclass(frozen=True)
class Advice:
    """ranking: best first, trivial answers among them. pick: a method key, or "" for none. trivial: the best trivial
    answer. ties: methods as good as the pick. noise_factors: the question's noise over that of the cells, by structure.
    by_structure: (structure, what is recommended where it is known, a method or a trivial answer, and its error)."""

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
        """Whether a cell is further away than neighbouring cells are from each other's middle."""
        return max(c.factor for c in self.cells) > FAR

    @property
    def verdict(self) -> tuple[str, ...]:
        """The recommendation, or that there is none, in sentences."""
        from privcov.advice.words import verdict

        return verdict(self)

    @property
    def what_would_change(self) -> tuple[str, ...]:
        """What would change the recommendation, in sentences."""
        from privcov.advice.words import changes

        return changes(self)


def advise(
    n: int,
    d: int,
    guarantee: Guarantee,
    target: str = "covariance",
    structure: str = UNKNOWN,
    *,
    mean_known: bool = False,
    add_remove: bool = False,
    private: bool = False,
    length_ratio: float | None = None,
    rows_per_person: int = 1,
) -> Advice:
    """The method to use for n rows and d columns under a guarantee, or none, from the shipped evidence.

    target: "covariance", "precision" or "graph". structure: a key of TARGETS[target].structures, or "unknown": then the
    method whose worst ratio to the best answer over the structures is smallest.
    mean_known: the mean is publicly zero, so it need not be measured. add_remove: n is not public; ``n`` is then a
    guess. private: rank only what private rows are offered. length_ratio, rows_per_person: see `Question`.
    Raises ValueError for a fact out of range, TypeError for a guarantee of another kind.
    """
    asked = Question(n, d, guarantee, target, structure, mean_known, add_remove, private, length_ratio, rows_per_person)
    evidence = read(target)
    allowed = _allowed(asked)
    factors = {s: _factor(asked, evidence, s) for s in asked.structures}
    strength = strength_of(guarantee)
    cells = []
    for one in asked.structures:
        point, far = nearest(evidence, n, d, guarantee.kind, strength / factors[one])
        cells.append(Cell(one, point, far))
    found = judge(evidence, [(c.structure, c.point) for c in cells], allowed)
    known = []
    for cell in cells:
        alone = judge(evidence, [(cell.structure, cell.point)], allowed)
        key = alone.pick or alone.trivial
        known.append((cell.structure, key, evidence.at(cell.structure, cell.point)[key].error))
    return Advice(
        asked,
        found.pick,
        found.trivial,
        found.ties,
        found.lines,
        tuple(cells),
        _changes(asked, evidence, cells, factors, allowed, found),
        tuple(factors.values()),
        tuple(known),
    )


def _factor(asked: Question, evidence: Evidence, structure: str) -> float:
    lengths = 1.0 if asked.length_ratio is None else asked.length_ratio / evidence.ratios[structure]
    return noise_factor(
        asked.guarantee.kind,
        asked.d,
        mean_known=asked.mean_known,
        add_remove=asked.add_remove,
        lengths=lengths,
        persons=asked.rows_per_person,
    )


def _allowed(asked: Question) -> set[str]:
    """Methods that may be recommended: those that take the neighbouring relation, and that private rows are offered."""
    relation = "add-remove" if asked.add_remove else "replace-one"
    cards = private_methods() if asked.private else METHODS.all()
    return {c.key for c in cards if relation in c.relations and not c.refuses(asked.guarantee.kind)}


# --- what would change it -----------------------------------------------------------------------------------


def _changes(asked: Question, evidence: Evidence, cells, factors, allowed, now: Judged) -> tuple[Change, ...]:
    """Walk the grid along each lever, the way that should help (or, where a method is better, the way that hurts)."""
    found = []
    for name, helps in (("n", 1), ("level", 1), ("d", -1)):
        ways = [("better", helps)] if not now.pick else [("half", helps), ("lost", -helps)]
        for what, way in ways:
            change = _walk(asked, evidence, cells, factors, allowed, name, what, way)
            if change is not None:
                found.append(change)
    return tuple(found)


def _walk(asked, evidence, cells, factors, allowed, name: str, what: str, way: int) -> Change | None:
    """The first place along a lever where ``what`` holds; None where it holds already or there is no further place."""
    lines = {c.structure: evidence.along(name, c.point) for c in cells}
    starts = {c.structure: lines[c.structure].index(c.point) for c in cells}
    last = cells[0].point
    if what == "half" and _half(evidence, [(c.structure, c.point) for c in cells], allowed):
        return None
    step = 0
    while True:
        step += way
        here = {s: starts[s] + step for s in lines}
        if any(not 0 <= i < len(lines[s]) for s, i in here.items()):
            return Change(name, what, None, "", _value(asked, factors, name, last)) if step != way else None
        places = [(s, lines[s][i]) for s, i in here.items()]
        judged = judge(evidence, places, allowed)
        held = {"better": bool(judged.pick), "lost": not judged.pick}.get(what)
        if held or (what == "half" and _half(evidence, places, allowed)):
            return Change(name, what, places[0][1], judged.pick, _value(asked, factors, name, places[0][1]))
        last = places[0][1]


def _half(evidence: Evidence, places, allowed) -> bool:
    """Whether the recommended method errs at most half as much as the zero matrix, in every structure asked about."""
    judged = judge(evidence, places, allowed)
    return bool(judged.pick) and all(evidence.at(s, p)[judged.pick].error <= HALF for s, p in places)


def _value(asked: Question, factors, name: str, point: Point) -> float:
    """A place of the grid in the units of the question: its own epsilon or rho where that is the lever."""
    if name != "level":
        return getattr(point, name)
    factor = next(iter(factors.values()))
    found = guarantee_from(point.kind, point.strength * factor, getattr(asked.guarantee, "delta", None))
    return found.rho if isinstance(found, ZCDP) else found.epsilon
