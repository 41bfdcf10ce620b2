"""The smallest level: against a closed form, with the coverage it states, and every reason why there is none."""

import math
import re

import numpy as np
import pytest

import privcov
from privcov.measurements.moment import sensitivity
from privcov.sweeps.answer import shown
from privcov.sweeps.plan import Plan, run
from privcov.sweeps.solve import grid_of, smallest

EXACT = ("gaussian-cov", {"shape": "isotropic", "repair": "none"})
AR1 = {"source": "ar1-covariance", "source_params": {"n": 500, "d": 4}}


def rows_without_clipping(n: int = 600, d: int = 3) -> privcov.Dataset:
    rows = np.random.default_rng(5).standard_normal((n, d))
    return privcov.Dataset.from_rows(rows, 10.0, mean_is_zero=True, name="fixed rows")


def true_rho(dataset: privcov.Dataset, target: float) -> float:
    """In closed form: isotropic noise has ||N||_F = sigma chi_k with k = d (d + 1) / 2 degrees of freedom, no row is
    clipped and nothing is repaired, so the expected relative error is sigma R^2 E(chi_k) / ||S||_F, and sigma is
    sensitivity / sqrt(2 rho)."""
    d, n = dataset.d, dataset.n
    k = d * (d + 1) / 2
    chi = math.sqrt(2) * math.gamma((k + 1) / 2) / math.gamma(k / 2)
    size = np.linalg.norm(dataset.rows.T @ dataset.rows / n)
    at_one = sensitivity(d, n, norm="l2", n_anchors=0) / math.sqrt(2) * dataset.row_bound**2 * chi / size
    return (at_one / target) ** 2


def test_the_interval_covers_the_closed_form_as_often_as_it_says():
    """150 searches with 8 replicates: 95 % nominal. A coverage below .88 or an unbiased level off by 5 % would fail."""
    dataset = rows_without_clipping()
    truth = true_rho(dataset, 0.1)
    within = (truth / 8, truth * 8)
    found = [
        smallest(EXACT, privcov.ZCDP(1.0), 0.1, dataset=dataset, against="sample", within=within, replicates=8, seed=s)
        for s in range(150)
    ]
    covered = np.mean([a.interval[0] <= truth <= a.interval[1] for a in found])
    assert 0.90 <= covered <= 0.995
    # The level is that of squared means: its logarithm is nearly unbiased, up to the bisection's one per cent.
    middle = np.exp(np.mean([np.log(a.level) for a in found]))
    assert abs(middle / truth - 1) < 0.05
    assert all(a.interval[0] < a.level <= a.interval[1] for a in found)


def test_more_replicates_make_a_shorter_interval_around_the_closed_form():
    dataset = rows_without_clipping()
    truth = true_rho(dataset, 0.2)
    few, many = (
        smallest(EXACT, privcov.ZCDP(1.0), 0.2, dataset=dataset, against="sample", replicates=r, seed=1)
        for r in (5, 80)
    )
    width = [math.log(a.interval[1] / a.interval[0]) for a in (few, many)]
    assert width[1] < 0.5 * width[0]
    assert many.interval[0] <= truth <= many.interval[1]
    assert abs(many.level / truth - 1) < 0.2


def test_the_level_meets_the_target_and_one_per_cent_less_does_not():
    a = smallest("auto-cov", privcov.ZCDP(0.1), 0.3, **AR1, replicates=6)
    curve = a.curve.set_index("level")["mean"]
    below = curve.index[curve.index < a.level].max()
    assert a.status == "found"
    assert curve[a.level] <= 0.3 < curve[below]
    assert a.level / below <= 1.011
    # Common random numbers: the mean error never rises along the curve on the way to the answer, nor beyond it by more
    # than a thousandth, where nothing is left but what the row bound took away.
    assert (np.diff(curve.loc[: a.level].to_numpy()) <= 0).all()
    assert (np.diff(curve.to_numpy()) <= 1e-3).all()
    assert a.rises_again is None


def test_the_errors_are_those_of_a_plan_with_the_same_seed():
    a = smallest("auto-cov", privcov.ApproxDP(1.0, 1e-6), 0.2, **AR1, replicates=4, seed=3)
    level = float(a.curve["level"].iloc[4])
    table = run(
        Plan(**AR1, methods=["auto-cov"], guarantees=[privcov.ApproxDP(level, 1e-6)], replicates=4, seed=3,
             metrics=["relative-frobenius-to-truth"])
    )  # fmt: skip
    assert a.curve["mean"].iloc[4] == pytest.approx(table["value"].mean(), rel=1e-12)


def test_n_halves_when_the_target_doubles():
    """The noise alone: its error is proportional to 1/n. Replicates share their rows, so a few per cent are seen."""
    answers = [
        smallest(EXACT, privcov.ZCDP(0.5), t, **AR1, lever="n", against="nonprivate", replicates=20)
        for t in (0.05, 0.1)
    ]
    assert answers[0].level / answers[1].level == pytest.approx(2.0, rel=0.06)
    assert all(a.level == int(a.level) for a in answers)
    assert "n = " in str(answers[0])
    assert "0.5-zCDP" in str(answers[0])


def test_all_norms_and_kinds_give_an_answer():
    for norm in ("spectral", "l1", "max"):
        assert smallest("auto-cov", privcov.ZCDP(1.0), 0.4, **AR1, norm=norm, replicates=3).status == "found"
    assert smallest("laplace-cov", privcov.PureDP(1.0), 0.4, **AR1, replicates=3).lever == "epsilon"


# --- why there is none ---------------------------------------------------------------------------------------------


def test_sampling_error_alone_decides():
    a = smallest("auto-cov", privcov.ZCDP(0.1), 0.02, **AR1, replicates=5)
    assert (a.status, a.reason, a.level) == ("not achievable", "sampling", None)
    assert a.parts["sampling"] > 0.02
    assert re.match(
        r"Not achievable at n = 500 and d = 4: sampling error alone is .* at least about [\d,]+ rows", str(a)
    )
    rows = int(re.search(r"about ([\d,]+) rows", str(a))[1].replace(",", ""))
    assert 500 * math.sqrt(rows / 500) == pytest.approx(500 * a.parts["sampling"] / 0.02, rel=0.06)  # 1 / sqrt(n)
    assert rows >= 500 * (a.parts["sampling"] / 0.02) ** 2  # rounded up


def test_clipping_bias_alone_decides():
    a = smallest("auto-cov", privcov.ZCDP(0.1), 0.1, **AR1, against="sample", row_bound=1.0, replicates=3)
    assert a.reason == "clipping"
    assert a.parts["clipped"] > 0.1
    assert a.parts["unclipped"] < 1e-12
    assert "clipping bias alone" in str(a)
    assert smallest("auto-cov", privcov.ZCDP(0.1), 0.1, **AR1, against="sample", row_bound=8.0, replicates=3).level


def test_a_method_that_denies_all_relations_decides_itself():
    a = smallest("diagonal", privcov.ZCDP(0.1), 0.1, **AR1, against="sample", replicates=3)
    assert a.reason == "method"
    assert "Diagonal only itself" in str(a)


def test_noise_decides_at_the_end_of_the_range():
    a = smallest("auto-cov", privcov.ZCDP(0.1), 0.1, **AR1, against="sample", row_bound=8.0, within=(1e-6, 1e-5))
    assert a.reason == "noise"
    assert "up to rho = 1e-05" in str(a)


def test_the_zero_matrix_decides_from_a_hundred_per_cent_on():
    a = smallest("auto-cov", privcov.ZCDP(0.1), 1.0, **AR1, replicates=2)
    assert a.status == "trivial"
    assert "zero matrix" in str(a)


def test_a_target_met_at_once_says_so():
    a = smallest("auto-cov", privcov.ZCDP(0.1), 0.9, **AR1, within=(1.0, 10.0), replicates=3)
    assert a.below
    assert "already" in str(a)
    assert a.interval[0] is None


def test_a_target_at_the_floor_is_called_undecided():
    """Half a per cent below the error without noise: the replicates cannot tell, and the note says so."""
    floor = smallest("auto-cov", privcov.ZCDP(0.1), 0.02, **AR1, replicates=5).curve["mean"].min()
    a = smallest("auto-cov", privcov.ZCDP(0.1), 0.995 * floor, **AR1, replicates=5)
    assert a.level is None
    assert a.interval[0] is not None
    assert "within Monte-Carlo error" in a.notes[0]
    b = smallest("auto-cov", privcov.ZCDP(0.1), 1.02 * floor, **AR1, replicates=5)
    assert b.interval[1] is None
    assert "no upper end" in str(b)


def test_a_target_that_the_diagonal_meets_is_named():
    source = {"source": "sparse-covariance", "source_params": {"n": 5000, "d": 5, "sparsity": 0.0}}
    a = smallest("gaussian-cov", privcov.ZCDP(0.1), 0.3, **source, replicates=3)
    assert any("diagonal" in note for note in a.notes)


def test_a_method_without_a_matrix_meets_no_target():
    a = smallest("glasso-gaussian", privcov.ZCDP(0.1), 0.5, dataset=rows_without_clipping(2, 3), against="sample",
                 within=(1e-3, 1e-2), replicates=2)  # fmt: skip
    assert a.reason == "failed"
    assert "gave no matrix" in str(a)


# --- what is asked -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target": 0.0}, "target must be > 0"),
        ({"replicates": 1}, "replicates must be >= 2"),
        ({"lever": "epsilon"}, "lever must be one of 'rho', 'n'"),
        ({"dataset": rows_without_clipping()}, "not both"),
        ({"source": ""}, "not both"),
        ({"source": "wine", "source_params": {}, "lever": "n"}, "Only a simulated source"),
        ({"method": "laplace-cov"}, "not zCDP"),
        ({"norm": "nuclear"}, "norm must be one of"),
        ({"within": (1.0, 0.1)}, "within"),
    ],
)
def test_a_question_without_sense_gets_a_sentence(changes, sentence):
    asked = {"method": "auto-cov", "guarantee": privcov.ZCDP(0.1), "target": 0.1, **AR1} | changes
    with pytest.raises(ValueError, match=re.escape(sentence)):
        smallest(**asked)


def test_the_non_private_reference_is_no_guarantee_to_look_for():
    with pytest.raises(TypeError, match="PureDP"):
        smallest("auto-cov", privcov.NoPrivacy(), 0.1, **AR1)


def test_fixed_rows_redraw_the_noise_only():
    dataset = rows_without_clipping()
    a = smallest("auto-cov", privcov.ZCDP(0.1), 0.5, dataset=dataset, against="sample", replicates=3)
    assert not a.fresh_rows
    assert (a.n, a.d) == (600, 3)


def test_grid_and_shown_levels():
    assert grid_of(10, 10, whole=True) == [10]
    assert all(isinstance(n, int) for n in grid_of(10, 2_000_000, whole=True))
    grid = grid_of(1e-6, 100.0, whole=False)
    assert grid[0] == 1e-6
    assert grid[-1] == 100.0
    assert max(np.diff(np.log10(grid))) < 0.51
    for x in (0.012345, 1234567.0, 0.1, 3e-6):
        assert float(shown(x).replace(",", "")) <= x <= float(shown(x, up=True).replace(",", ""))
    assert shown(1234.0, up=True, whole=True) == "1,240"
