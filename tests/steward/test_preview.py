"""The plan: at the scale of the very release that follows, and right about what survives."""

import numpy as np
import pandas as pd
import pytest

from privcov import Kind
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP, with_level
from privcov.measurements.exact.private_moment import NoisySum, measure_exactly
from privcov.measurements.exact.reading import read_sum
from privcov.postprocess.matrices import derive
from privcov.releases.private_request import default_request, private_request
from privcov.steward.example_rows import STRUCTURES, ExampleRows, Invention, invented, planned_anchor
from privcov.steward.owner_view import compute_owner_view
from privcov.steward.preview import noise_for, planned_noise, planned_trade_off, preview, searched, smallest_level
from privcov.tables.private_dataset import PrivateDataset
from tests.exhaustive import some_of

CASES = [ZCDP(0.1), ApproxDP(1.0, 1e-6), PureDP(1.0)]
LEVELS = tuple(f"level {k}" for k in range(30))
KINDS = {
    "age": Kind("number", 0, 100),
    "ward": Kind("category", values=LEVELS),
    "town": Kind("category", values=LEVELS),
}


def private(n: int = 500, d: int = 4, **how) -> PrivateDataset:
    x = np.random.default_rng(0).uniform(0, 1, (n, d))
    return PrivateDataset.from_rows(x, bounds=[(0, 1)] * d, **how)


def table(d: int, n: int, *more, seed: int = 0) -> ExampleRows:
    return invented(private(d=d).facts, Invention(n, *more), seed=seed)


def measured(data: PrivateDataset, guarantee: Guarantee) -> NoisySum:
    """Measure what a release that names no method would."""
    return measure_exactly(data, **vars(default_request(data.facts, guarantee).measurement_request))


@pytest.mark.parametrize("guarantee", CASES)
@pytest.mark.parametrize("n_public", [True, False])
@pytest.mark.parametrize("more", [{}, {"rows_per_person": 3}, {"labels": True}, {"missing": "pairs"}])
def test_the_plan_has_the_noise_and_the_anchor_of_the_release(guarantee, n_public, more):
    how = {"labels": ["a", "b"] * 250, "classes": ["a", "b"]} if "labels" in more else more
    data = private(n_public=n_public, **how)
    released = read_sum(measured(data, guarantee), "joint")
    planned = planned_noise(data.facts, guarantee, 500)
    assert planned.shape == released.distribution.shape
    assert planned.scale * 500 == pytest.approx(released.distribution.scale * released.n_rows, rel=1e-12)
    assert planned_anchor(data.facts) ** 2 == pytest.approx(released.matrix[-1, -1], rel=1e-12)


@pytest.mark.parametrize("n_public", [True, False])
def test_the_plan_of_a_table_with_laplace_noise_has_its_anchor(n_public):
    """Another method measures such a table, with a larger anchor; the rows that stand in for it have that too."""
    frame = pd.DataFrame({"age": range(50), "ward": LEVELS[:1] * 50, "town": LEVELS[1:2] * 50})
    data = PrivateDataset.from_rows(frame, kinds=KINDS, n_public=n_public)
    released = read_sum(measured(data, PureDP(1.0)), "joint")
    noise = planned_noise(data.facts, PureDP(1.0), 50)
    assert (noise.shape, released.distribution.shape) == ("laplace", "laplace")
    assert released.anchor_squared == 0.5
    assert ExampleRows(data, 50, "rows").noisy(noise, None).matrix[-1, -1] == pytest.approx(0.5)
    assert noise.scale * 50 == pytest.approx(released.distribution.scale * released.n_rows)


def test_page_and_shell_measure_with_the_least_noise():
    """A public number of rows costs no more than a hidden one, as the larger anchor of gaussian-cov does."""
    for guarantee in CASES[:2]:
        public, hidden = (private(d=24, n_public=public).facts for public in (True, False))
        noise, other = planned_noise(public, guarantee, 500), planned_noise(hidden, guarantee, 500)
        assert noise.off_diagonal_std < 1.04 * other.off_diagonal_std
        larger = private_request("gaussian-cov", public, guarantee).noise(500)
        assert larger.off_diagonal_std > 1.35 * noise.off_diagonal_std


def test_few_categories_of_many_levels_have_laplace_noise_under_pure_privacy():
    """A row has three entries that are not zero, and 61 columns: the l1 norm is small, the Wishart matrices large."""
    typed = PrivateDataset.from_rows(pd.DataFrame({"age": ["1"], "ward": [""], "town": [""]}), kinds=KINDS).facts
    for facts, key in ((typed, "laplace-cov"), (private(d=24).facts, "auto-cov")):
        asked = default_request(facts, PureDP(1.0))
        assert asked.method.card.key == key
        assert asked.noise(1.0).off_diagonal_std == min(
            private_request(name, facts, PureDP(1.0)).noise(1.0).off_diagonal_std
            for name in ("auto-cov", "laplace-cov", "wishart-difference")
        )
    assert default_request(typed, ZCDP(0.1)).method.card.key == "auto-cov"


@pytest.mark.parametrize("guarantee", CASES)
def test_the_plan_has_the_attacker_of_the_release(guarantee):
    data = private()
    made = measured(data, guarantee)
    assert planned_trade_off(data.facts, guarantee) == accounting.trade_off_of((made.event,), guarantee)


@pytest.mark.parametrize("structure", list(STRUCTURES))
def test_the_invented_rows_have_the_structure_they_say(structure):
    """5,000 rows: an entry that is wrong by 0.08 lies four standard errors off."""
    wanted = Invention(200_000, structure, 0.6)
    assert np.linalg.eigvalsh(wanted.correlation(6))[0] > 0
    rows = table(6, 200_000, structure, 0.6)
    assert rows.covariance / 0.3**2 == pytest.approx(wanted.correlation(6), abs=0.08)
    law = planned_noise(rows.facts, ZCDP(1.0), 10)
    assert derive(rows.noisy(law, None)).covariance == pytest.approx(rows.covariance, abs=1e-6)


def test_more_privacy_means_a_larger_error():
    facts, rows = private(d=8).facts, table(8, 2000)
    errors = [preview(rows, ZCDP(r), planned_noise(facts, ZCDP(r), 2000)).error for r in (0.01, 0.1, 1.0)]
    assert errors == sorted(errors, reverse=True)
    assert preview(rows, ZCDP(1.0), planned_noise(facts, ZCDP(1.0), 2000)).clipped == 0.0


def test_the_smallest_level_brackets():
    assert smallest_level(lambda x: x >= 0.37) == pytest.approx(0.37, rel=0.02)
    assert smallest_level(lambda x: False) is None
    assert smallest_level(lambda x: True) == 1e-4
    assert with_level(ApproxDP(1.0, 1e-6), 2.0) == ApproxDP(2.0, 1e-6)
    assert with_level(ZCDP(1.0), 2.0) == ZCDP(2.0)


@pytest.mark.parametrize(("name", "value"), [("n", 1), ("structure", "?"), ("strength", 1.0), ("spread", 0.0)])
def test_a_table_that_cannot_be_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        Invention(**({"n": 10} | {name: value}))


# --- the owner's view ---------------------------------------------------------------------------------------


def test_the_owner_sees_the_exact_answer_and_what_clipping_does():
    rng = np.random.default_rng(0)
    x = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 5000)
    x[:, 1] *= 10
    data = PrivateDataset.from_rows(x, bounds=[(-1, 1), (-100, 100)])
    look = compute_owner_view(data, ZCDP(0.1), np.random.default_rng(1))
    assert look.raw == pytest.approx(np.corrcoef(x, rowvar=False))
    clipped = np.clip(x, [-1, -100], [1, 100])
    assert look.clipped == pytest.approx(np.corrcoef(clipped, rowvar=False))
    assert look.beyond == pytest.approx([(np.abs(x[:, 0]) > 1).mean(), 0])
    assert look.bias > 0.1
    assert look.rows == 5000


def test_two_looks_are_two_draws_and_a_look_says_nothing_of_its_rows():
    data = private()
    one, other = (compute_owner_view(data, ZCDP(0.1), np.random.default_rng(s)) for s in (1, 2))
    assert not np.array_equal(one.draw, other.draw)
    assert np.array_equal(one.raw, other.raw)
    assert "array" not in repr(one)


def test_the_owner_sees_the_rows_that_the_release_uses():
    x = np.array([[0.1, np.nan], [0.2, 0.3], [0.5, 0.9], [0.7, 0.2]])
    data = PrivateDataset.from_rows(x, bounds=[(0, 1)] * 2, n_public=False, missing="drop-row")
    assert compute_owner_view(data, ZCDP(1.0), np.random.default_rng(0)).rows == 3
    filled = PrivateDataset.from_rows(x, bounds=[(0, 1)] * 2)
    look = compute_owner_view(filled, ZCDP(1.0), np.random.default_rng(0))
    assert look.missing == pytest.approx([0, 0.25])
    assert look.raw == pytest.approx(np.corrcoef(np.nan_to_num(x, nan=0.5), rowvar=False))


def test_the_exact_answer_by_pairs_is_over_the_rows_that_have_both():
    rng = np.random.default_rng(4)
    x = rng.multivariate_normal([0.5] * 3, 0.02 * (np.eye(3) + 1), 400).clip(0.01, 0.99)
    x[rng.random(x.shape) < 0.2] = np.nan
    look = compute_owner_view(PrivateDataset.from_rows(x, bounds=[(0, 1)] * 3, missing="pairs"), ZCDP(1.0), rng)
    assert look.clipped == pytest.approx(look.raw, abs=1e-3)
    both = np.isfinite(x[:, 0]) & np.isfinite(x[:, 1])
    a, b = x[both, 0], x[both, 1]
    deviations = [np.nanstd(x[:, j]) for j in (0, 1)]
    assert look.raw[0, 1] == pytest.approx(np.cov(a, b, bias=True)[0, 1] / np.prod(deviations), rel=1e-6)
    assert look.raw[0, 1] > 0.4


@pytest.mark.parametrize("declared", [
    {"missing": "drop-row", "n_public": False}, {"missing": "drop-row", "n_public": False, "persons": True},
    {"missing": "pairs", "persons": True}, {"labels": True, "classes": ["a", "b"], "n_public": False},
], ids=str)  # fmt: skip
def test_the_weight_of_rows_is_what_the_noise_of_their_release_is_divided_by(declared):
    """Rows that are left out, several rows of a person, classes; a noisy count moves it by less than two per cent."""
    rng = np.random.default_rng(6)
    x = rng.uniform(-1, 1, (1500, 4))
    given = dict(declared)
    if "labels" in given:
        given["labels"] = np.where(x[:, 0] > 0, "a", np.where(x[:, 1] > 0, "b", "none"))
    if "persons" in given:
        given["persons"] = np.repeat(np.arange(300), 5)
    if "missing" in given:
        x[rng.random(x.shape) < 0.1] = np.nan
    data = PrivateDataset.from_rows(x, bounds=[(-1, 1)] * 4, **given)
    planned = planned_noise(data.facts, ZCDP(0.5), ExampleRows(data, 1500, "rows").weight)
    real = [read_sum(measured(data, ZCDP(0.5)), "joint").distribution.off_diagonal_std for _ in range(6)]
    assert planned.off_diagonal_std == pytest.approx(np.mean(real), rel=0.04)


def test_a_rule_that_leaves_no_row_is_refused_with_the_reason():
    facts = private(d=10, n_public=False, missing="drop-row").facts
    stand = invented(facts, Invention(5000, missing=0.9))
    with pytest.raises(ValueError, match=r"No row counts .* another rule for\s+missing cells"):
        preview(stand, ZCDP(0.1), noise_for(stand, ZCDP(0.1)))


# --- rows that are shortened --------------------------------------------------------------------------------


def with_gaps(declared: dict) -> tuple[PrivateDataset, ExampleRows]:
    """A table of which a third of the cells of two columns is missing, and the table of the plan: all its rows."""
    rng = np.random.default_rng(8)
    x = 0.3 * (rng.standard_normal((4800, 4)) + rng.standard_normal((4800, 1)))
    gone = rng.random((4800, 2)) < 1 / 3
    given = dict(declared)
    times = given.pop("times", 1)
    if "labels" in given:
        given["labels"] = np.where(x[:, 3] > 0.2, "a", np.where(x[:, 3] < -0.2, "b", "none"))
    if given.pop("persons", False):
        given["persons"] = np.repeat(np.arange(1600), 3)
    x[:, :2][gone] = np.nan
    data = PrivateDataset.from_rows(times * x, bounds=[(-times, times)] * 4, **given)
    stand = ExampleRows.of_public(data, 1600 if "persons" in declared else 4800)
    return data, stand


@pytest.mark.parametrize("declared", some_of([
    {"missing": "typical", "times": 3}, {"missing": "pairs"}, {"missing": "drop-row", "n_public": False},
    {"missing": "pairs", "persons": True}, {"missing": "typical", "labels": True, "classes": ["a", "b"]},
], 2, 3, 4), ids=str)  # fmt: skip
def test_the_planned_error_is_that_of_the_release(declared):
    """400 releases of the table that stands in for itself; a plan of another matrix is wrong by half (ZCDP .005)."""
    data, stand = with_gaps(declared)
    guarantee, facts = ZCDP(0.005), data.facts
    plan = preview(stand, guarantee, noise_for(stand, guarantee), replicates=400)
    scale, sample = np.outer(facts.units.scale, facts.units.scale), stand.covariance
    request, found = default_request(facts, guarantee), []
    for _ in range(400):  # of all rows, also where there are classes
        covariance = (
            request.release_of_measurement(read_sum(measured(data, guarantee), "joint"), facts).covariance / scale
        )
        found.append(np.linalg.norm(covariance - sample) / np.linalg.norm(sample))
    se = np.std(found, ddof=1) * np.sqrt(2 / 400)
    assert abs(plan.error - np.mean(found)) < 4.5 * se
    assert se < 0.1 * plan.error, "else the test could not fail"


@pytest.mark.parametrize("guarantee", CASES)
@pytest.mark.parametrize("more", [{}, {"n_public": False}, {"missing": "pairs"}, {"rows_per_person": 2}])
def test_the_noise_of_a_plan_with_a_search_is_that_of_the_release_under_its_bound(guarantee, more):
    """Whatever bound the release finds; and the plan of a table that needs a twentieth of it is the better."""
    rows = np.random.default_rng(1).normal(0, 0.05, (5000, 12))
    data = PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * 12, **more)
    request = default_request(data.facts, guarantee, search=True)
    noisy = measure_exactly(data, **vars(request.measurement_request))
    released = read_sum(noisy, "joint")
    assert request.noise(released.n_rows, noisy.facts) == released.distribution
    stands = ExampleRows.of_public(data, 5000)
    under, law = searched(stands, guarantee)
    assert under.facts.row_bound < data.facts.row_bound / 3
    assert under.clipped < 0.1
    plain = preview(stands, guarantee, noise_for(stands, guarantee), replicates=4)
    assert preview(under, guarantee, law, replicates=4).error < 0.7 * plain.error


def test_a_search_is_planned_for_ten_columns_and_more_only():
    for d in (9, 10):
        facts = private(d=d).facts
        assert bool(default_request(facts, ZCDP(0.1), search=True).measurement_request.search_for) == (d == 10)
        assert not default_request(facts, ZCDP(0.1)).measurement_request.search_for
