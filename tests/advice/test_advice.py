"""Which method? The answer comes from the shipped cells alone, and says no more than they do."""

import math

import numpy as np
import pytest

import privcov
from privcov.advice import advise as advice
from privcov.advice import evidence as advice_evidence
from privcov.advice import grid
from privcov.advice.advise import advise
from privcov.advice.answer import FAR, Question
from privcov.advice.evidence import nearest, noise_factor, read, strength_of
from privcov.advice.grid import TARGETS
from privcov.advice.rank import SURE, judge_answers, rule
from privcov.estimators.base import METHODS
from privcov.privacy import ApproxDP, PureDP, ZCDP
from privcov.releasing.private_request import private_methods

TRUSTED = ("zcdp", "approx", "pure")


def judged(target, structure, point):
    allowed = advice.allowed_for(Question(point.n, point.d, point.guarantee, target, structure, mean_known=True))
    structures = Question(1, 1, ZCDP(1), target, structure).structures
    return judge_answers({s: read(target).at(s, point) for s in structures}, allowed)


def every(target):
    return [(s, p) for s in ("unknown", *(x.key for x in TARGETS[target].structures)) for p in read(target).points]


def test_no_row_is_read_and_nothing_is_drawn(monkeypatch):
    def touched(*args, **named):
        raise AssertionError("advice touched rows")

    assert private_methods()  # of a table of one row of zeros, once
    monkeypatch.setattr(privcov.PrivateDataset, "from_rows", touched)
    monkeypatch.setattr(privcov.Dataset, "from_rows", touched)
    monkeypatch.setattr(grid, "make_dataset", touched)
    monkeypatch.setattr(np.random, "default_rng", touched)
    found = advise(5000, 40, ApproxDP(1.0, 1e-6), private=True, add_remove=True)
    assert found.verdict
    assert found.what_would_change


@pytest.mark.parametrize(("error", "first"), [(0.99, "auto-cov"), (1.03, "gaussian-cov")])
def test_auto_comes_before_a_method_that_is_hardly_better_unless_zero_beats_auto(error, first):
    """Two structures; the other method has the smaller worst ratio, by less than five per cent."""
    keys = ["zero", "auto-cov", "gaussian-cov"]
    errors = np.array([[1.0, error, 0.985], [1.0, 0.205, 0.2]])[:, :, None]
    assert keys[rule(keys, errors, np.full(errors.shape, 1e-4)).order[0, 0]] == first


@pytest.mark.parametrize("target", TARGETS)
def test_a_recommendation_is_never_worse_than_the_trivial_answers_of_its_evidence(target):
    evidence, seen = read(target), {"method": 0, "none": 0}
    for structure, point in every(target):
        found = judged(target, structure, point)
        seen["method" if found.pick else "none"] += 1
        if not found.pick:
            continue
        for one in Question(1, 1, ZCDP(1), target, structure).structures:
            mine = evidence.at(one, point)[found.pick]
            assert mine.error <= 1.0 + SURE * mine.se
            if structure != "unknown" and "diagonal" in evidence.at(one, point):
                assert mine.error < evidence.at(one, point)["diagonal"].error
    assert min(seen.values()) > 30  # both answers occur, so the loop above could have failed


@pytest.mark.parametrize("target", TARGETS)
def test_more_rows_never_turn_a_recommendation_into_the_zero_matrix(target):
    """Into the diagonal they can: private variances get accurate before covariances do. Nor is it a turn where the
    replicates of a cell leave open, by two standard errors, whether a method beats zero there."""
    for structure in ("unknown", *(x.key for x in TARGETS[target].structures)):
        before = {}
        for point in sorted(read(target).points, key=lambda p: p.n):
            place, found = (point.d, point.kind, point.level), judged(target, structure, point)
            if before.get(place):
                unsure = any(line.error - 2 * line.se < 1 < line.error + 2 * line.se for line in found.lines)
                assert found.pick or found.trivial != "zero" or unsure, (structure, point)
            before[place] = before.get(place) or found.pick


@pytest.mark.parametrize("target", ["covariance", "precision", "graph"])
def test_a_cell_measured_again_is_the_shipped_one(target):
    """The same seeds, so the numbers agree to the digits that are kept; or, where another processor's linear algebra
    gives the eigenvectors behind the simulated rows other signs, within five standard errors."""
    rng = np.random.default_rng(20)
    structure = TARGETS[target].structures[int(rng.integers(len(TARGETS[target].structures)))].key
    kind = TRUSTED[int(rng.integers(3))]
    level = float(rng.choice(grid.LEVELS[kind]))
    smaller = {"structures": [structure], "ns": (1000,), "ds": (15,), "levels": {kind: (level,)}}
    point = next(p for p in read(target).points if (p.n, p.d, p.kind, p.level) == (1000, 15, kind, level))
    kept = read(target).at(structure, point)
    again = grid.measure(target, **smaller)
    assert set(kept) - {"zero"} <= set(again["method"])
    for row in again[again["method"].isin(kept)].itertuples():
        exact = (target, row.method) == ("precision", "diagonal")
        assert row.replicates == (1 if exact else read(target).replicates)
        shipped = kept[row.method]
        if row.error != pytest.approx(shipped.error, rel=0.006, abs=1e-9):
            assert abs(row.error - shipped.error) < 5 * math.hypot(row.se, shipped.se), row.method


def test_another_seed_agrees_within_the_monte_carlo_error(monkeypatch):
    """Six fresh replicates of nine answers; a mean that is off by five standard errors would be seen."""
    monkeypatch.setattr(grid, "SEED", 7)
    levels = {"zcdp": (0.1,)}
    again = grid.measure("covariance", structures=["dense"], ns=(5000,), ds=(15,), levels=levels)
    point = next(p for p in read("covariance").points if (p.n, p.d, p.kind, p.level) == (5000, 15, "zcdp", 0.1))
    kept = read("covariance").at("dense", point)
    for row in again[again["method"].isin(kept)].itertuples():
        assert abs(row.error - kept[row.method].error) < 5 * math.hypot(row.se, kept[row.method].se), row.method


@pytest.mark.parametrize("target", TARGETS)
def test_the_shipped_evidence_is_of_the_methods_as_they_are(target):
    import json

    about = json.loads((grid.FOLDER / "about.json").read_text(encoding="utf-8"))
    assert {m: METHODS.get(m).version for m in about["versions"]} == about["versions"], "measure the evidence again"
    whole = [(s.key, n, d, k) for s in TARGETS[target].structures for n in grid.NS for d in TARGETS[target].ds
             for k, found in grid.LEVELS.items() for _ in found]  # fmt: skip
    assert len(read(target).cells) == len(whole)


def test_a_table_with_other_methods_is_refused(tmp_path):
    for name in ("about.json", "covariance.csv"):
        (tmp_path / name).write_text((grid.FOLDER / name).read_text(encoding="utf-8"), encoding="utf-8")
    path = tmp_path / "covariance.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",gaussian-cov,", ",gauss-cov,", 1), encoding="utf-8")
    with pytest.raises(ValueError, match="Measure it again"):
        read("covariance", tmp_path)


def test_nothing_and_zero_are_written_differently():
    """A perfect answer has the error 0; an empty field is an answer that was not measured."""
    assert [grid._short(v) for v in (0.0, math.nan, 0.05, 12.345, 1e-7)] == ["0", "", ".05", "12.3", "1e-7"]


def test_what_is_written_is_what_is_read(tmp_path):
    found = grid.measure("graph", structures=["banded"], ns=(300,), ds=(5,), replicates=2)
    grid.write("graph", found, tmp_path)
    grid.write_about(tmp_path)
    back = read("graph", tmp_path)
    assert len(back.table) == len(found)
    for row in found.itertuples():
        answer = back.cells[(row.structure, row.n, row.d, row.kind, row.level)][row.method]
        assert answer.error == pytest.approx(row.error, rel=0.006, abs=1e-12)
        assert answer.se == pytest.approx(row.se, rel=0.006, abs=1e-12)


def test_a_question_inside_the_grid_is_near_a_cell_and_one_outside_is_told_so():
    """Few people under a strong guarantee have the noise of fewer people under a weaker one, which was measured."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        n, d = math.exp(rng.uniform(*np.log([300, 1e5]))), math.exp(rng.uniform(*np.log([5, 100])))
        rho = math.exp(rng.uniform(*np.log([0.001, 1])))
        _, factor = nearest(read("covariance"), round(n), round(d), "zcdp", strength_of(ZCDP(rho)))
        assert factor <= FAR
    near = {"add_remove": True, "length_ratio": 3.0, "rows_per_person": 2}
    for inside in (advise(5000, 40, ZCDP(0.1)), advise(5000, 40, ZCDP(1e-5)), advise(1_000_000, 40, ZCDP(0.01)),
                   advise(1000, 40, ApproxDP(1.0, 1e-6), **near)):  # fmt: skip
        assert not inside.outside
        assert not any("Outside" in text for text in inside.verdict)
    for far in (advise(50, 40, ZCDP(0.1)), advise(5000, 1000, ZCDP(0.1)), advise(5000, 40, ZCDP(1e-8))):
        assert far.outside
        assert any("Outside the evidence" in text and "simulated rows" in text for text in far.verdict)


def test_the_noise_of_a_question_is_that_of_its_sensitivity():
    plain = {"mean_known": True, "add_remove": False, "lengths": 1.0, "persons": 1}
    assert noise_factor("zcdp", 10, **plain) == pytest.approx(1)
    assert noise_factor("zcdp", 10, **{**plain, "mean_known": False}) == pytest.approx(1.5)
    assert noise_factor("zcdp", 10, **{**plain, "add_remove": True}) == pytest.approx(1.5 / math.sqrt(2))
    assert noise_factor("pure", 10, **{**plain, "lengths": 2.0, "persons": 3}) == pytest.approx(12)
    for guarantee in (ZCDP(0.1), PureDP(1.0), ApproxDP(1.0, 1e-6)):
        back = advice_evidence.guarantee_from(guarantee.kind, strength_of(guarantee), 1e-6)
        assert strength_of(back) == pytest.approx(strength_of(guarantee), rel=1e-6)


def test_none_is_said_where_the_trivial_answer_is_as_good_and_what_would_change_it():
    found = advise(300, 100, PureDP(0.1), structure="low-rank", mean_known=True)
    assert not found.pick
    assert found.verdict[0].startswith("None: ")
    better = [c for c in found.changes if c.what == "better" and c.name == "n"]
    assert better[0].at is not None
    there = advise(better[0].at.n, 100, PureDP(0.1), structure="low-rank", mean_known=True)
    assert there.pick == better[0].pick
    assert any(f"n = {better[0].at.n:,}" in text for text in found.what_would_change)


def test_private_rows_are_advised_only_what_they_are_offered():
    from privcov.releasing.private_request import private_methods

    offered = {card.key for card in private_methods()}
    for target in TARGETS:
        for kind in (ZCDP(0.1), PureDP(1.0), ApproxDP(1.0, 1e-6)):
            found = advise(20_000, 15, kind, target, private=True, add_remove=True)
            assert {line.key for line in found.ranking if not line.trivial} <= offered
            assert found.pick in {"", *offered}


def test_the_method_that_is_named_is_the_first_of_its_table_and_ties_are_told():
    asked = (
        advise(n, 40, ApproxDP(epsilon, 1e-6), mean_known=True) for n in (1000, 5000, 20_000) for epsilon in (1, 3)
    )
    found = next(one for one in asked if one.ties)
    lines = {line.key: line for line in found.ranking}
    assert found.pick == found.ranking[0].key
    assert lines[found.pick].worst == min(line.worst for line in found.ranking)
    assert found.ties
    assert all(lines[key].worst < lines[found.pick].worst / 0.9 for key in found.ties)
    assert any(lines[key].label in text for key in found.ties for text in found.verdict[1:])
    assert len(found.by_structure) == len(found.cells) == len(TARGETS["covariance"].structures)


@pytest.mark.parametrize("wrong", [
    {"n": 0}, {"d": 0}, {"target": "mean"}, {"structure": "round"}, {"length_ratio": -1.0}, {"rows_per_person": 0},
    {"target": "graph", "structure": "low-rank"},
])  # fmt: skip
def test_facts_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong)) if len(wrong) == 1 else "structure"):
        advise(**({"n": 100, "d": 5, "guarantee": ZCDP(0.1)} | wrong))
    with pytest.raises(TypeError):
        advise(100, 5, 0.1)
