"""Which method for my n, d and guarantee? Answered from public facts and from measured cells; no row is read.

The question is compared with the nearest cell of the evidence, with the noise of the question: a mean that has to be
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
    """Return the method to use for n rows and d columns under a guarantee, or none, from the shipped evidence.

    Parameters
    ----------
    n : int
        Number of rows, at least 1; a guess with ``add_remove``.
    d : int
        Number of columns, at least 1.
    guarantee : PureDP, ApproxDP or ZCDP
        What the release has to keep.
    target : {"covariance", "precision", "graph"}, optional
        What is estimated.
    structure : str, optional
        A key of TARGETS[target].structures, or "unknown": then the answer is the method whose worst ratio to the best
        answer over the structures is smallest.
    mean_known : bool, optional
        The mean is publicly zero, so it need not be measured.
    add_remove : bool, optional
        The number of rows is not public.
    private : bool, optional
        Rank only the methods that are offered for private rows.
    length_ratio : float, optional
        Row bound over the root mean square row length, above 0; see `Question`.
    rows_per_person : int, optional
        Most rows that one person has, at least 1; see `Question`.

    Returns
    -------
    Advice
        The recommendation, the ranking behind it, and what would change it.

    Raises
    ------
    ValueError
        For a fact out of range.
    TypeError
        For a guarantee of another kind.

    Guarantee
    ---------
    No row is read: the answer depends on the arguments and on the shipped evidence only.

    Spends
    ------
    Nothing.

    Examples
    --------
    >>> from privcov import ZCDP
    >>> from privcov.advice.advise import advise
    >>> advise(20_000, 10, ZCDP(0.5)).pick != ""
    True
    """
    question = Question(
        n, d, guarantee, target, structure, mean_known, add_remove, private, length_ratio, rows_per_person
    )
    evidence = read(target)
    allowed = _allowed(question)
    factors = {s: _factor(question, evidence, s) for s in question.structures}
    strength = strength_of(guarantee)
    cells = []
    for one in question.structures:
        point, far = nearest(evidence, n, d, guarantee.kind, strength / factors[one])
        cells.append(Cell(one, point, far))
    ranking = judge(evidence, [(c.structure, c.point) for c in cells], allowed)
    known = []
    for cell in cells:
        alone = judge(evidence, [(cell.structure, cell.point)], allowed)
        key = alone.pick or alone.trivial
        known.append((cell.structure, key, evidence.at(cell.structure, cell.point)[key].error))
    return Advice(
        question,
        ranking.pick,
        ranking.trivial,
        ranking.ties,
        ranking.lines,
        tuple(cells),
        _changes(question, evidence, cells, factors, allowed, ranking),
        tuple(factors.values()),
        tuple(known),
    )


def _factor(question: Question, evidence: Evidence, structure: str) -> float:
    """Return the noise of the question over that of the cells of a structure."""
    lengths = 1.0 if question.length_ratio is None else question.length_ratio / evidence.ratios[structure]
    return noise_factor(
        question.guarantee.kind,
        question.d,
        mean_known=question.mean_known,
        add_remove=question.add_remove,
        lengths=lengths,
        persons=question.rows_per_person,
    )


def _allowed(question: Question) -> set[str]:
    """Return the methods that may be recommended.

    They have the neighbouring relation and can give the guarantee, and for private rows they are among those offered.
    """
    relation = "add-remove" if question.add_remove else "replace-one"
    cards = private_methods() if question.private else METHODS.all()
    return {c.key for c in cards if relation in c.relations and not c.refuses(question.guarantee.kind)}


# --- what would change it -----------------------------------------------------------------------------------


def _changes(
    question: Question, evidence: Evidence, cells: list[Cell], factors: dict[str, float], allowed: set[str], now: Judged
) -> tuple[Change, ...]:
    """Walk the grid along each fact in the direction that should help.

    Where a method is better already, walk also in the direction that hurts.
    """
    changes = []
    for name, helps in (("n", 1), ("level", 1), ("d", -1)):
        ways = [("better", helps)] if not now.pick else [("half", helps), ("lost", -helps)]
        for what, way in ways:
            change = _walk(question, evidence, cells, factors, allowed, name, what, way)
            if change is not None:
                changes.append(change)
    return tuple(changes)


def _walk(
    question: Question,
    evidence: Evidence,
    cells: list[Cell],
    factors: dict[str, float],
    allowed: set[str],
    name: str,
    what: str,
    way: int,
) -> Change | None:
    """Return the first place along a fact where ``what`` holds.

    None where it holds already or there is no further place.
    """
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
            return Change(name, what, None, "", _value(question, factors, name, last)) if step != way else None
        places = [(s, lines[s][i]) for s, i in here.items()]
        judged = judge(evidence, places, allowed)
        held = {"better": bool(judged.pick), "lost": not judged.pick}.get(what)
        if held or (what == "half" and _half(evidence, places, allowed)):
            return Change(name, what, places[0][1], judged.pick, _value(question, factors, name, places[0][1]))
        last = places[0][1]


def _half(evidence: Evidence, places: list[tuple[str, Point]], allowed: set[str]) -> bool:
    """Return whether the recommended method errs at most half as much as the zero matrix, in every structure."""
    judged = judge(evidence, places, allowed)
    return bool(judged.pick) and all(evidence.at(s, p)[judged.pick].error <= HALF for s, p in places)


def _value(question: Question, factors: dict[str, float], name: str, point: Point) -> float:
    """Return a place of the grid in the units of the question, its own epsilon or rho for the level."""
    if name != "level":
        return getattr(point, name)
    factor = next(iter(factors.values()))
    guarantee = guarantee_from(point.kind, point.strength * factor, getattr(question.guarantee, "delta", None))
    return guarantee.rho if isinstance(guarantee, ZCDP) else guarantee.epsilon
