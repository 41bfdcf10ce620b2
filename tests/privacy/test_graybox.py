"""Methods in several steps, replayed along the same answers on neighbouring tables: graybox.py says what that shows."""

import dataclasses
import functools
import math

import numpy as np
import pytest

import privcov
from privcov.core import accounting
from privcov.estimators import auto_cov, base
from privcov.estimators.papers import adaptive_cov, em_cov, separate_cov
from privcov.measurements import eigenvalues, exponential_vectors, moment, norm_histogram, sparse_vector, whitened
from privcov.measurements.moment import clipped_moment
from privcov.tables.dataset import Dataset
from tests.privacy import graybox, laws

PURE, APPROX, CONCENTRATED = privcov.PureDP(1.0), privcov.ApproxDP(1.0, 1e-5), privcov.ZCDP(0.5)
# name -> (method, options, guarantees, relations)
ONE, ALL = ("replace-one",), ("replace-one", "add-remove")
METHODS = {
    "separate-cov": ("separate-cov", {}, (PURE, APPROX, CONCENTRATED), ONE),
    "adaptive-cov": ("adaptive-cov", {"radius": "private"}, (PURE, APPROX, CONCENTRATED), ONE),
    "adaptive-cov, separate": ("adaptive-cov", {"discount": 20.0}, (PURE, CONCENTRATED), ONE),
    "em-cov": ("em-cov", {"budgets": "adaptive"}, (PURE, APPROX, CONCENTRATED), ONE),
    "coinpress": ("coinpress", {"steps": 3}, (APPROX, CONCENTRATED), ONE),
    "auto-cov": ("auto-cov", {}, (PURE, APPROX, CONCENTRATED), ALL),
    "auto-precision": ("auto-precision", {}, (PURE, APPROX, CONCENTRATED), ALL),
}
CASES = [(name, g, r) for name, (_, _, guarantees, relations) in METHODS.items() for g in guarantees for r in relations]
FACTORS = (1.0, 0.0, 4.0)


def people(d: int, rng: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray]]:
    """A person's row in either table: directions and lengths at which the steps change most, the bound being 1."""
    axis, other = np.eye(d)[0], np.eye(d)[-1]
    flat, signs = np.ones(d) / math.sqrt(d), np.where(np.arange(d) % 2, 1.0, -1.0) / math.sqrt(d)
    u, v = np.linalg.qr(rng.standard_normal((d, d)))[0][:2] if d > 1 else (axis, -axis)
    turned = -0.5 * axis + math.sqrt(0.75) * other
    short = 2.0 ** -rng.integers(1, 8)
    return [
        (axis, other),
        (axis, -axis),
        (axis, turned),
        (flat, signs),
        (u, v),
        (30 * u, 1e100 * v),
        (axis, 0 * axis),
        (short * axis, short / 2 * axis),
        (short * (1 + 2**-40) * axis, 0 * axis),
        (rng.standard_normal(d), rng.standard_normal(d) / 9),
    ]


def others(d: int, rng: np.random.Generator) -> np.ndarray:
    """Everybody else's rows."""
    count = int(rng.integers(1, 9))
    kind = rng.integers(5)
    if kind == 0:
        return np.zeros((count * 300, d))  # so many that whitened rows are longer than CoinPress clips them
    if kind == 1:
        return np.repeat(rng.standard_normal((1, d)), count, axis=0)
    if kind == 2:
        return rng.standard_normal((count, d)) * 10.0 ** rng.uniform(-3, 1, (count, 1))
    if kind == 3:
        return np.eye(d)[rng.integers(d, size=count)] * 2.0 ** -rng.integers(0, 5, (count, 1))
    return np.diag(np.geomspace(1, 0.01, d))


def tables(rest: np.ndarray, row: np.ndarray, instead: np.ndarray, relation: str) -> tuple[Dataset, Dataset]:
    """The two neighbours."""
    second = [rest, instead[None]] if relation == "replace-one" else [rest, 0 * row[None]]
    rows = np.vstack([rest, row[None]]), rest if relation == "add-remove" else np.vstack(second)
    one, two = (Dataset.from_rows(r, 1.0, provenance="simulated") for r in rows)
    return one, two


def histories(name: str, guarantee, relation: str, patch, *, seeds, sizes=(2,)):
    """Every pair, in both orders, along a history of its own."""
    key, options, *_ = METHODS[name]
    # The search is for ten columns or more; the counts and the rule are the same with two.
    patch.setattr(auto_cov, "FEWEST_COLUMNS", 2)
    patch.setattr(norm_histogram, "noise_in_rows", lambda share, d: 12 * norms_noise(guarantee, relation))
    for seed in seeds:
        rng = np.random.default_rng(seed)
        for i, (row, instead) in enumerate(people(d := int(rng.choice(sizes)), rng)):
            pair = tables(others(d, rng), row, instead, relation)
            pair = pair if (i + seed) % 2 else pair[::-1]
            yield graybox.replay(
                key,
                options,
                pair,
                guarantee,
                patch,
                relation=relation,
                seed=100 * seed + i,
                factor=FACTORS[(i + seed) % 3],
                centre=("joint", "none")[(i + seed) % 4 == 0],
            )


def norms_noise(guarantee, relation: str) -> float:
    return norm_histogram.norm_noise(
        accounting.split(guarantee, a=norm_histogram.SEARCH_SHARE, b=1 - norm_histogram.SEARCH_SHARE)["a"], relation
    )


def worst_of(found) -> dict[str, float]:
    """Largest loss over claim of each step."""
    most: dict[str, float] = {}
    for one in found:
        for what, ratio in one.ratios:
            most[what] = max(most.get(what, 0.0), ratio)
    return most


# The queries of either sparse vector all move the same way when a row gets longer, so no pair costs more than this.
MOST = {"radius": 0.75, "threshold": 0.5}


@pytest.mark.parametrize(("name", "guarantee", "relation"), CASES, ids=str)
def test_no_step_costs_more_than_its_event_says(name, guarantee, relation, monkeypatch):
    """10 pairs with two columns, a history each. Each seed is another set of pairs, rows of others and histories."""
    most = worst_of(histories(name, guarantee, relation, monkeypatch, seeds=[1]))
    assert max(most.values()) > 0.85, "the pairs that attain the sensitivities are gone"


@pytest.mark.deep
@pytest.mark.parametrize(("name", "guarantee", "relation"), CASES, ids=str)
def test_no_step_costs_more_in_a_long_search(name, guarantee, relation, monkeypatch):
    """200 pairs with one to three columns."""
    most = worst_of(histories(name, guarantee, relation, monkeypatch, seeds=range(20), sizes=(1, 2, 3)))
    assert max(most.values()) > 0.9
    for what in MOST.keys() & most.keys():
        assert most[what] <= MOST[what] + 1e-6


def caught(name: str, guarantee, patch, match: str, relation: str = "replace-one", seeds=range(3), sizes=(2,)) -> None:
    """The checker speaks up on one of the histories."""
    with pytest.raises(AssertionError, match=match):
        for _ in histories(name, guarantee, relation, patch, seeds=seeds, sizes=sizes):
            pass


# --- mutants: a sensitivity that is too small ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "guarantee", "relation", "module", "function"),
    [
        ("separate-cov", CONCENTRATED, "replace-one", eigenvalues, "sensitivity"),
        ("separate-cov", PURE, "replace-one", eigenvalues, "sensitivity"),
        ("separate-cov", CONCENTRATED, "replace-one", separate_cov, "moment"),
        ("adaptive-cov", CONCENTRATED, "replace-one", eigenvalues, "rounded_up"),
        ("adaptive-cov", PURE, "replace-one", moment, "sensitivity"),
        ("em-cov", CONCENTRATED, "replace-one", exponential_vectors, "score_sensitivity"),
        ("em-cov", PURE, "replace-one", exponential_vectors, "score_sensitivity"),
        ("coinpress", CONCENTRATED, "replace-one", whitened, "sensitivity"),
        ("auto-cov", PURE, "add-remove", norm_histogram, "rounded_up"),
        ("auto-cov", CONCENTRATED, "add-remove", norm_histogram, "rounded_up"),
        ("auto-cov", PURE, "replace-one", moment, "sensitivity"),
        *[("auto-precision", g, r, moment, "sensitivity") for g in (PURE, CONCENTRATED) for r in ALL],
    ],
    ids=lambda v: getattr(v, "__name__", str(v)).split(".")[-1],
)
def test_half_a_sensitivity(name, guarantee, relation, module, function, monkeypatch):
    """The noise and the event both follow the smaller number, so that only the change itself can tell."""
    if function == "moment":
        module, function = moment, "sensitivity"
    honest = getattr(module, function)
    monkeypatch.setattr(module, function, lambda *a, **k: honest(*a, **k) / 2)
    caught(name, guarantee, monkeypatch, "of what its event says", relation)


@pytest.mark.parametrize(("share", "part"), [("radius", 2), ("threshold", 3)])
@pytest.mark.parametrize("told", [True, False])
def test_too_little_noise_in_the_sparse_vector(share, part, told, monkeypatch):
    """Less noise on queries and threshold. told: the event has the smaller scale, so that composition sees it."""
    honest = sparse_vector.first_above
    if told:
        small = type("Small", (), {"laplace_scale": staticmethod(lambda g, s: accounting.laplace_scale(g, s) / part)})
        monkeypatch.setattr(sparse_vector, "accounting", small)
        caught("adaptive-cov", PURE, monkeypatch, "exceed it")
        return
    which = {"radius": "measure_radius", "threshold": "measure_threshold"}[share]
    real = graybox.CHOSEN[which]

    @functools.wraps(real)
    def measure(*args, **how):
        with monkeypatch.context() as inner:
            now = sparse_vector.first_above  # the recorder's
            inner.setattr(sparse_vector, "first_above", lambda q, s, rng: now(q, s / part, rng))
            return real(*args, **how)

    assert honest is sparse_vector.first_above
    monkeypatch.setitem(graybox.CHOSEN, which, measure)
    caught("adaptive-cov", PURE, monkeypatch, "of what its event says")


def test_a_smaller_relation_than_was_asked_for(monkeypatch):
    honest = moment.sensitivity
    monkeypatch.setattr(moment, "sensitivity", lambda *a, **k: honest(*a, **{**k, "relation": "add-remove"}) / a[1])
    caught("auto-cov", CONCENTRATED, monkeypatch, "of what its event says")


# --- mutants: rows where only answers may be -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "place", "function"),
    [
        ("adaptive-cov", adaptive_cov.AdaptiveCov, "_expect"),
        ("em-cov", em_cov.EMCov, "_weights"),
        ("auto-cov", base.MeasurementRequest, "measure"),
        ("auto-precision", auto_cov.AutoCov, "run"),
    ],
)
def test_rows_read_between_two_steps(name, place, function, monkeypatch):
    """With or without an earlier step having left its moment behind."""
    if name == "auto-precision":
        place, function = graybox.importlib.import_module("privcov.estimators.auto_precision").AutoPrecision, "measure"
    honest, seen = getattr(place, function), []

    def curious(*args, **how):
        asks = [a for a in args if hasattr(a, "dataset")]
        seen.extend(a.dataset for a in asks)
        clipped_moment(seen[-1], n_anchors=0)
        return honest(*args, **how)

    monkeypatch.setattr(place, function, curious)
    if name == "em-cov":  # its weights are not handed the data set; a run that is curious hands it on
        run = em_cov.EMCov.run
        monkeypatch.setattr(em_cov.EMCov, "run", lambda self, ask: (seen.append(ask.dataset), run(self, ask))[1])
    caught(name, CONCENTRATED, monkeypatch, "read outside a measurement")


def leaking(which: str, take, patch) -> list:
    """A measurement that leaves its exact statistic behind, for a later step that knows where. The list holds it."""
    left, real = [], graybox.ADDITIVE[which]

    @functools.wraps(real)
    def measure(*args, rng, **how):
        left[:] = [take(real(*args, rng=graybox.Scripted(np.zeros(0)), **how))]
        return real(*args, rng=rng, **how)

    patch.setitem(graybox.ADDITIVE, which, measure)
    return left


def test_a_bound_by_the_exact_counts(monkeypatch):
    left, honest = leaking("measure_norms", lambda answer: answer[0], monkeypatch), norm_histogram.halvings
    curious = lambda counts, std, n, noise, **how: honest(left[0], 1e-9, None, 1e-9, **how)  # noqa: E731
    monkeypatch.setattr(norm_histogram, "halvings", curious)
    caught("auto-cov", CONCENTRATED, monkeypatch, "depends on the rows")


def test_exact_eigenvalues_given_out(monkeypatch):
    left = leaking("measure_eigenvalues", lambda answer: answer.values, monkeypatch)
    monkeypatch.setattr(separate_cov, "tidy", lambda values, ceiling: left[0])
    caught("separate-cov", CONCENTRATED, monkeypatch, "comes out depends on the rows")


@pytest.mark.parametrize(
    ("name", "which"),
    [("adaptive-cov", "measure_trace"), ("auto-cov", "measure_norms"), ("separate-cov", "measure_eigenvalues")],
)
def test_a_step_without_noise(name, which, monkeypatch):
    """Its event and its way are those of the sound step."""
    real = graybox.ADDITIVE[which]

    @functools.wraps(real)
    def still(*args, rng, **how):
        return real(*args, rng=graybox.Scripted(np.zeros(0)), **how)

    monkeypatch.setitem(graybox.ADDITIVE, which, still)
    caught(name, CONCENTRATED, monkeypatch, "costs inf")


def test_the_number_of_rows_given_out(monkeypatch):
    honest = auto_cov.AutoCov.run

    def told(self, ask):
        found = honest(self, ask)
        return dataclasses.replace(found, notes=(*found.notes, f"{ask.dataset.n} rows"))

    monkeypatch.setattr(auto_cov.AutoCov, "run", told)
    caught("auto-cov", CONCENTRATED, monkeypatch, "comes out depends on the rows", "add-remove")
    for _ in histories("auto-cov", CONCENTRATED, "replace-one", monkeypatch, seeds=[1]):
        pass  # there it is public


# --- mutants: clipping, composition, statement ----------------------------------------------------------------


@pytest.mark.parametrize(("name", "guarantee"), [("adaptive-cov", CONCENTRATED), ("auto-cov", PURE)])
def test_no_clipping_after_the_search(name, guarantee, monkeypatch):
    monkeypatch.setattr(moment, "clip_rows", lambda rows, bound, copy=True: np.clip(rows, -1.0, 1.0))
    caught(name, guarantee, monkeypatch, "of what its event says")


@pytest.mark.parametrize("guarantee", [PURE, APPROX, CONCENTRATED], ids=str)
def test_the_whole_guarantee_for_either_step(guarantee, monkeypatch):
    honest = accounting.split
    monkeypatch.setattr(accounting, "split", lambda g, **parts: {name: honest(g, all=1)["all"] for name in parts})
    caught("separate-cov", guarantee, monkeypatch, "exceed it")


def test_a_step_left_out_of_the_statement(monkeypatch):
    honest = adaptive_cov._in_units_of_r
    drop = lambda event, size: None if event and event.share == "trace" else honest(event, size)  # noqa: E731
    monkeypatch.setattr(adaptive_cov, "_in_units_of_r", drop)
    caught("adaptive-cov", CONCENTRATED, monkeypatch, "leaves out a step")


# --- the laws that the checker computes with -------------------------------------------------------------------


def test_the_loss_of_linear_noise():
    change = np.array([3.0, 4.0])
    assert laws.linear_loss(change, 2 * np.eye(2), "normal") == pytest.approx(2.5)
    assert laws.linear_loss(change, 2 * np.eye(2), "laplace") == pytest.approx(3.5)
    assert laws.linear_loss(change, np.array([[1.0], [0.0]]), "normal") == math.inf
    assert laws.linear_loss(0 * change, np.zeros((2, 0)), "normal") == 0
    # Three deviates less their mean: what changes by (1, -1, 0) is explained best by moving two of them.
    centred = np.eye(3) - 1 / 3
    assert laws.linear_loss(np.array([1.0, -1.0, 0.0]), centred, "laplace") == pytest.approx(2)
    assert laws.linear_loss(np.array([1.0, 1.0, -2.0]), centred, "laplace") == pytest.approx(3)


def test_the_probabilities_of_the_sparse_vector():
    """Against 40,000 runs of the function itself; four standard errors of the largest are 0.01."""
    queries = np.array([-3.0, -1.0, 0.5, 0.0, 2.0])
    scale = 0.4
    noise = scale * laws.vector_noise(sparse_vector.first_above, scale)
    np.testing.assert_allclose(noise, [2 * scale, 4 * scale])
    expected = laws.vector_probabilities(queries, *noise)
    rng = np.random.default_rng(1)
    drawn = [sparse_vector.first_above(queries, scale, rng) for _ in range(40_000)]
    share = np.bincount([5 if k is None else k for k in drawn], minlength=6) / len(drawn)
    np.testing.assert_allclose(share, expected, atol=0.01)
    # Two queries: half of P(first stays below) is known when all deviates are alike.
    assert laws.vector_probabilities(np.zeros(1), 1.0, 1.0) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("q", [1, 2, 3, 4])
@pytest.mark.parametrize("a", [0.5, 20.0, 300.0])
def test_the_constant_of_the_exponential_mechanism(q, a):
    """One eigenvalue that differs gives Kummer's function."""
    from scipy.special import hyp1f1

    form = np.zeros(q)
    form[-1] = a
    assert laws.log_bingham(form - 7) - 7 == pytest.approx(np.log(hyp1f1(0.5, q / 2, -a)), abs=1e-9)
