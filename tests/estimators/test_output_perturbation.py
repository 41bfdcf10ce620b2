"""output-perturbation: the sensitivity against neighbouring rows, what each form gives, and what paper 3 printed."""

import itertools
import math

import numpy as np
import pytest

import privcov
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, NoPrivacy, PureDP, ZCDP
from privcov.measurements.noise import NoiseDistribution
from privcov.measurements.output_noise import unit_moment, unit_sensitivity
from privcov.postprocess.admm import solve_admm
from privcov.postprocess.smoothed import smoothed_lasso
from privcov.tables.dataset import Dataset

KEY = "output-perturbation"


def dataset(d: int = 3, n: int = 400, **more) -> Dataset:
    return Dataset.from_rows(np.random.default_rng(d).standard_normal((n, d)) @ np.diag(1 + np.arange(d)), 2.0, **more)


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("centre", ["none", "joint"])
def test_no_neighbour_moves_the_answer_more_than_its_event_says(d, centre):
    """All pairs of 40 directions on the sphere replace one row of two tables: 3,200 pairs, the exact map.

    The search reaches a tenth of the bound, so a bound ten times too small would be seen.
    """
    rng = np.random.default_rng(d)
    rel = privcov.release(dataset(d, 6), ZCDP(1.0), KEY, penalty=0.3, cap=1.0, centre=centre, random_state=0)
    declared = rel.events[0].sensitivity
    rows = rng.standard_normal((40, d))
    rows = np.vstack([np.eye(d), -np.eye(d), rows])
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    p, top, worst = d + (centre == "joint"), 1 / 0.3, 0.0
    for scale in (0.05, 1.0):
        fixed = scale * rng.standard_normal((5, d)) / math.sqrt(d)

        def answer(row, fixed=fixed):
            ds = Dataset.from_rows(np.vstack([fixed, row]), 1.0)
            return smoothed_lasso(unit_moment(ds, joint=centre == "joint"), 0.3, top, 1e-3, 1e-4)

        found = [answer(row) for row in rows[:40]]
        worst = max(worst, *(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(found, 2)))
    assert worst <= declared
    assert worst > 0.1 * declared
    assert declared == pytest.approx(1.02 * top**2 * unit_sensitivity(d, 6, joint=p > d), rel=1e-9)


@pytest.mark.parametrize("asked", [PureDP(2.0), ApproxDP(1.0, 1e-6), ZCDP(0.3)])
def test_the_sound_form_gives_what_was_asked(asked):
    rel = privcov.release(dataset(), asked, KEY, penalty=0.1, cap=0.5, random_state=0)
    assert accounting.covers(asked, rel.actual_guarantee)
    event = rel.events[0]
    assert event.mechanism == ("wishart-difference" if isinstance(asked, PureDP) else "gaussian")
    tau, n, joint = 0.5 / 0.1, 400, math.sqrt(4 if isinstance(asked, PureDP) else 1)
    assert event.sensitivity == pytest.approx(joint * 1.02 * math.sqrt(2) * tau**2 / n)
    assert "graphical lasso of mean and second moment, jointly" in rel.statement["Measured"]


def test_without_noise_the_joint_form_is_the_precision_about_the_mean():
    """The error of the penalty is nearly proportional to it, and below 12 % at 0.001."""
    x = np.random.default_rng(0).standard_normal((500, 2)) @ np.array([[1.0, 0.3], [0.0, 0.8]]) + [0.5, -1.0]
    x = x[np.linalg.norm(x, axis=1) < 3]
    want = np.linalg.inv(np.cov(x.T, bias=True))
    wrong = []
    for penalty in (4e-3, 2e-3, 1e-3):
        rel = privcov.release(Dataset.from_rows(x, 3.0), NoPrivacy(), KEY, penalty=penalty, cap=1.0, random_state=0)
        wrong.append(np.linalg.norm(rel.precision - want) / np.linalg.norm(want))
        np.testing.assert_allclose(rel.covariance, np.linalg.inv(rel.precision), rtol=1e-9)
    assert wrong[2] < 0.55 * wrong[1] < 0.55**2 * wrong[0] * 1.1
    assert wrong[2] < 0.12


def test_edges_that_noise_could_have_made_are_cut_and_the_rest_stays_definite():
    ds = dataset(6, 3000)
    sparse = privcov.release(ds, ZCDP(0.5), KEY, penalty=0.1, random_state=0)
    full = privcov.release(ds, ZCDP(0.5), KEY, penalty=0.1, threshold="none", random_state=0)
    off = ~np.eye(6, dtype=bool)
    assert (sparse.precision[off] == 0).any()
    assert (full.precision[off] != 0).all()
    for rel in (sparse, full):
        assert np.linalg.eigvalsh(rel.precision)[0] > 0


# --- as published -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 5])
def test_the_printed_noise(d):
    """C = d^2.5 / (n epsilon rho^2), d + 1 degrees of freedom, mean left in. The claim is false."""
    n, epsilon, rho = 400, 0.7, 0.2
    rel = privcov.release(
        dataset(d), PureDP(epsilon), KEY, calibration="as-published", penalty=rho, centre="none", random_state=0
    )
    event = rel.events[0]
    c = d**2.5 / (n * epsilon * rho**2)
    assert event.scale == pytest.approx(2 * c)
    assert event.freedom == 2
    assert event.law == f"m = {d + 1}"
    assert event.sensitivity == pytest.approx(math.sqrt(d) * 1.02 * math.sqrt(2) * (d / rho) ** 2 / n)
    assert rel.claim_is_false
    assert rel.actual_guarantee.delta == pytest.approx(-math.expm1(-1.02 * epsilon / math.sqrt(2)))
    assert rel.statement["Guarantee"].endswith("is false")
    assert f"{(d + 1) * c:.4g} / R^2" in rel.notes[1]
    clean = privcov.release(
        dataset(d), NoPrivacy(), KEY, calibration="as-published", penalty=rho, centre="none", random_state=0
    )
    noise = rel.precision - clean.precision
    assert np.linalg.eigvalsh(noise)[0] > 0  # what rules out neighbours


def test_the_published_lasso_is_not_capped():
    """tau = d / rho is idle: the answer without noise is that of the graphical lasso with every entry penalised."""
    from privcov.measurements.moment import clipped_moment
    from privcov.postprocess.glasso import solve_path

    ds, rho = dataset(4), 0.05
    rel = privcov.release(ds, NoPrivacy(), KEY, calibration="as-published", penalty=rho, centre="none", random_state=0)
    want = solve_path(clipped_moment(ds, n_anchors=0), [rho], penalise_diagonal=True)[0].precision / 4
    assert np.linalg.norm(rel.precision - want) < 5e-3 * np.linalg.norm(want)


def test_the_total_variation_of_shifted_wishart_noise_stays_below_its_bound():
    """d = 2, indefinite change G, 200,000 draws: the share of W outside W >= G+ is exactly 1 - exp(-tr G+ / 2C), and
    the set {B not >= A'} alone already has more than zero probability. Deviation of a share: 0.0011."""
    distribution = NoiseDistribution("wishart", 1.0, 2, freedom=2.0)  # C = 1/2
    rng = np.random.default_rng(5)
    g = np.array([[0.6, 0.5], [0.5, -0.3]])
    values, vectors = np.linalg.eigh(g)
    plus = (vectors * np.maximum(values, 0)) @ vectors.T
    z = rng.standard_normal((200_000, 2, 3))
    w = z @ z.transpose(0, 2, 1) / 2
    assert w.mean(axis=0) == pytest.approx(distribution.removed_mean * np.eye(2), abs=0.02)

    def outside(change):
        return float(np.mean(np.linalg.eigvalsh(w - change)[:, 0] < 0))

    assert outside(plus) == pytest.approx(-math.expm1(-np.trace(plus)), abs=0.005)
    # p / q is the constant e^(-tr G) where both have mass, so for tr G > 0 the total variation is that of {W not >= G}.
    assert np.trace(g) > 0
    variation = outside(g)
    assert 0.05 < variation <= -math.expm1(-np.trace(plus))


def test_the_published_form_is_printed_for_pure_dp_only():
    with pytest.raises(ValueError, match="printed for Pure DP"):
        privcov.release(dataset(), ZCDP(1.0), KEY, calibration="as-published", random_state=0)
    with pytest.raises(ValueError, match="is calibrated for replace-one"):
        privcov.release(dataset(), ZCDP(1.0), KEY, neighbours="add-remove", random_state=0)


@pytest.mark.parametrize("lam", [0.02, 0.1])
@pytest.mark.parametrize("d", [2, 5, 9])
def test_without_a_cap_the_printed_sensitivity_holds_up_to_root_2(d, lam):
    """Diagonal penalised, S >= 0: |T| <= d / lam, and |T - T'|_F <= |T| |T'| |S - S'|_F <= sqrt(2) d^2 / (n lam^2)."""
    n, rng = 20, np.random.default_rng(d)
    rows = rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * np.eye(d, k=1)) + 0.5 * rng.standard_normal((n, 1))
    rows /= np.linalg.norm(rows, axis=1).max()
    s = rows.T @ rows / n
    one = solve_admm(s, lam, penalise_diagonal=True, tol=1e-12).precision
    for _ in range(40):
        other = rows.copy()
        row = rng.standard_normal(d)
        other[0] = row / np.linalg.norm(row)
        two = solve_admm(other.T @ other / n, lam, penalise_diagonal=True, tol=1e-12).precision
        a, b = np.linalg.norm(one, 2), np.linalg.norm(two, 2)
        moved, change = np.linalg.norm(one - two), np.linalg.norm(other.T @ other / n - s)
        assert max(a, b) <= d / lam * (1 + 1e-9)
        assert lam * np.abs(two).sum() == pytest.approx(d - np.sum(other.T @ other / n * two), abs=1e-4 * d)
        # 2e-6 sqrt(d): what a gap of 1e-12 per variable leaves, by strong convexity at this norm
        assert moved <= a * b * change + 3e-6 * np.sqrt(d) * max(a, b)
        assert moved <= np.sqrt(2) * d**2 / (n * lam**2)
