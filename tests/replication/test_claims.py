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
from privcov.core import places
from privcov.core.references import AUTHORS
from privcov.estimators.papers.em_cov import LARGEST
from privcov.measurements.noise_constants import closed_form
from replication import base, claims, published, reproduce, shown
from replication.__main__ import main
from replication.catalogue import CHECKS, TABLES
from replication.claims import AS_PUBLISHED, CORRECTED, FAILS, HOLDS, NOTHING, PROVED, VERDICTS, WEAKER, WHEN_SOUND
from replication.dong2022 import figures as dong
from replication.paragraphs import paragraph
from replication.sentences import COUNTS
from replication.theorems import bounds, draws
from replication.theorems.draws import Setting

ROOT = Path(__file__).parents[2]
KNOWN = {claim.key: claim for claim in claims.claims()}


@pytest.fixture(scope="module")
def decided():
    return {row.claim.key: row for row in claims.rows()}


@pytest.fixture(scope="module")
def made(decided):
    return shown.files(base.REPRODUCED, list(decided.values()))


# --- the table ------------------------------------------------------------------------------------------------


def test_the_main_claim_of_paper_4_is_the_first_and_fails(decided):
    first = next(iter(decided.values()))
    assert first.claim.key == "4-headline"
    assert first.verdict == FAILS
    assert (first.printed, first.ours) == ("143 of 144", "18 of 144")


def test_every_claim_is_decided_by_something_that_exists():
    assert len(KNOWN) == len(claims.claims())
    known = {
        "count": COUNTS, "check": CHECKS, "doubt": CHECKS, "stand-in": CHECKS, "slip": CHECKS, "doubling": CHECKS,
        "bound": {one.key for one in bounds.BOUNDS}, "audit": {one.key for one in GUARANTEES} | {"delta = 1/n"},
    }  # fmt: skip
    for claim in KNOWN.values():
        way, _, argument = claim.how.partition(":")
        assert claim.paper in AUTHORS
        assert claim.key.startswith(f"{claim.paper}-")
        if way == "proof":
            assert (ROOT / argument).is_file(), claim.key
        elif way != "none":
            assert set(argument.split() if way == "bound" else [argument]) <= set(known[way]), claim.key
        else:
            assert claim.note.startswith("Not examined")


def test_no_bound_guarantee_finding_or_count_is_without_a_claim():
    used = {word for claim in KNOWN.values() for word in claim.how.partition(":")[2].split()}
    assert {one.key for one in bounds.BOUNDS} - {"1-better"} <= used
    assert set(COUNTS) <= used
    assert {one.key for one in GUARANTEES} - {"4-local-1", "sulq"} <= used  # comparisons with other papers
    findings = pd.read_csv(base.PUBLISHED / "figures.csv", dtype=str, keep_default_na=False)
    assert set(findings.loc[findings["what"] == "finding", "checked"]) - {"5-pure-lesser"} <= used


def test_every_verdict_is_one_of_the_words_and_rests_on_numbers(decided):
    for row in decided.values():
        assert row.verdict in VERDICTS
        assert row.verdict != NOTHING, row.claim.key
        assert row.evidence or row.claim.how == "none"
    assert {row.verdict for row in decided.values()} >= {HOLDS, FAILS, CORRECTED, PROVED, WEAKER, WHEN_SOUND}


def test_the_stored_table_is_that_of_the_numbers():
    about = json.loads((places.results("replication") / published.ABOUT).read_text(encoding="utf-8"))
    assert about["digest"] == published.digest(), "the numbers are newer; run: python -m replication publish"


def test_what_the_page_shows_is_what_the_numbers_say(made):
    place = places.results("replication")
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


def test_nothing_stored_is_no_verdict(tmp_path):
    for key in ("1-theorem-2", "5-crossing", "5-over-em", "1-dimension", "4-table-7"):
        assert claims.row(key, tmp_path).verdict == NOTHING, key


def test_the_sound_side_of_a_check_is_the_same_question_of_the_sound_numbers(decided):
    """Figure 2 as published: crossing holds; with the sound numbers it does not, since SeparateCov wins from 10 on."""
    row = decided["5-crossing"]
    assert (row.ours, row.sound, row.verdict) == ("yes", "no", AS_PUBLISHED)


@pytest.mark.parametrize(
    ("ours", "sound", "word"),
    [
        (HOLDS, HOLDS, HOLDS), (HOLDS, FAILS, AS_PUBLISHED), (FAILS, HOLDS, WHEN_SOUND), (FAILS, WEAKER, FAILS),
        (WEAKER, FAILS, WEAKER), (HOLDS, WEAKER, HOLDS), ("", FAILS, FAILS), (WEAKER, "", WEAKER), ("", "", NOTHING),
    ],
)  # fmt: skip
def test_verdict_of_two_sides(ours, sound, word):
    assert claims.verdict_of(ours, sound) == word


def test_shares_of_comparisons():
    assert [claims.state(k, 20) for k in (20, 18, 17, 12, 11, 0)] == [HOLDS, HOLDS, WEAKER, WEAKER, FAILS, FAILS]
    assert claims.state(0, 0) == ""


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


def test_moments_are_drawn_as_from_rows():
    """Mean and variance of entries over 4,000 draws of either kind; a factor of 1.1 in either is seen."""
    rng = np.random.default_rng(3)
    covariance = np.array([[1.0, 0.5, 0.0], [0.5, 2.0, -0.3], [0.0, -0.3, 0.7]])
    root = np.linalg.cholesky(covariance)
    quick = np.array([draws.moment(covariance, 7, rng) for _ in range(4000)])
    slow = np.array([(x := root @ rng.standard_normal((3, 7))) @ x.T / 7 for _ in range(4000)])
    np.testing.assert_allclose(quick.mean(axis=0), covariance, atol=0.05)
    np.testing.assert_allclose(quick.std(axis=0), slow.std(axis=0), rtol=0.06)


def test_the_bound_of_theorem_1_is_the_printed_one():
    sizes = closed_form(16, 0.025, laplace=False)
    expected = 2**1.25 * math.sqrt(0.5) * math.sqrt(sizes.spectral) / (0.1**0.25 * math.sqrt(1000))
    expected += math.sqrt(2) / (math.sqrt(0.1) * 1000) * sizes.vector
    assert draws.trace_bound(0.5, 16, 1000, 0.1, 0.05) == pytest.approx(expected)


def test_hidden_covariances_are_sparse_and_half_the_threshold():
    at = Setting(n=10**7, d=12, s=3)
    covariance, cut = draws._hidden(at)
    off = covariance[~np.eye(12, dtype=bool)]
    assert set(np.round(off / cut, 12)) == {0.0, 0.5}
    assert ((covariance != 0).sum(axis=0) - 1 == at.s).all()
    assert np.linalg.eigvalsh(covariance)[0] > 0


@pytest.mark.parametrize("bound", bounds.BOUNDS, ids=lambda one: one.key)
def test_every_bound_is_drawn_at_one_setting(bound):
    axis, values = next(iter(bound.along.items()))
    at = dataclasses.replace(bound.base, **{axis: values[0]})
    error, most = bound.draw(at, np.random.default_rng(1))
    assert error >= 0
    assert most >= 0
    assert math.isfinite(error + most)


# --- presets and panels ----------------------------------------------------------------------------------------


def test_the_large_points_belong_to_the_overnight_preset(tmp_path):
    small, night = ({(s.table.key, s.point.name) for s in reproduce.steps((), p)} for p in ("small", "overnight"))
    assert small < night
    assert {name for _, name in night - small} == {
        f"5-figure-{k}, largest" for k in ("2-a", "2-b", "2-c", "3-b", "3-c")
    }
    point = next(p for p in TABLES["5-figure-3"].points if p.name == "5-figure-3-c, largest")
    assert point.plan(1, 0).vary["n"][-1] == 1_000_000
    night_steps = [s for s in reproduce.steps(["5-figure-2"], "overnight") if "largest" in s.point.name]
    assert {s.replicates for s in night_steps} == {3}


def test_em_cov_is_in_every_panel_of_its_columns():
    for key in ("5-figure-2", "5-figure-3", "5-figure-5", "5-pure"):
        stored = base.stored(key)
        for panel, part in stored.groupby("model"):
            low = (pd.to_numeric(part["d"]) <= LARGEST).any()
            assert low == bool((part["method"] == "em-cov").any()), panel
    assert max(dong.WIDTHS) > LARGEST


# --- the commands and the page ----------------------------------------------------------------------------------


def test_paragraphs_count_what_the_table_has(decided):
    table = list(decided.values())
    for paper in AUTHORS:
        mine = [row for row in table if row.claim.paper == paper]
        text = paragraph(paper, mine)
        good = sum(row.verdict in claims.GOOD for row in mine)
        assert text.startswith(f"{good} of ")
        assert text.count("; and ") <= 5


def test_one_claim_is_told(capsys):
    assert main(["claim", "2-same-noise"]) == 0
    assert "Verdict: does not hold" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"), [("claim nothing", "claim"), ("publish --out nowhere", "There is no folder nowhere")]
)
def test_mistakes_are_a_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words.split()) == 2
    assert sentence in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_places_of_an_installed_package(tmp_path, monkeypatch):
    """What is decided is stored where results are."""
    monkeypatch.setattr(places, "own_results", lambda name: tmp_path / name)
    monkeypatch.setattr(claims, "rows", lambda folder: [])
    monkeypatch.setattr(shown, "files", lambda folder, table: {"tables/1.csv": "a\n"})
    assert published.publish() == tmp_path / "replication"
    assert (tmp_path / "replication" / "tables" / "1.csv").read_text() == "a\n"
