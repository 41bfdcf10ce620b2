"""How a question finds its cells, what follows from them, and how a hand-made table of answers is ranked and worded."""

import dataclasses
import itertools
import math

import numpy as np
import pandas as pd
import pytest

from privcov.advice import answer
from privcov.advice.advise import HALF, advise
from privcov.advice.answer import FAR, Cell
from privcov.advice.evidence import Answer, Evidence, Point, guarantee_from, nearest, noise_factor, read, strength_of
from privcov.advice.grid import TARGETS
from privcov.advice.rank import judge_answers
from privcov.estimators.base import METHODS
from privcov.measurements.moment import sensitivity
from privcov.privacy import ApproxDP, PureDP, ZCDP
from privcov.releasing.private_request import private_methods

PLAIN = {"mean_known": True, "private": False}
QUESTIONS = [
    {"n": n, "d": d, "guarantee": guarantee, "target": target, "structure": structure}
    for n, d, guarantee in ((1_000, 15, ZCDP(0.01)), (5_000, 40, ApproxDP(1.0, 1e-6)), (20_000, 15, PureDP(1.0)),
                            (300, 40, PureDP(0.1)), (100_000, 5, ZCDP(1.0)))
    for target, structure in (("covariance", "unknown"), ("covariance", "low-rank"), ("precision", "banded"),
                              ("graph", "unknown"))
]  # fmt: skip


def noisier(guarantee, times):
    """The guarantee whose noise is so many times larger."""
    return guarantee_from(guarantee.kind, strength_of(guarantee) / times, getattr(guarantee, "delta", None))


@pytest.mark.parametrize("guarantee", [ZCDP(0.5), ApproxDP(2.0, 1e-6), PureDP(5.0)], ids=str)
@pytest.mark.parametrize(
    ("facts", "times"),
    [({"length_ratio": 3.9, "mean_known": True}, 9.0), ({"rows_per_person": 4, "mean_known": True}, 4.0),
     ({"mean_known": False, "rows_per_person": 4}, None), ({"add_remove": True, "rows_per_person": 4}, None)],
    ids=lambda x: "-".join(x) if isinstance(x, dict) else "",
)  # fmt: skip
def test_more_noise_is_looked_up_as_a_stronger_guarantee(guarantee, facts, times):
    """A mean to be measured, rows of one person and a generous bound send the question where the noise is as large."""
    if times is None:
        hidden = facts.get("add_remove", False)
        times = noise_factor(guarantee.kind, 15, mean_known=False, add_remove=hidden, lengths=1.0, persons=4)
    assert times > 1
    asked = advise(20_000, 15, guarantee, structure="banded", **facts)
    same = advise(20_000, 15, noisier(guarantee, times), structure="banded", mean_known=True)
    assert asked.noise_factors == pytest.approx((times,), rel=1e-9)
    assert asked.cells[0].point == same.cells[0].point
    assert asked.cells[0].factor == pytest.approx(same.cells[0].factor, rel=1e-6)
    plain = advise(20_000, 15, guarantee, structure="banded", mean_known=True)
    assert asked.cells[0].point.strength < plain.cells[0].point.strength


@pytest.mark.parametrize("kind", ["zcdp", "approx", "pure"])
def test_the_nearest_cell_has_a_guarantee_of_the_same_kind(kind):
    assert {nearest(read("covariance"), 5_000, 15, kind, s)[0].kind for s in np.geomspace(0.05, 10, 25)} == {kind}


def test_nearness_is_in_rows_columns_and_noise_over_signal():
    """Every cell tried, at 100 questions: n, d and n times the strength as factors."""
    rng, evidence = np.random.default_rng(5), read("covariance")
    for _ in range(100):
        n, d, strength = (float(x) for x in np.exp(rng.uniform(np.log([100, 3, 0.02]), np.log([3e5, 300, 5]))))

        def factors(p, n=n, d=d, strength=strength):
            return np.log([p.n / n, p.d / d, p.n * p.strength / (n * strength)])

        literal = min((p for p in evidence.points if p.kind == "zcdp"), key=lambda p: (factors(p) ** 2).sum())
        point, far = nearest(evidence, n, d, "zcdp", strength)
        assert point == literal
        assert far == pytest.approx(math.exp(np.abs(factors(point)).max()))


def test_a_row_bound_is_measured_by_that_of_the_cells():
    """Of each structure its own: the bound of the cells themselves changes nothing."""
    for one, ratio in read("covariance").ratios.items():
        found = advise(5_000, 15, ZCDP(0.1), structure=one, mean_known=True, length_ratio=ratio)
        assert found.noise_factors == pytest.approx((1.0,))


@pytest.mark.parametrize("norm_kind", ["zcdp", "pure"])
def test_a_number_of_rows_is_protected_by_the_extra_row_of_the_measurement(norm_kind):
    norm = "nuclear" if norm_kind == "pure" else "l2"
    one, known = (
        sensitivity(7, 1, norm=norm, n_anchors=joint, relation=relation)
        for joint, relation in ((1, "add-remove"), (0, "replace-one"))
    )
    for mean_known in (True, False):
        found = noise_factor(norm_kind, 7, mean_known=mean_known, add_remove=True, lengths=1.0, persons=1)
        assert found == pytest.approx(one / known)


def test_far_from_the_evidence_is_said_of_the_farthest_cell():
    found = advise(5_000, 40, ZCDP(0.1))
    near, far = (Cell("banded", found.cells[0].point, factor) for factor in (1.0, FAR * 1.01))
    assert dataclasses.replace(found, cells=(near, far)).outside
    assert not dataclasses.replace(found, cells=(near, dataclasses.replace(near, factor=FAR))).outside


def test_methods_without_the_relation_or_for_public_rows_only_are_left_out():
    """Both kinds of methods have cells, so leaving nothing out would be seen."""
    offered = {card.key for card in private_methods()}
    for target, guarantee in itertools.product(TARGETS, (ZCDP(0.1), ApproxDP(1.0, 1e-6), PureDP(1.0))):
        for more in ({"add_remove": True}, {"private": True}, {}):
            found = advise(20_000, 15, guarantee, target, **more)
            ranked = {line.key for line in found.ranking if not line.trivial}
            measured = set.intersection(*({*read(target).at(c.structure, c.point)} for c in found.cells))
            wanted = {
                c.key for c in METHODS.all()
                if c.key in measured and not (more.get("add_remove") and "add-remove" not in c.relations)
                and not (more.get("private") and c.key not in offered) and c.key not in ("zero", "diagonal")
            }  # fmt: skip
            assert ranked == wanted, (target, guarantee, more)
    everything = {line.key for line in advise(20_000, 15, ApproxDP(1.0, 1e-6)).ranking}
    assert "separate-cov" in everything
    assert "separate-cov" not in {line.key for line in advise(20_000, 15, ApproxDP(1.0, 1e-6), add_remove=True).ranking}


# --- what would change it -----------------------------------------------------------------------------------


def holds(what, asked, places):
    evidence = read(asked["target"])
    allowed = {line.key for line in advise(**asked, **PLAIN).ranking}
    found = judge_answers({s: evidence.at(s, p) for s, p in places}, allowed)
    if what != "half":
        return bool(found.pick) == (what == "better")
    return bool(found.pick) and all(evidence.at(s, p)[found.pick].error <= HALF for s, p in places)


@pytest.mark.parametrize("asked", QUESTIONS, ids=lambda q: f"{q['target']}-{q['structure']}-{q['n']}-{q['guarantee']}")
def test_a_change_is_the_first_place_along_the_lever_where_it_holds(asked):
    """Read off the grid once more, cell by cell, with nothing but the ranking of one cell."""
    found, evidence = advise(**asked, **PLAIN), read(asked["target"])
    told = {(c.name, c.what): c for c in found.changes}
    helping = ("half", "lost") if found.pick else ("better",)
    for name, what in itertools.product(("n", "level", "d"), helping):
        ahead = 1 if (what == "lost") == (name == "d") else -1
        rest = {"kind", "n", "d", "level"} - {name}
        lines = {
            c.structure: sorted(
                (
                    p
                    for p in evidence.points
                    if p.kind == c.point.kind and all(getattr(p, r) == getattr(c.point, r) for r in rest)
                ),
                key=lambda p: getattr(p, name),
            )
            for c in found.cells
        }
        starts = {c.structure: lines[c.structure].index(c.point) for c in found.cells}
        walk = []
        for step in itertools.count(0, ahead):
            if any(not 0 <= starts[s] + step < len(lines[s]) for s in lines):
                break
            walk.append([(s, lines[s][starts[s] + step]) for s in lines])
        here, *rest = walk
        first = next((places for places in rest if holds(what, asked, places)), None)
        change = told.get((name, what))
        if not rest or (what == "half" and holds("half", asked, here)):
            assert change is None
        elif first is None:
            assert (change.at, change.pick) == (None, "")
        else:
            at, place = change.at, first[0][1]
            assert (at.n, at.d, at.kind) == (place.n, place.d, place.kind)
            assert at.level == pytest.approx(place.level)
            assert (what == "lost") == (not change.pick)


def test_the_questions_above_see_every_kind_of_change():
    seen = {(c.name, c.what, c.at is None) for q in QUESTIONS for c in advise(**q, **PLAIN).changes}
    assert {(n, w) for n, w, _ in seen} == set(itertools.product(("n", "d", "level"), ("better", "half", "lost")))
    assert {end for *_, end in seen} == {True, False}


@pytest.mark.parametrize("guarantee", [ZCDP(0.1), ApproxDP(1.0, 1e-8), PureDP(3.0)], ids=str)
def test_a_change_of_the_level_is_told_in_the_units_of_the_question(guarantee):
    """Asked again at the level that is named, the answer is the one that was promised there."""
    facts = {"structure": "dense", "mean_known": False, "rows_per_person": 2}
    own = guarantee.rho if guarantee.kind == "zcdp" else guarantee.epsilon
    changes = [c for c in advise(1_000, 15, guarantee, **facts).changes if c.name == "level"]
    assert changes
    for change in changes:
        make = {"zcdp": ZCDP, "pure": PureDP}.get(guarantee.kind, lambda e: ApproxDP(e, guarantee.delta))
        assert (change.value < own) == (change.what == "lost")
        if change.at is not None:
            assert change.value == change.at.level
            again = advise(1_000, 15, make(change.value), **facts)
            assert again.pick == change.pick
            assert bool(again.pick) == (change.what != "lost")


# --- a hand-made table --------------------------------------------------------------------------------------

POINT = Point(1_000, 15, "zcdp", 0.1, math.sqrt(0.2))
ALLOWED = {"gaussian-cov", "dp-thresholding", "auto-cov"}


def ranked(**structures):
    """The ranking of {structure: {method: (error, standard error)}}."""
    cells = {
        (s, POINT.n, POINT.d, POINT.kind, POINT.level): {k: Answer(*v) for k, v in answers.items()}
        for s, answers in structures.items()
    }
    made = Evidence("covariance", pd.DataFrame(), cells, (POINT,), dict.fromkeys(structures, 1.3), 6)
    return judge_answers({s: made.at(s, POINT) for s in structures}, ALLOWED)


def lines(found):
    return {line.key: line for line in found.lines}


@pytest.mark.parametrize("target", TARGETS)
def test_at_a_large_delta_no_change_needs_an_epsilon_of_nothing(target):
    """Noise with a total variation below delta has epsilon 0, which is no guarantee to ask for."""
    told = advise(20_000, 15, ApproxDP(1.0, 0.08), target=target)
    assert all(change.value > 0 for change in told.changes)


def test_errors_below_a_hundredth_are_all_as_good():
    found = lines(ranked(dense={"gaussian-cov": (0.009, 0.0), "auto-cov": (0.001, 0.0), "diagonal": (0.02, 0.0)}))
    assert found["gaussian-cov"].worst == found["auto-cov"].worst == 1
    assert found["diagonal"].worst == pytest.approx(2)
    assert found["zero"].worst == pytest.approx(100)


def test_a_method_that_cannot_be_told_from_trivial_is_not_carried_by_one_that_ties_with_it():
    """auto-cov is ahead but uncertain; gaussian-cov is within five per cent of it and surely better than trivial."""
    table = {"auto-cov": (0.50, 0.2), "gaussian-cov": (0.51, 0.001), "diagonal": (0.7, 0.001)}
    assert ranked(dense=table).pick == ""
    assert ranked(dense=table | {"auto-cov": (0.50, 0.001)}).pick == "auto-cov"


def test_a_method_that_was_not_measured_in_every_structure_is_left_out():
    both = {"gaussian-cov": (0.3, 0.01), "diagonal": (0.6, 0.01)}
    found = ranked(dense=both | {"auto-cov": (0.1, 0.01)}, banded=both)
    assert set(lines(found)) == {"zero", "diagonal", "gaussian-cov"}


def test_a_win_is_one_over_every_trivial_answer():
    mine = {"auto-cov": (0.5, 0.01)}
    found = lines(ranked(dense=mine | {"diagonal": (0.4, 0.01)}, banded=mine | {"diagonal": (0.9, 0.0)}))["auto-cov"]
    assert found.wins == ("banded",)
    assert found.harms == ()


# --- the sentences ------------------------------------------------------------------------------------------


def test_errors_over_structures_are_told_from_the_smallest_to_the_largest():
    found = advise(20_000, 15, ZCDP(0.1))
    line = next(x for x in found.ranking if x.key == found.pick)
    errors = {s: a.error for s, a in line.answers.items()}
    low, high = min(errors, key=errors.get), max(errors, key=errors.get)
    assert errors[low] < errors[high]
    label = answer.structure_label("covariance", low)
    assert f"Its error is {errors[low]:.2g} (if {label}) to {errors[high]:.2g} (" in answer._errs(found, line)
    assert f"to {errors[high]:.2g} (" in found.verdict[0]


def test_a_graph_is_told_by_its_matthews_correlation():
    found = advise(100_000, 5, ZCDP(1.0), "graph")
    line = next(x for x in found.ranking if x.key == found.pick)
    told = [1 - a.error for a in line.answers.values()]
    assert f"Matthews correlation is {min(told):.2g} (" in found.verdict[0]
    assert f"to {max(told):.2g} (" in found.verdict[0]


@pytest.mark.parametrize(("factor", "told"), [(1.0, False), (1.009, False), (1.02, True), (0.991, False), (0.98, True)])
def test_other_noise_than_that_of_the_cells_is_said_either_way(factor, told):
    found = dataclasses.replace(advise(5_000, 15, ZCDP(0.1), structure="dense"), noise_factors=(factor,))
    assert any("Your noise is" in text for text in found.verdict) == told


def test_reasons_of_the_noise():
    told = {
        (known, hidden): answer._reasons(advise(5_000, 15, ZCDP(0.1), mean_known=known, add_remove=hidden))
        for known, hidden in itertools.product((True, False), repeat=2)
    }
    assert told[True, False] == ["settings differ"]
    assert told[False, False] == ["the mean is measured as well"]
    assert told[True, True] == told[False, True] == ["the mean is measured as well", "n is protected"]


@pytest.mark.parametrize(
    ("ratio", "words"), [(1.04, "1.0 times"), (9.94, "9.9 times"), (9.96, "10 times"), (1234.5, "1,234 times"),
                         (math.inf, "infinitely")]
)  # fmt: skip
def test_a_ratio_in_words(ratio, words):
    assert answer._times(ratio) == words


def test_unknown_structures_are_told_with_what_is_missing_and_what_knowing_would_give():
    """Where the pick loses to a trivial answer in some structure, exactly those structures are named."""
    seen = 0
    for n, level in itertools.product((1_000, 5_000, 20_000), (0.01, 0.1)):
        found = advise(n, 40, ZCDP(level))
        known = answer.if_known(found)
        assert len(known) == len(found.cells)
        for words, (_, key, _) in zip(known, found.by_structure, strict=True):
            assert words.endswith("no method is better by a tenth.") == (key in ("zero", "diagonal"))
        assert answer.if_known(advise(n, 40, ZCDP(level), structure="dense")) == ()
        if not found.pick:
            continue
        pick = next(x for x in found.ranking if x.key == found.pick)
        missing = [s for s in found.question.structures if s not in pick.wins]
        text = found.verdict[0]
        assert ("a trivial answer is as good" in text) == bool(missing)
        if missing:
            seen += 1
            said = text.split(". If ")[1].split(", a trivial answer")[0]
            assert said == answer._or([answer.structure_label("covariance", s) for s in missing])
            better = [x for x in found.ranking if x is not pick and not x.harms and {*missing} <= {*x.wins}]
            assert ("is better than both" in text) == bool(better)
            if better:
                assert f"{better[0].label} is better than both" in text
    assert seen


def test_levels_are_named_by_the_kind_that_was_asked_for():
    for guarantee, name in ((ZCDP(0.01), "rho"), (PureDP(0.3), "epsilon"), (ApproxDP(0.3, 1e-6), "epsilon")):
        found = advise(1_000, 40, guarantee, structure="dense")
        (change,) = [c for c in found.changes if c.name == "level"][:1]
        assert answer._fact(found, change).startswith(f"{name} = ")


def test_a_ratio_to_no_noise_is_told_where_there_is_one():
    found = advise(20_000, 15, ZCDP(1.0), structure="dense")
    assert found.pick
    assert "the same rows without noise" in found.verdict[0]
    without = tuple(dataclasses.replace(line, to_nonprivate=np.nan) for line in found.ranking)
    assert "without noise" not in dataclasses.replace(found, ranking=without).verdict[0]
