"""Rows counted by length before they are measured: bins, sensitivity, the bound that follows, shares, and kills."""

import dataclasses
import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privcov
from privcov import accounting
from privcov.estimators.base import Request
from privcov.ledger import Ledger, LedgerError
from privcov.measurements import exact_noise, integer_gram
from privcov.measurements.exact_moment import NoisySum
from privcov.measurements.integer_gram import UNIT, whole_rows
from privcov.measurements.lengths import bins, exact_norms
from privcov.measurements.lengths.bins import BINS, bins_of, edges
from privcov.measurements.lengths.exact_norms import count_change, measure_norms_exactly, split
from privcov.measurements.tables import file_moment
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import PublicFacts
from privcov.releasing import private as releasing
from privcov.releasing.two_steps import measure, planned
from tests.patience import patient

ROOT = Path(__file__).parents[2]
GUARANTEES = (privcov.ZCDP(0.3), privcov.PureDP(1.0), privcov.ApproxDP(1.0, 1e-6))
SHARES = {"l2": privcov.ZCDP(1.0), "l1": privcov.PureDP(1.0)}


def skewed(n: int = 9000, d: int = 5, seed: int = 0) -> np.ndarray:
    """Rows near the origin with a few long ones."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n, d)) * 0.1
    rows[: n // 50] *= 8
    return rows


def table(rows, **more) -> PrivateDataset:
    return PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * np.shape(rows)[1], name="t", **more)


@pytest.fixture
def ledger(tmp_path) -> Ledger:
    book = Ledger(tmp_path / "ledger.sqlite")
    book.limit("t", privcov.ZCDP(100.0))
    return book


@pytest.fixture
def silent(monkeypatch):
    for name in ("add_discrete_gaussian", "add_discrete_laplace", "add_wishart_difference", "add_coupled_wishart"):
        monkeypatch.setattr(exact_noise, name, lambda values, scale: values)


def literal_bin(square: int) -> int:
    """The first bin whose lower edge lies below the square, by Python integers."""
    return next(j for j in range(BINS) if j == BINS - 1 or square > math.isqrt(UNIT**4 // 2 ** (j + 1)))


def test_a_square_on_an_edge_is_in_the_shorter_bin():
    near = [e + step for e in edges() for step in (-1, 0, 1) if 0 <= e + step <= UNIT**2] + [0, 1, UNIT**2]
    assert bins_of(np.array(near, dtype=float)).tolist() == [literal_bin(square) for square in near]
    assert edges()[0] == UNIT**2
    for j, e in enumerate(edges()):
        assert e**2 <= UNIT**4 / 2**j < (e + 1) ** 2


@pytest.mark.parametrize("n_public", [True, False])
def test_every_row_is_counted_where_its_whole_numbers_lie(tmp_path, n_public, silent):
    """Memory and files, with zero rows, missing and infinite cells, long rows, and rows that count as none."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(700, 3)) * rng.choice([0.0, 0.01, 0.3, 5.0], size=(700, 1)) + 0.5
    rows[rng.random(rows.shape) < 0.05] = np.nan
    rows[rng.random(rows.shape) < 0.05] = np.inf
    labels = np.array(["a", "b", "other"])[rng.integers(0, 3, 700)]
    more = {"bounds": [(-1, 2)] * 3, "classes": ["a", "b"], "n_public": n_public, "row_bound_fraction": 0.7}
    more["missing"] = "typical" if n_public else "drop-row"
    memory = PrivateDataset.from_rows(rows, labels=labels, **more)
    pq.write_table(
        pa.table({f"x{j + 1}": rows[:, j] for j in range(3)} | {"y": labels}), tmp_path / "t.parquet", row_group_size=90
    )
    files = PrivateDataset.from_files(tmp_path / "t.parquet", label="y", columns=["x1", "x2", "x3"], **more)
    expected, facts = [0] * BINS, memory.facts
    for row, label in zip(rows, labels, strict=True):
        if label == "other" or (not n_public and not np.isfinite(row).all()):
            continue
        k = whole_rows(facts.units.to_working(np.where(np.isfinite(row), row, np.nan))[None], facts.row_bound)[0]
        expected[literal_bin(sum(int(v) ** 2 for v in k))] += 1
    for private in (memory, files):
        assert measure_norms_exactly(private, privcov.ZCDP(1.0), 0.05).counts == tuple(expected)
    assert expected[-1] > 30
    assert expected[0] > 30


@pytest.mark.parametrize("rows_per_person", [1, 2])
@pytest.mark.parametrize("n_public", [True, False])
@pytest.mark.parametrize("norm", list(SHARES))
def test_no_neighbours_differ_by_more_than_the_event_says(rows_per_person, n_public, norm, silent, monkeypatch):
    """Every pair of whole rows of length up to 8, through the function of the release; the bound is attained."""
    monkeypatch.setattr(integer_gram, "UNIT", 8)
    monkeypatch.setattr(exact_norms, "UNIT", 8)
    monkeypatch.setattr(bins, "UNIT", 8)
    atoms = [(i / 8, j / 8) for i in range(9) for j in range(i + 1) if i * i + j * j <= 64]
    atoms += [(math.inf, 0.3), (math.nan, math.nan), (40.0, 1.0)]
    more = {"row_bound": 1.0, "n_public": n_public, "rows_per_person": rows_per_person}

    def counts(some) -> np.ndarray:
        private = PrivateDataset.from_rows([(0.5, 0.5), *some], **more)
        found = measure_norms_exactly(private, SHARES[norm], 0.05)
        assert found.event.sensitivity == pytest.approx(
            math.sqrt(count_change(private.facts.relation, pure=norm == "l1", rows=rows_per_person))
        )
        assert Fraction(found.event.sensitivity) ** 2 >= count_change(
            private.facts.relation, pure=norm == "l1", rows=rows_per_person
        )
        return np.array(found.counts)

    ends = [counts([atom] * rows_per_person) for atom in atoms]
    others = ends if n_public else [counts([])]
    size = {"l1": lambda g: int(np.abs(g).sum()) ** 2, "l2": lambda g: int((g**2).sum())}[norm]
    largest = max(size(one - other) for one in ends for other in others)
    assert largest == count_change("replace-one" if n_public else "add-remove", pure=norm == "l1", rows=rows_per_person)


def literal_share(counts, n: int, std: float) -> float:
    """The rule in the docstring of the module, tail by tail."""
    best = 1.0
    for j in range(1, BINS):
        if sum(counts[:j]) + 2 * math.sqrt(j) * std <= 0.1 * n:
            best = math.sqrt(math.isqrt(UNIT**4 // 2**j) / UNIT**2)
    return best


@pytest.mark.parametrize("n_public", [True, False])
def test_the_bound_follows_from_noisy_counts_alone(n_public, ledger, monkeypatch):
    """The exact counts of three tables differ; noise that makes the noisy ones equal makes the bounds equal."""
    rng, bounds = np.random.default_rng(4), []
    given = rng.integers(0, 60, BINS)
    given[9:] = 2000

    def noisy(values, scale):
        return given.copy() if len(values) == BINS else np.array(values)

    monkeypatch.setattr(exact_noise, "add_discrete_gaussian", noisy)
    for draw, scale in enumerate((0.0, 0.05, 3.0), start=1):
        private = table(np.clip(skewed(40_000) * scale, -1, 1), n_public=n_public)
        made = privcov.release_private(
            "gaussian-cov",
            private,
            privcov.ZCDP(4.0),
            ledger=ledger,
            norm_budget=0.05,
            draw=draw,
            again="pay",
        )
        assert made.measurement.norms.counts == tuple(given.tolist())
        bounds.append(made.row_bound)
        std = math.sqrt(2 / (2 * 0.2)) if n_public else math.sqrt(1 / (2 * 0.2))
        n = 40_000 if n_public else int(given.sum())
        assert made.row_bound == pytest.approx(literal_share(given.tolist(), n, std) * math.sqrt(5), rel=1e-12)
    assert len(set(bounds)) == 1
    assert bounds[0] < math.sqrt(5) / 2


@pytest.mark.parametrize("norm", SHARES)
@pytest.mark.parametrize("how", [{}, {"n_public": False}, {"persons": 1}, {"persons": 1, "most_weight": 2}])
def test_the_bound_is_that_of_the_rule_at_any_noise(norm, how):
    """400 random noisy counts at noise that decides; a total that is not public is that of the counts."""
    told = {**how, "persons": range(4000)} if "persons" in how else how
    facts = table(np.zeros((4000, 2)), **told).facts
    event, rng, found = exact_norms.planned_norms(facts, SHARES[norm]), np.random.default_rng(7), set()
    step = 2**20 if facts.person else 1
    for _ in range(400):
        std = float(rng.uniform(5, 60)) * step
        counts = [int(c) * step for c in rng.integers(0, 60, BINS)]
        counts[-1] = int(rng.integers(3000, 5500)) * step
        whole = sum(counts) if "n_public" in how or "most_weight" in how else 4000 * step
        one = dataclasses.replace(event, scale=std / (math.sqrt(2) if norm == "l1" else 1))
        chosen = exact_norms.NoisyNorms(facts, 0.05, tuple(counts), one).chosen
        share = literal_share(counts, whole, std)
        assert chosen.row_bound == pytest.approx(share * math.sqrt(2), rel=1e-12)
        found.add(chosen.row_bound)
    assert len(found) > 4


def test_where_the_counts_are_noise_the_bound_stays():
    """Noise alone never lowers the bound to nothing: 2,000 draws at a noise of half of what the rule needs."""
    private = table(np.full((500, 4), 0.9))
    event = exact_norms.planned_norms(private.facts, privcov.ZCDP(1.0))
    event = dataclasses.replace(event, scale=12.0)  # 2 sigma = 24 < 50 rows, and every row is in the first bin
    rng = np.random.default_rng(0)
    exact = exact_norms.noiseless_norms(private)
    for _ in range(2000):
        counts = tuple((exact + np.rint(rng.normal(size=BINS) * 12).astype(int)).tolist())
        assert exact_norms.NoisyNorms(private.facts, 0.05, counts, event).chosen is private.facts


@pytest.mark.parametrize("guarantee", [*GUARANTEES, privcov.ZCDP(0.1), privcov.PureDP(0.3), privcov.ZCDP(7e-5)])
@pytest.mark.parametrize("budget", [0.5, 0.05, 0.1, 1 / 3, 1e-6])
def test_both_shares_together_are_within_what_the_ledger_counts(guarantee, budget):
    """In exact fractions, and nearly all of it: the rest of every guarantee goes into the matrix."""
    norms, matrix = split(guarantee, budget)
    level = lambda share: Fraction(share.epsilon if isinstance(share, privcov.PureDP) else share.rho)  # noqa: E731
    paid = privcov.ledger.sums.cost_of(guarantee).amount
    assert level(norms) + level(matrix) <= paid
    assert level(norms) + level(matrix) >= paid * (1 - Fraction(1, 10**14))
    assert float(level(norms) / paid) == pytest.approx(budget, rel=1e-12)


@pytest.mark.parametrize("guarantee", GUARANTEES)
@pytest.mark.parametrize("how", [{}, {"n_public": False}, {"rows_per_person": 3}, {"row_bound_fraction": 0.9}])
def test_what_is_drawn_is_what_was_planned_and_within_the_guarantee(guarantee, how, ledger, monkeypatch):
    """The scales of the very draws; both events in one transaction; the answer opens again with both measurements."""
    drawn = []
    for name in ("add_discrete_gaussian", "add_discrete_laplace", "add_wishart_difference", "add_coupled_wishart"):
        real = getattr(exact_noise, name)
        monkeypatch.setattr(
            exact_noise,
            name,
            lambda values, scale, real=real: drawn.append((len(values), scale)) or real(values, scale),
        )
    private = table(skewed(), **how)
    made = privcov.release_private("auto-cov", private, guarantee, ledger=ledger, norm_budget=0.05)
    norms, matrix = made.events
    first = [size_scale for size_scale in drawn if size_scale[0] == BINS]
    assert first[0] == drawn[0] == (BINS, norms.scale)
    assert matrix.scale in [scale for _, scale in drawn[1:]]
    k = how.get("rows_per_person", 1)
    pure = isinstance(guarantee, privcov.PureDP)
    square = count_change(private.facts.relation, pure=pure, rows=k)
    paid = ledger.entries()[0].cost
    spent = accounting.pure_sum(made.events) if pure else accounting.zcdp_sum(made.events)
    assert spent <= paid.amount
    assert spent >= paid.amount * (1 - Fraction(1, 10**9))
    of_norms = Fraction(norms.scale)
    cost = Fraction(math.isqrt(square)) / of_norms if pure else square / (2 * of_norms**2)
    assert cost <= spent - (accounting.pure_sum((matrix,)) if pure else accounting.zcdp_sum((matrix,)))
    assert float(cost / paid.amount) == pytest.approx(0.05, rel=1e-6)
    assert len(ledger.entries()) == 1
    assert made.row_bound < private.facts.row_bound
    assert "norms" in made.statement["Events"]
    assert "noisy numbers of rows by length" in made.statement["Measured"]
    again = NoisySum.from_dict(json.loads(json.dumps(made.measurement.to_dict())))
    assert again.to_dict() == made.measurement.to_dict()
    assert releasing.view("auto-cov", again, guarantee).to_json() == made.to_json()
    same = privcov.release_private("auto-cov", private, guarantee, ledger=ledger, norm_budget=0.05)
    assert same.to_json() == made.to_json()
    assert len(ledger.entries()) == 1


def test_rows_are_shortened_to_the_bound_that_follows(ledger, silent):
    """Without noise the sum is, in whole numbers, that of the same table declared with that bound."""
    private = table(skewed())
    made = privcov.release_private("gaussian-cov", private, privcov.ZCDP(1.0), ledger=ledger, norm_budget=0.05)
    fraction = made.measurement.facts.row_bound_fraction
    assert 0.05 < fraction < 0.4
    declared = table(skewed(), row_bound_fraction=fraction)
    assert declared.facts.to_dict() == made.measurement.facts.to_dict()
    assert made.measurement.total.tolist() == integer_gram.noiseless_gram(declared, 1).tolist()
    k = whole_rows(declared.facts.units.to_working(skewed()), declared.facts.row_bound)
    assert made.measurement.total[:5, :5].tolist() == (k.T @ k).tolist()
    long = np.linalg.norm(skewed(), axis=1) > made.row_bound
    assert 0 < long.mean() <= 0.1


def test_files_are_read_once_more_and_give_the_same_numbers(tmp_path, ledger, silent, monkeypatch):
    rows = skewed()
    pq.write_table(pa.table({f"x{j + 1}": rows[:, j] for j in range(5)}), tmp_path / "t.parquet", row_group_size=700)
    passes, real = [], file_moment._spec
    monkeypatch.setattr(file_moment, "_spec", lambda *a: passes.append(a[1].row_bound) or real(*a))
    files = PrivateDataset.from_files(tmp_path / "t.parquet", bounds=[(-1, 1)] * 5, name="t")
    made = privcov.release_private("gaussian-cov", files, privcov.ZCDP(1.0), ledger=ledger, norm_budget=0.05)
    assert passes == [math.sqrt(5), made.row_bound]
    privcov.release_private("gaussian-cov", files, privcov.ZCDP(1.0), ledger=ledger, norm_budget=0.05)
    assert len(passes) == 2, "a repeat reads nothing"
    other = Ledger(tmp_path / "other.sqlite")
    other.limit("t", privcov.ZCDP(1.0))
    memory = privcov.release_private("gaussian-cov", table(rows), privcov.ZCDP(1.0), ledger=other, norm_budget=0.05)
    assert memory.measurement.to_dict() == made.measurement.to_dict()


KILLED = """
import os, signal, sys
import numpy as np
import privcov
from privcov.releasing import two_steps
two_steps.measure_exactly = lambda *a, **b: os.kill(os.getpid(), signal.SIGKILL)
rows = np.random.default_rng(0).normal(size=(3000, 3)) * 0.1
private = privcov.PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * 3, name="t")
ledger = privcov.Ledger(sys.argv[1])
privcov.release_private("gaussian-cov", private, privcov.ZCDP(0.5), ledger=ledger, norm_budget=0.05)
print("survived")
"""


def test_a_kill_between_the_two_draws_is_spent_and_never_drawn_again(tmp_path, monkeypatch):
    book = Ledger(tmp_path / "ledger.sqlite")
    book.limit("t", privcov.ZCDP(1.0))
    ran = subprocess.run(
        [sys.executable, "-c", KILLED, str(book.path)], capture_output=True, text=True, cwd=ROOT, timeout=patient(60)
    )
    assert ran.returncode == -9, ran.stderr
    assert [e.state for e in book.entries()] == ["committed"]
    monkeypatch.setattr(exact_noise, "add_discrete_gaussian", lambda *a: pytest.fail("drawn again"))
    rows = np.random.default_rng(0).normal(size=(3000, 3)) * 0.1
    with pytest.raises(LedgerError, match="counts as spent"):
        privcov.release_private("gaussian-cov", table(rows), privcov.ZCDP(0.5), ledger=book, norm_budget=0.05)
    assert book.account("t").affords(privcov.ZCDP(0.5))
    assert not book.account("t").affords(privcov.ZCDP(0.51))


def test_a_request_of_a_part_of_the_guarantee_is_refused_before_a_row_is_read(monkeypatch):
    """A method that keeps a share for a step of its own: both shares would come out of that part alone."""
    private, whole = table(skewed(60)), privcov.ZCDP(1.0)
    monkeypatch.setattr(exact_norms, "noiseless_norms", lambda private: pytest.fail("rows were read"))
    for share in (privcov.ZCDP(0.9), privcov.ZCDP(1.1), privcov.PureDP(1.0)):
        request = Request(share, "joint", "isotropic")
        with pytest.raises(ValueError, match="Leave norm_budget out"):
            measure(private, whole, request, 0.05)
        with pytest.raises(ValueError, match="Leave norm_budget out"):
            planned(private.facts, whole, request, 0.05)


def test_what_is_refused_costs_nothing(ledger):
    for budget in (0, -0.1, 0.51, 1, math.nan, "x", 1e-7):
        with pytest.raises(ValueError, match="norm_budget"):
            privcov.release_private("auto-cov", table(skewed()), privcov.ZCDP(1.0), ledger=ledger, norm_budget=budget)
    with pytest.raises(ValueError, match="norm_budget would buy nothing"):
        privcov.release_private("auto-cov", table(skewed(60)), privcov.ZCDP(0.1), ledger=ledger, norm_budget=0.05)
    tiny = PrivateDataset.from_rows(skewed(), row_bound=2e-100, name="t")
    with pytest.raises(ValueError, match="leave norm_budget out"):
        privcov.release_private("auto-cov", tiny, privcov.ZCDP(1.0), ledger=ledger, norm_budget=0.05)
    assert not ledger.entries()


def test_a_budget_is_another_request_and_none_is_the_old_one(ledger):
    request = dict.fromkeys(("with", "without", "other"))
    for name, budget in (("with", 0.05), ("without", None), ("other", 0.1)):
        privcov.release_private("auto-cov", table(skewed()), privcov.ZCDP(1.0), ledger=ledger, norm_budget=budget)
        request[name] = ledger.entries()[-1].request
    assert len({e.token for e in ledger.entries()}) == 3
    assert [request[name].get("norm_budget") for name in request] == [0.05, None, 0.1]
    assert "norm_budget" not in request["without"]


def test_a_stored_answer_with_another_bound_is_refused(ledger):
    """The facts must be those that follow from the counts: one more row in the tail, another bound, another budget."""
    made = privcov.release_private("auto-cov", table(skewed()), privcov.ZCDP(1.0), ledger=ledger, norm_budget=0.05)
    stored = made.measurement.to_dict()
    assert NoisySum.from_dict(stored).norms is not None
    moved = json.loads(json.dumps(stored))
    moved["norms"]["counts"][0] += 4000
    plain = {**stored, "facts": table(skewed()).facts.to_dict()}
    short = {**stored, "norms": {**stored["norms"], "counts": stored["norms"]["counts"][1:]}}
    half = {**stored, "norms": {**stored["norms"], "counts": [0.5, *stored["norms"]["counts"][1:]]}}
    much = {**stored, "norms": {**stored["norms"], "budget": 0.6}}
    other = {**stored, "norms": {**stored["norms"], "rule": 2}}
    for wrong, match in (
        (moved, "not those that follow"),
        (plain, "not those that follow"),
        (short, "counts must be a list"),
        (half, "whole number"),
        (much, "norm_budget"),
        (other, "another rule"),
    ):
        with pytest.raises(ValueError, match=match):
            NoisySum.from_dict(wrong)


# --- a public share of the longest row ------------------------------------------------------------------------------


def test_a_fraction_shortens_rows_and_is_left_out_where_it_is_one():
    rows = np.array([[0.9, -0.9, 0.9], [0.1, 0.2, 0.0]])
    half, whole = table(rows, row_bound_fraction=0.5), table(rows)
    assert half.facts.row_bound == 0.5 * math.sqrt(3)
    assert "row_bound_fraction" not in whole.facts.to_dict()
    assert table(rows, row_bound_fraction=1).facts.to_dict() == whole.facts.to_dict()
    for facts in (half.facts, whole.facts, PrivateDataset.from_rows(rows, row_bound=2.0).facts):
        assert PublicFacts.from_dict(facts.to_dict()).to_dict() == facts.to_dict()
    gram = integer_gram.noiseless_gram(half, 0)
    k = [math.trunc(v) for v in rows[1] / np.sqrt(3) / 0.5 * UNIT]
    long = rows[0] / np.linalg.norm(rows[0]) * UNIT
    expected = np.outer(k, k) + np.outer(long, long)
    np.testing.assert_allclose(gram.astype(float), expected, atol=4 * UNIT)
    fields = half.facts.to_dict()
    for wrong in (
        {"row_bound_fraction": 0.6},
        {"row_bound": 1.0},
        {"row_bound_fraction": 1},
        {"row_bound_fraction": 0},
    ):
        with pytest.raises(ValueError, match="row_bound"):
            PublicFacts.from_dict({**fields, **wrong})


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"row_bound_fraction": 0.0}, "row_bound_fraction must lie in"),
        ({"row_bound_fraction": 1.1}, "row_bound_fraction must lie in"),
        ({"row_bound_fraction": math.nan}, "row_bound_fraction"),
        ({"row_bound": 1.0}, "row_bound_fraction"),
        ({"bounds": None, "row_bound": 1.0, "row_bound_fraction": 0.5}, "leave it out, and give a smaller row_bound"),
    ],
)
def test_a_fraction_that_cannot_be_is_refused_with_the_remedy(more, said):
    with pytest.raises(ValueError, match=said):
        PrivateDataset.from_rows([[0.0, 1.0]], **{"bounds": [(0, 1)] * 2} | more)


def test_the_noise_falls_with_the_square_of_the_fraction(ledger):
    """The scale in steps of R^2 is the same; R^2 is a quarter, and the statement says what is shortened."""
    rows = np.abs(skewed())
    one, half = (
        privcov.release_private(
            "gaussian-cov",
            PrivateDataset.from_rows(rows, bounds=[(0, 1)] * 5, row_bound_fraction=fraction, name="t"),
            privcov.ZCDP(0.5),
            ledger=ledger,
            centre="none",
        )
        for fraction in (0.99, 0.5)
    )
    assert one.events[0].scale == half.events[0].scale
    assert one.row_bound / half.row_bound == pytest.approx(1.98)
    assert "0.5 of the longest possible row" in half.statement["Measured"]


def test_small_tables_are_counted_exhaustively():
    """Every table of up to two rows on a grid: memory's counts are the literal ones."""
    grid = [0.0, 0.25, -0.5, 0.84, 1.0, 7.0, math.nan]
    for rows in itertools.product(itertools.product(grid, repeat=2), repeat=2):
        private = PrivateDataset.from_rows(rows, row_bound=1.0)
        k = whole_rows(np.where(np.isfinite(rows), rows, 0.0), 1.0)
        expected = [0] * BINS
        for row in k:
            expected[literal_bin(int(row[0]) ** 2 + int(row[1]) ** 2)] += 1
        assert exact_norms.noiseless_norms(private).tolist() == expected


# --- persons with ids -----------------------------------------------------------------------------------------------


def of_persons(groups, most_weight: int, n_public: bool) -> PrivateDataset:
    """A table of persons, each a list of rows."""
    rows = [row for person in groups for row in person]
    ids = [i for i, person in enumerate(groups) for _ in person]
    more = {"most_weight": most_weight, "n_public": n_public}
    return PrivateDataset.from_rows(rows, row_bound=1.0, persons=ids, **more)


@pytest.mark.parametrize("most_weight", [1, 2, 3])
@pytest.mark.parametrize("n_public", [True, False])
@pytest.mark.parametrize("norm", list(SHARES))
def test_no_persons_differ_by_more_than_the_event_says(most_weight, n_public, norm, silent):
    """A person of 1, 2, 3, 7 or 30 rows, anywhere, instead of another; with M rows of one bin the bound is attained."""
    rng, others = np.random.default_rng(most_weight), [[(0.5, 0.5)], [(0.1, 0.0), (0.9, 0.1)]]
    atoms = [(0.0, 0.0), (1.0, 0.0), (0.3, 0.3), (math.inf, 9.0), (math.nan, 0.02), (0.001, 0.0)]
    persons = [[atom] * r for atom in atoms for r in (1, 2, 3, 7, 30)]
    persons += [[atoms[i] for i in rng.integers(0, 6, r)] for r in (2, 3, 7, 30) for _ in range(10)]
    square, ends = 0, []
    for place in (0, 2):
        for person in persons:
            private = of_persons([*others[:place], person, *others[place:]], most_weight, n_public)
            found = measure_norms_exactly(private, SHARES[norm], 0.05)
            square = count_change(private.facts.relation, pure=norm == "l1", rows=most_weight * 2**20)
            assert Fraction(found.event.sensitivity) ** 2 >= square
            assert found.event.sensitivity == pytest.approx(math.sqrt(square))
            ends.append(np.array(found.counts))
    without = np.array(measure_norms_exactly(of_persons(others, most_weight, n_public), SHARES[norm], 0.05).counts)
    size = {"l1": lambda g: int(np.abs(g).sum()) ** 2, "l2": lambda g: sum(int(v) ** 2 for v in g)}[norm]
    starts = ends if n_public else [without]
    assert max(size(one - other) for one in ends for other in starts) == square


def test_a_row_counts_by_the_weight_of_its_person_and_without_an_id_not_at_all():
    """Persons of 1, 2, 3 and 5 rows and rows of nobody, at M = 2, beside fractions."""
    sizes, ids = {"a": 1, "b": 2, "c": 3, "d": 5}, [*"abbcccddddd", None, "", math.nan]
    rows = [(1.0, 0.0)] * 6 + [(0.0, 0.0)] * 5 + [(0.5, 0.0)] * 3
    private = PrivateDataset.from_rows(rows, row_bound=1.0, persons=ids, most_weight=2)
    expected = [0] * BINS
    for who, row in zip(ids, rows, strict=True):
        if who in sizes:
            expected[0 if row[0] == 1 else BINS - 1] += math.floor(2**20 * min(1, Fraction(2, sizes[who])))
    assert exact_norms.noiseless_norms(private).tolist() == expected


def test_files_and_memory_count_persons_alike(tmp_path, silent, ledger):
    """In files, memory and one release after the other: the same counts, bound and sums, in whole numbers."""
    rng = np.random.default_rng(6)
    ids, rows = rng.integers(0, 2500, 9000), skewed(9000, 3)
    text = np.array([f"p{i}" for i in ids])
    text[::50] = ""
    pq.write_table(
        pa.table({f"x{j + 1}": rows[:, j] for j in range(3)} | {"who": text}),
        tmp_path / "t.parquet",
        row_group_size=800,
    )
    how = {"bounds": [(-1, 1)] * 3, "name": "t", "most_weight": 2, "person": "who"}
    files = PrivateDataset.from_files(tmp_path / "t.parquet", **how)
    memory = PrivateDataset.from_rows(rows, persons=[i or None for i in text], **how)
    one, two = (measure_norms_exactly(private, privcov.ZCDP(1.0), 0.05) for private in (files, memory))
    assert one.to_dict() == two.to_dict()
    assert one.chosen.row_bound < memory.facts.row_bound / 2
    made = privcov.release_private("gaussian-cov", files, privcov.ZCDP(4.0), ledger=ledger, norm_budget=0.05)
    other = Ledger(tmp_path / "other.sqlite")
    other.limit("t", privcov.ZCDP(4.0))
    same = privcov.release_private("gaussian-cov", memory, privcov.ZCDP(4.0), ledger=other, norm_budget=0.05)
    assert made.measurement.to_dict() == same.measurement.to_dict()
    assert made.measurement.facts.person == "who"


# --- both steps -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_public", [True, False])
@pytest.mark.parametrize("first", [(0,) * 4 + (5000,) + (0,) * 23, (0,) * 27 + (5000,), (5000,) + (0,) * 27])
def test_whatever_the_first_answer_neighbours_stay_within_the_second_bound(n_public, first, monkeypatch):
    """Whole tables through both steps, one answer of the first given: rows at a bin's edge, zero, infinite, long.

    The largest change that the search finds is compared with the bound of the second event, which a long row attains,
    and two long rows at 120 degrees where rows are replaced.
    """
    change = []
    gaussian = lambda values, scale: np.array(first) if len(values) == BINS else values  # noqa: E731
    monkeypatch.setattr(exact_noise, "add_discrete_gaussian", gaussian)
    edge = math.sqrt(edges()[4] / UNIT**2)
    rows = [
        (9.0, 0, 0),
        (-4.5, 4.5 * math.sqrt(3), 0),
        (0, 0, 0),
        (math.inf, 1, 1),
        (edge, 0, 0),
        (math.nextafter(edge, 1), 0, 0),
    ]
    rows += [tuple(row) for row in np.random.default_rng(8).normal(size=(20, 3)) * 0.3]
    common = [tuple(row) for row in np.random.default_rng(9).normal(size=(6, 3))]
    request = Request(privcov.ZCDP(1.0), "joint", "isotropic")

    def sums(some) -> NoisySum:
        private = PrivateDataset.from_rows([*common, *some], row_bound=1.0, n_public=n_public)
        return measure(private, privcov.ZCDP(1.0), request, 0.05)

    ends = [sums([row]) for row in rows]
    starts = ends if n_public else [sums([])]
    shares = {made.facts.row_bound for made in [*ends, *starts]}
    assert len(shares) == 1, "one noisy answer, one bound, whatever the rows"
    for one, other in itertools.product(ends, starts):
        moved = (one.total - other.total).astype(object)
        extra = 0 if one.trace is None else (one.trace - other.trace) ** 2
        change.append(int((moved**2).sum()) + extra)
        assert max(change) <= Fraction(one.event.sensitivity) ** 2
    assert max(change) >= 0.999 * one.event.sensitivity**2
    assert accounting.zcdp_sum(one.events) <= 1
