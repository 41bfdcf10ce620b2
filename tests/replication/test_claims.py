"""The table of claims: complete, decided by numbers, and turned by other numbers; bounds, and what the page shows."""

import csv
import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, norm

from privcov.attacks import claims as curves
from privcov.attacks.catalogue import CLAIMS as GUARANTEES
from privcov.core import paths
from replication import base, claims, published, shown
from replication.claims import AS_PUBLISHED, FAILS, HOLDS, NOTHING, WEAKER, WHEN_SOUND
from replication.sentences import COUNTS
from replication.theorems import bounds

ROOT = Path(__file__).parents[2]
KNOWN = {claim.key: claim for claim in claims.claims()}


@pytest.fixture(scope="module")
def decided():
    return {row.claim.key: row for row in claims.rows()}


@pytest.fixture(scope="module")
def made(decided):
    return shown.files(base.REPRODUCED, list(decided.values()))


# --- the table ------------------------------------------------------------------------------------------------


def test_the_stored_table_is_that_of_the_numbers():
    about = json.loads((paths.results("replication") / published.ABOUT).read_text(encoding="utf-8"))
    assert about["digest"] == published.digest(), "the numbers are newer; run: python -m replication publish"


def test_what_the_page_shows_is_what_the_numbers_say(made):
    place = paths.results("replication")
    names = [str(path.relative_to(place)) for path in place.rglob("*.csv")]
    files = ("tables.csv", "checks.csv", "claims.csv", "paragraphs.csv", "readings.csv", "curves_kept.csv")
    assert {name.partition("/")[0] for name in names} == {*files, "tables", "curves"}
    for name in names:
        assert (place / name).read_text(encoding="utf-8") == made[name], name


def test_other_numbers_turn_the_verdict(tmp_path):
    """Errors of the modified estimators divided by ten thousand: the main claim then holds, in every comparison."""
    for path in base.REPRODUCED.glob("4-*.csv"):
        cells = pd.read_csv(path, dtype=str, keep_default_na=False)
        modified = cells["method"].str.startswith("modified") & (cells["value"] != "")
        cells.loc[modified, "value"] = cells.loc[modified, "value"].astype(float).div(1e4).astype(str)
        cells.to_csv(tmp_path / path.name, index=False)
    row = claims.row("4-headline", tmp_path)
    assert row.verdict == HOLDS
    assert (row.printed, row.ours, row.sound) == ("143 of 144", "144 of 144", "144 of 144")


# The ends of the ranges that the papers print; the others print none, and are judged up to 10.
ENDS = {"1-privacy": 1.0, "4-privacy": 1.0, "4-local": 1.0}
GUARANTEES_BY_KEY = {one.key: one for one in GUARANTEES}
ASKED = {
    claim.key: GUARANTEES_BY_KEY[claim.how.removeprefix("audit:")]
    for claim in KNOWN.values()
    if claim.how.removeprefix("audit:") in GUARANTEES_BY_KEY
}
SEVERAL_DELTAS = (1e-10, 1e-6, 1e-4, 1e-3, 0.1, 0.5)


def levels(key):
    """Epsilon and delta over the range of a claim."""
    end = ENDS.get(key, 10.0)
    return [(e, delta) for e in (0.05, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0) if e <= end for delta in SEVERAL_DELTAS]


@pytest.mark.parametrize("key", ASKED)
def test_no_verdict_contradicts_the_audit_anywhere_in_the_range_of_the_claim(key, decided):
    sizes = ((2, 2), (1000, 20), (1000, 200))
    held = [curves.holds(ASKED[key], *at, *size) for at in levels(key) for size in sizes]
    row = decided[key]
    if row.verdict == HOLDS:
        assert all(held)
    elif row.verdict == WEAKER:
        assert any(held)
        assert not all(held)
    else:
        assert row.verdict == FAILS
        assert not all(held) if ASKED[key].change else not any(held)


def gaussian_delta(epsilon, mu):
    return float(norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def classical(missing, epsilon, delta):
    """Delta of the classical scale, made for a sensitivity that is too small by a factor."""
    return gaussian_delta(epsilon, missing * epsilon / math.sqrt(2 * math.log(1.25 / delta)))


def wishart(epsilon, delta):
    """A lower bound, the unit row against the zero row: C chi^2_k and the same shifted by C, whatever the cut."""
    freedom, cut = math.ceil(14 * math.log(4 / delta) / epsilon**2) + 1, np.linspace(0, 400, 40_001)
    up = chi2.cdf(cut, freedom) - math.exp(epsilon) * chi2.cdf(cut - 1, freedom)
    down = chi2.sf(cut - 1, freedom) - math.exp(epsilon) * chi2.sf(cut, freedom)
    return max(up.max(), down.max())


LITERAL = {
    "1-privacy": lambda *at: classical(math.sqrt(2), *at), "3-gauss": lambda *at: classical(math.sqrt(2), *at),
    "4-local": lambda *at: classical(math.sqrt(2), *at), "2-ridge-run": lambda *at: classical(1, *at),
    "2-lasso": lambda *at: classical(1, *at), "4-privacy": lambda *at: classical(1, *at),
}  # fmt: skip


@pytest.mark.parametrize("key", LITERAL)
def test_classical_noise_by_its_formula_at_every_level(key):
    for epsilon, delta in levels(key):
        literal = LITERAL[key](epsilon, delta) <= delta
        assert curves.holds(ASKED[key], epsilon, delta, 1000, 20) == literal, (epsilon, delta)


def test_the_wishart_claim_fails_where_its_lower_bound_says_so():
    """So that False is never that of a loose upper bound; 490 times the claim at (5, 1e-6)."""
    assert wishart(5.0, 1e-6) > 490e-6
    for epsilon, delta in levels("3-wishart"):
        if epsilon >= 1:
            kept = curves.holds(ASKED["3-wishart"], epsilon, delta, 1000, 20)
            assert kept == (wishart(epsilon, delta) <= delta), (epsilon, delta)


@pytest.mark.parametrize("key", ["1-privacy", "3-gauss", "4-local", "2-lasso", "2-ridge-run", "3-wishart"])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_how_far_a_guarantee_holds_is_where_the_formula_turns(key, delta, decided):
    """Nothing below breaks the claim, and a hundredth beyond it is broken, or the range ends."""
    reach = claims.up_to(ASKED[key], delta)
    assert f"epsilon {reach:g} at delta {delta:g}" in decided[key].evidence
    literal = LITERAL.get(key, wishart)
    for epsilon in np.linspace(max(reach / 8, 0.05), reach, 10):
        assert literal(epsilon, delta) <= delta
    if key in LITERAL and reach < ENDS.get(key, 10.0):
        assert literal(reach + 0.01, delta) > delta


@pytest.mark.parametrize(
    ("ours", "sound", "word"),
    [
        (HOLDS, HOLDS, HOLDS), (HOLDS, FAILS, AS_PUBLISHED), (FAILS, HOLDS, WHEN_SOUND), (FAILS, WEAKER, FAILS),
        (WEAKER, FAILS, WEAKER), (HOLDS, WEAKER, HOLDS), ("", FAILS, FAILS), (WEAKER, "", WEAKER), ("", "", NOTHING),
    ],
)  # fmt: skip
def test_verdict_of_two_sides(ours, sound, word):
    assert claims.verdict_of(ours, sound) == word


def test_counts_are_those_of_a_slow_count():
    """Two counts again, cell by cell from the files."""
    held = of = 0
    for number in (3, 4):
        with (base.PUBLISHED / f"paper4_table{number}.csv").open(encoding="utf-8") as file:
            cells = {(r["method"], r["metric"], r["epsilon"]): float(r["value"]) for r in csv.DictReader(file)}
        for method, metric in {key[:2] for key in cells}:
            for low, high in (("0.1", "0.4"), ("0.4", "0.6"), ("0.6", "0.7")):
                held += cells[method, metric, high] < cells[method, metric, low]
                of += 1
    assert COUNTS["4-epsilon"]().counts["printed"] == (held, of)
    with (base.PUBLISHED / "paper3_table1.csv").open(encoding="utf-8") as file:
        cells = {(r["method"], r["data"], r["r"], r["epsilon"]): r["value"] for r in csv.DictReader(file)}
    pairs = [(cells["Wishart", *rest], cells["Laplace", *rest]) for name, *rest in cells if name == "Wishart"]
    assert COUNTS["3-wishart"]().counts["printed"] == (sum(float(a) < float(b) for a, b in pairs), len(pairs))


# --- what is cited as proved in this file ----------------------------------------------------------------------


def test_lemma_a1_the_noise_stays_below_its_part_of_the_threshold():
    """The union of p (p + 1) / 2 tails beyond 3 sqrt(log p) is at most 2 p^(-5/2), for every p up to 2,000."""
    for p in range(2, 2001):
        tail = math.erfc(3 * math.sqrt(math.log(p)) / math.sqrt(2))
        assert p * (p + 1) / 2 * tail <= 2 * p**-2.5


def test_remark_5_the_1_norm_bounds_the_operator_norms():
    """Random symmetric matrices and vectors: ||Ax||_w <= ||A||_1 ||x||_w for w = 1, 1.5, 2, 4 and infinity."""
    rng = np.random.default_rng(5)
    for _ in range(300):
        a = rng.standard_normal((6, 6)) ** 3
        a += a.T
        x = rng.standard_normal(6) ** 3
        for w in (1, 1.5, 2, 4, np.inf):
            assert np.linalg.norm(a @ x, w) <= np.abs(a).sum(axis=0).max() * np.linalg.norm(x, w) * (1 + 1e-12)


# --- bounds ---------------------------------------------------------------------------------------------------


def planted(tmp_path, key, ratio, axis="s"):
    """Store error over bound of a bound along one axis."""
    bound = next(one for one in bounds.BOUNDS if one.key == key)
    rows = []
    for value in bound.along[axis]:
        at = dataclasses.replace(bound.base, **{axis: value})
        keys = {"model": key, "data": f"along {axis}", "n": at.n, "d": at.d, "r": at.s, "epsilon": at.epsilon}
        numbers = {"error": ratio(value), "bound": 1.0, "ratio": ratio(value), "exceeded": float(ratio(value) > 1)}
        rows += [
            keys | {"metric": name, "variant": "as published", "value": number} for name, number in numbers.items()
        ]
    pd.DataFrame(rows, columns=base.COMPUTED).to_csv(tmp_path / f"{bound.paper}-bounds.csv", index=False)
    return bounds.judge(key, tmp_path)


def test_a_ratio_that_grows_is_no_bound(tmp_path):
    assert planted(tmp_path, "1-theorem-2", lambda s: 0.01 * s).holds is False
    assert planted(tmp_path, "1-theorem-2", lambda s: 0.01 * s).growth["s"] == pytest.approx(1.0)
    assert planted(tmp_path, "1-theorem-2", lambda s: 50.0).holds is True
    assert planted(tmp_path, "1-theorem-2", lambda s: 0.01 * min(s, 15)).holds is True  # one constant, then another
    assert planted(tmp_path, "1-theorem-2", lambda s: 1 / s).loose
    assert planted(tmp_path, "1-theorem-2", lambda e: e**-1.0, "epsilon").holds is False  # towards small epsilon
    assert planted(tmp_path, "1-theorem-2", lambda e: e, "epsilon").holds is True


def test_a_bound_with_constants_may_fail_in_its_share_of_the_draws(tmp_path):
    assert planted(tmp_path, "5-lemma-6", lambda d: 0.9, "d").holds is True
    assert planted(tmp_path, "5-lemma-6", lambda d: 1.1 if d > 100 else 0.9, "d").holds is False
    assert planted(tmp_path, "2-theorem-4.1", lambda n: 1 / n, "n").holds is True
    assert planted(tmp_path, "2-theorem-4.1", lambda n: 0.5, "n").holds is False


@pytest.mark.parametrize("bound", bounds.BOUNDS, ids=lambda one: one.key)
def test_every_bound_is_drawn_at_one_setting(bound):
    axis, values = next(iter(bound.along.items()))
    at = dataclasses.replace(bound.base, **{axis: values[0]})
    error, most = bound.draw(at, np.random.default_rng(1))
    assert error >= 0
    assert most >= 0
    assert math.isfinite(error + most)


# --- presets and panels ----------------------------------------------------------------------------------------


# --- the commands and the page ----------------------------------------------------------------------------------
