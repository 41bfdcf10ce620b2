"""Which method for my n, d and guarantee? Answered from public facts and from measured cells; no row is read.

The question is laid beside the nearest cell of the evidence, with the noise of the question: a mean that has to be
measured, a number of rows that has to be protected and a generous row bound all make it larger, and for all methods
here that is the same as a smaller epsilon. The answer is "none" unless a method beats the trivial answers by more than
the Monte-Carlo error of the cells.
"""

from __future__ import annotations

from privcov.advice.answer import UNKNOWN, Advice, Cell, Change, Question
from privcov.advice.evidence import (
    Evidence,
    Point,
    guarantee_from,
    nearest,
    noise_factor,
    read,
    strength_of,
)
from privcov.advice.rank import Judged, judge
from privcov.estimators.base import METHODS
from privcov.privacy import Guarantee, ZCDP
from privcov.releasing.private import private_methods

HALF = 0.5


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


def _changes(
    asked: Question, evidence: Evidence, cells: list[Cell], factors: dict[str, float], allowed: set[str], now: Judged
) -> tuple[Change, ...]:
    """Walk the grid along each lever, the way that should help (or, where a method is better, the way that hurts)."""
    found = []
    for name, helps in (("n", 1), ("level", 1), ("d", -1)):
        ways = [("better", helps)] if not now.pick else [("half", helps), ("lost", -helps)]
        for what, way in ways:
            change = _walk(asked, evidence, cells, factors, allowed, name, what, way)
            if change is not None:
                found.append(change)
    return tuple(found)


def _walk(
    asked: Question,
    evidence: Evidence,
    cells: list[Cell],
    factors: dict[str, float],
    allowed: set[str],
    name: str,
    what: str,
    way: int,
) -> Change | None:
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


def _half(evidence: Evidence, places: list[tuple[str, Point]], allowed: set[str]) -> bool:
    """Whether the recommended method errs at most half as much as the zero matrix, in every structure asked about."""
    judged = judge(evidence, places, allowed)
    return bool(judged.pick) and all(evidence.at(s, p)[judged.pick].error <= HALF for s, p in places)


def _value(asked: Question, factors: dict[str, float], name: str, point: Point) -> float:
    """A place of the grid in the units of the question: its own epsilon or rho where that is the lever."""
    if name != "level":
        return getattr(point, name)
    factor = next(iter(factors.values()))
    found = guarantee_from(point.kind, point.strength * factor, getattr(asked.guarantee, "delta", None))
    return found.rho if isinstance(found, ZCDP) else found.epsilon
