"""Which method for my n, d and guarantee? Answered from public facts and from measured cells; no row is read.

The errors are interpolated between the cells, at the noise of the question: a mean that has to be measured, a number of
rows that has to be protected and a generous row bound all make it larger, and for all methods here that is the same as
a smaller epsilon. The answer is "none" unless a method beats the trivial answers by more than the Monte-Carlo error of
the cells.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from privcov import accounting
from privcov.advice.answer import UNKNOWN, Advice, Cell, Change, Question
from privcov.advice.evidence import Point, guarantee_from, nearest, noise_factor, read, strength_of
from privcov.advice.rank import TRIVIAL, Judged, Ruled, judge_answers, plainest_first, rule
from privcov.advice.surface import Surface, surface
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, Guarantee, level_of, with_level
from privcov.releasing.private_request import private_methods

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
    """Return the method to use for n rows and d columns under a guarantee, or none, from the shipped evidence."""
    question = Question(
        n, d, guarantee, target, structure, mean_known, add_remove, private, length_ratio, rows_per_person
    )
    return answer_of(question)


@lru_cache(maxsize=256)
def answer_of(question: Question) -> Advice:
    """Return the answer to a question; `advise` writes the question from its facts."""
    evidence = read(question.target)
    measured = surface(question.target, question.guarantee.kind)
    allowed = allowed_for(question)
    factors = noise_factors(question)
    strength = strength_of(question.guarantee)
    at, cells = {}, []
    for one, factor in zip(question.structures, factors, strict=True):
        at[one] = measured.at(one, question.n, question.d, strength / factor)
        *_, far = measured.place(question.n, question.d, strength / factor)
        point, _ = nearest(evidence, question.n, question.d, question.guarantee.kind, strength / factor)
        cells.append(Cell(one, point, float(far)))
    ranking = judge_answers(at, allowed)
    known = []
    for one in question.structures:
        alone = judge_answers({one: at[one]}, allowed) if len(at) > 1 else ranking
        key = alone.pick or alone.trivial
        known.append((one, key, at[one][key].error))
    return Advice(
        question,
        ranking.pick,
        ranking.trivial,
        ranking.ties,
        ranking.lines,
        tuple(cells),
        _changes(question, measured, factors, strength, ranking),
        factors,
        tuple(known),
    )


def noise_factors(question: Question) -> tuple[float, ...]:
    """Return the noise of the question over that of the cells, by structure."""
    ratios = read(question.target).ratios
    return tuple(
        noise_factor(
            question.guarantee.kind,
            question.d,
            mean_known=question.mean_known,
            add_remove=question.add_remove,
            lengths=1.0 if question.length_ratio is None else question.length_ratio / ratios[structure],
            persons=question.rows_per_person,
        )
        for structure in question.structures
    )


def allowed_for(question: Question) -> set[str]:
    """Return the methods that have the neighbouring relation, can give the guarantee, and are offered for such rows."""
    relation = "add-remove" if question.add_remove else "replace-one"
    cards = private_methods() if question.private else METHODS.all()
    return {c.key for c in cards if relation in c.relations and not c.refuses(question.guarantee.kind)}


def ruled(question: Question, n: np.ndarray, d: float, strength: np.ndarray) -> tuple[list[str], np.ndarray, Ruled]:
    """Apply the rule of the ranking to many questions that differ in n or in the strength of the guarantee."""
    measured = surface(question.target, question.guarantee.kind)
    factors = np.array(noise_factors(question))[:, None]
    rows, columns, level, _ = measured.place(np.broadcast_to(n, (len(factors), len(n))), d, strength / factors)
    errors, ses = measured.errors(question.structures, rows, columns, level)
    allowed = allowed_for(question)
    keys = plainest_first(key for key in measured.answers if key in allowed or key in TRIVIAL)
    chosen = [measured.answers.index(key) for key in keys]
    errors, ses = errors[:, chosen], ses[:, chosen]
    return keys, errors, rule(keys, errors, ses)


# --- what would change it -----------------------------------------------------------------------------------


def _changes(
    question: Question, measured: Surface, factors: tuple[float, ...], strength: float, now: Judged
) -> tuple[Change, ...]:
    """Walk each fact by measured places in the direction that should help; where a method is better, also back."""
    levels, given = measured.strengths * factors[0], question.guarantee
    if isinstance(given, ApproxDP):  # at a large delta, noise beyond a size needs no epsilon at all
        levels = levels[[accounting.epsilon_of_gaussian(given.delta, strength) > 0 for strength in levels]]
    own = {"n": measured.ns, "d": measured.ds, "level": levels}
    here = {"n": float(question.n), "d": float(question.d), "level": strength}
    changes = []
    for name, helps in (("n", 1), ("level", 1), ("d", -1)):
        ways = [("better", helps)] if not now.pick else [("half", helps), ("lost", -helps)]
        for what, way in ways:
            ahead = own[name] > here[name] * (1 + 1e-9) if way > 0 else own[name] < here[name] * (1 - 1e-9)
            change = _walk(question, here, name, what, own[name][ahead][::way])
            if change is not None:
                changes.append(change)
    return tuple(changes)


def _walk(question: Question, here: dict[str, float], name: str, what: str, values: np.ndarray) -> Change | None:
    """Return the first value of a fact at which ``what`` holds, None where it holds already or at no further one."""
    if not len(values):
        return None
    along = np.array([here[name], *values])
    if name == "d":
        parts = [ruled(question, np.array([here["n"]]), d, np.array([here["level"]])) for d in along]
    else:
        fixed = {key: np.full(len(along), here[key]) for key in ("n", "level")} | {name: along}
        keys, errors, verdicts = ruled(question, fixed["n"], here["d"], fixed["level"])
        parts = [(keys, errors[:, :, [i]], _one(verdicts, i)) for i in range(len(along))]
    for i, (keys, errors, verdict) in enumerate(parts):
        better = bool(verdict.worth[0])
        low = better and bool((errors[:, verdict.order[0, 0], 0] <= HALF).all())
        if not {"better": better, "lost": not better, "half": low}[what]:
            continue
        if i == 0:
            return None
        value = _value(question, name, along[i])
        return Change(name, what, _point(question, name, value), keys[verdict.order[0, 0]] if better else "", value)
    return Change(name, what, None, "", _value(question, name, along[-1]))


def _one(verdicts: Ruled, i: int) -> Ruled:
    return Ruled(*(part[..., [i]] for part in vars(verdicts).values()))


def _value(question: Question, name: str, value: float) -> float:
    """Return a fact in the units of the question: its own epsilon or rho for the strength of the noise."""
    if name != "level":
        return int(value)
    found = guarantee_from(question.guarantee.kind, value, getattr(question.guarantee, "delta", None))
    return float(f"{level_of(found):.9g}")


def _point(question: Question, name: str, value: float) -> Point:
    """Return the facts of the question with one of them changed."""
    facts = {"n": question.n, "d": question.d, "level": level_of(question.guarantee)} | {name: value}
    kind = question.guarantee.kind
    guarantee = with_level(question.guarantee, facts["level"])
    return Point(int(facts["n"]), int(facts["d"]), kind, float(facts["level"]), strength_of(guarantee))
