"""What every registered method promises, whatever it does inside. A new method is tested from its first day.

A case is (method, kind of guarantee, centre). Data are small; tolerances are rounding unless a line says
otherwise.
"""

import dataclasses
import itertools
import json
import re
from fractions import Fraction

import numpy as np
import pytest

import privcov
from privcov.core import accounting
from privcov.core.guarantees import KINDS, LOCAL, PURE_MECHANISMS, REPLACE_ONE, ApproxDP, NoPrivacy, PureDP
from privcov.core.parameters import specs
from privcov.estimators.base import METHODS, Method
from privcov.measurements.moment import CENTRES
from privcov.releases.public import TUNINGS, build_method
from privcov.releases.public import release as plain_release
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset
from tests.test_release_text import signed

USUAL = {"pure": PureDP(2.0), "approx": ApproxDP(1.0, 1e-6), "zcdp": privcov.ZCDP(0.3)}
ENORMOUS = {"pure": PureDP(1e12), "approx": ApproxDP(1e4, 1e-6), "zcdp": privcov.ZCDP(1e24)}
KEYS = [card.key for card in METHODS.all()]
CASES = [(c.key, g.kind, centre) for c in METHODS.all() for g in c.guarantees for centre in CENTRES]
# The whitened rows of coinpress are clipped once more, also without noise.
CLIPS_AGAIN = ("coinpress",)
MATRICES = ("covariance", "precision", "second_moment")


def variants(key: str) -> list[dict]:
    """The defaults, then each parameter alone at each choice or at the ends of its range."""
    out = [{}]
    for spec in METHODS.get(key).parameters:
        ends = (spec.low, spec.high) if not spec.choices else spec.choices
        out += [{spec.name: value} for value in ends if value != spec.default]
    return out


VARIANTS = [(key, own) for key in KEYS for own in variants(key)]


def rows(n: int = 800, d: int = 4, seed: int = 0) -> np.ndarray:
    """Correlated rows with a mean that is not zero; some are longer than R = 3."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ (np.eye(d) + 0.4 * rng.random((d, d))) + 0.3


def data(x: np.ndarray, centre: str = "joint", row_bound: float = 3.0, **more) -> Dataset:
    return Dataset.from_rows(x, row_bound, mean_is_zero=centre == "zero", **more)


def release(key: str, dataset: Dataset, asked, **options) -> Release:
    """`privcov.release`; a method that has no sound form is asked for its published one."""
    options.setdefault("calibration", METHODS.get(key).default_calibration)
    options.setdefault("random_state", 0)
    return plain_release(dataset, asked, key, **options)


def arrays_of(rel: Release) -> dict[str, np.ndarray]:
    found = {name: vars(rel)[name] for name in (*MATRICES, "mean")}
    if rel.noisy_moment is not None:
        found["noisy_moment"] = rel.noisy_moment.matrix
    for i, fit in enumerate(rel.path or ()):
        found[f"path {i}"] = fit.precision
    return {name: a for name, a in found.items() if a is not None}


def assert_close(one: Release, two: Release, rtol: float) -> None:
    """Equal arrays up to ``rtol`` of the largest entry."""
    a, b = arrays_of(one), arrays_of(two)
    assert a.keys() == b.keys()
    for name in a:
        np.testing.assert_allclose(
            a[name], b[name], rtol=0, atol=rtol * max(np.abs(a[name]).max(), 1e-300), err_msg=name
        )


# --- spending -----------------------------------------------------------------------------------------------


def assert_within(rel: Release, asked) -> None:
    """Compose the events here, in exact arithmetic where there is any; no tolerance."""
    if not rel.is_sound:  # a published claim may be false; the method's own tests say what is true
        assert rel.actual_guarantee is not None
        return
    ratio = [(e.mechanism, Fraction(e.sensitivity) / Fraction(e.scale)) for e in rel.events]
    pure = sum((r for m, r in ratio if m in PURE_MECHANISMS), Fraction(0))
    mu2 = sum((r * r for m, r in ratio if m == "gaussian"), Fraction(0))
    rho = sum((r * r / (8 if m == "exponential" else 2) for m, r in ratio), Fraction(0))
    if asked.kind == "pure":
        assert mu2 == 0
        assert pure <= Fraction(asked.epsilon)
    elif asked.kind == "zcdp":
        assert rho <= Fraction(asked.rho)
    elif mu2 and pure:  # one of the two readings that accounting.compose offers
        left = float(Fraction(asked.epsilon) - pure)
        first = left > 0 and mu2 <= Fraction(accounting.mu_of_curve(left, asked.delta)) ** 2
        assert first or rho <= Fraction(accounting.approx_to_zcdp(asked.epsilon, asked.delta))
    elif pure > Fraction(asked.epsilon):
        assert rho <= Fraction(accounting.approx_to_zcdp(asked.epsilon, asked.delta))
    else:
        assert pure <= Fraction(asked.epsilon)
        left = float(Fraction(asked.epsilon) - pure)
        assert mu2 == 0 or mu2 <= Fraction(accounting.mu_of_curve(left, asked.delta)) ** 2
    assert accounting.covers(asked, rel.actual_guarantee)


def grid(kind: str, size: int, seed: int = 0) -> list:
    """Guarantees of one kind over many orders of magnitude; drawn, because round numbers hide faults."""
    rng = np.random.default_rng(seed)
    eps, rho = 10 ** rng.uniform(-4, 3.5, size), 10 ** rng.uniform(-7, 3, size)
    delta = 10 ** rng.uniform(-15, -0.3, size)
    return {
        "pure": [PureDP(float(e)) for e in eps],
        "approx": [ApproxDP(float(e), float(p)) for e, p in zip(eps, delta, strict=True)],
        "zcdp": [privcov.ZCDP(float(r)) for r in rho],
    }[kind]


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_events_stay_within_the_guarantee(key, kind, centre):
    ds = data(rows(), centre)
    made = 0
    for asked in [USUAL[kind], *grid(kind, 8)]:
        try:
            rel = release(key, ds, asked, centre=centre)
        except ValueError:  # a method may say that so much noise leaves nothing
            continue
        assert_within(rel, asked)
        assert rel.guarantee == asked
        made += 1
    assert made >= 5


@pytest.mark.parametrize("kind", ["approx", "zcdp", "pure"])
def test_no_guarantee_is_refused_by_rounding(kind):
    """1,500 drawn guarantees under the cheapest method: rounding must never make a release impossible."""
    ds = data(rows(5, 2))
    for asked in grid(kind, 1500, seed=1):
        assert_within(release("diagonal", ds, asked), asked)


@pytest.mark.parametrize(("key", "own"), VARIANTS)
def test_every_choice_of_every_parameter_keeps_the_guarantee(key, own):
    for guarantee in METHODS.get(key).guarantees:
        asked = USUAL[guarantee.kind]
        rel = release(key, data(rows()), asked, **own)
        assert_within(rel, asked)
        assert rel.parameters.items() >= own.items()
        assert_sane(rel)


@pytest.mark.parametrize(("key", "kind"), [(k, kind) for k, kind, centre in CASES if centre == "joint"])
def test_a_method_that_spends_more_is_refused(key, kind, monkeypatch):
    """Halve the noise it reports, or let it measure without an event: no release may come out."""
    ds, asked = data(rows()), USUAL[kind]
    cls = METHODS.get(key).cls
    honest = cls.run
    first = release(key, ds, asked)
    release_has_raw = first.noisy_moment is not None
    if not first.events or not first.is_sound:
        pytest.skip("measures nothing, or claims what was published")

    def with_event(change):
        def run(self, ask):
            outcome = honest(self, ask)
            if outcome.noisy_moment is None:  # no single matrix: the last step answers for all
                return dataclasses.replace(outcome, steps=(*outcome.steps[:-1], change(outcome.steps[-1])))
            measured = dataclasses.replace(outcome.noisy_moment, event=change(outcome.noisy_moment.event))
            return dataclasses.replace(outcome, noisy_moment=measured)

        return run

    monkeypatch.setattr(cls, "run", with_event(lambda e: dataclasses.replace(e, scale=e.scale / 2)))
    with pytest.raises(RuntimeError, match="no release was made"):
        release(key, ds, asked)
    if release_has_raw:
        monkeypatch.setattr(cls, "run", with_event(lambda e: None))
        with pytest.raises(RuntimeError, match="no release was made"):
            release(key, ds, asked)
    monkeypatch.setattr(cls, "run", with_event(lambda e: e))
    release(key, ds, asked)


def test_half_the_noise_of_a_calibration_is_refused(monkeypatch):
    whole = accounting.gaussian_scale
    monkeypatch.setattr(accounting, "gaussian_scale", lambda share, delta: whole(share, delta) / 2)
    with pytest.raises(RuntimeError, match="auto-cov spent"):
        release("auto-cov", data(rows()), USUAL["zcdp"])


# --- what depends on what -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_same_seed_same_release_and_input_untouched(key, kind, centre):
    x = rows()
    before, ds = x.copy(), data(x, centre)
    one = release(key, ds, USUAL[kind], random_state=5, centre=centre)
    assert one.to_json() == release(key, data(x, centre), USUAL[kind], random_state=5, centre=centre).to_json()
    if one.events:
        other = release(key, ds, USUAL[kind], random_state=6, centre=centre)
        drawn = [r.matrix if r.noisy_moment is None else r.noisy_moment.matrix for r in (one, other)]
        assert (drawn[0] != drawn[1]).any()
    np.testing.assert_array_equal(x, before)
    np.testing.assert_array_equal(ds.rows, before)


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_order_of_rows_and_length_beyond_the_bound_do_not_matter(key, kind, centre):
    x = rows()
    want = release(key, data(x, centre), USUAL[kind], centre=centre)
    # 1e-6: the graphical lasso stops at a tolerance, which hardly moves when its input moves by rounding.
    rtol = 1e-6 if want.target == "precision" else 1e-12
    assert_close(want, release(key, data(x[::-1], centre), USUAL[kind], centre=centre), rtol)
    norms = np.linalg.norm(x, axis=1)
    assert 0.05 < np.mean(norms > 3) < 0.95
    clipped = x * np.minimum(1, 3 / norms)[:, None]
    assert_close(want, release(key, data(clipped, centre), USUAL[kind], centre=centre), rtol)
    longer = np.where((norms > 3)[:, None], 1000 * x, x)
    assert_close(want, release(key, data(longer, centre), USUAL[kind], centre=centre), rtol)


@pytest.mark.parametrize("key", KEYS)
def test_values_beyond_the_column_bounds_do_not_matter(key):
    x, bounds = rows(), [(-1.0, 1.5)] * 4
    assert (x > 1.5).any()
    assert (x < -1).any()
    asked = USUAL[METHODS.get(key).guarantees[0].kind]
    want = release(key, data(x, bounds=bounds), asked)
    assert_close(want, release(key, data(np.clip(x, -1, 1.5), bounds=bounds), asked), 1e-9)


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_the_noise_draw_stays_while_only_epsilon_moves(key, kind, centre):
    ds = data(rows(), centre)
    clean = release(key, ds, NoPrivacy(), centre=centre)
    if clean.noisy_moment is None or (clean.noisy_moment.distribution.shape == "wishart" and kind == "approx"):
        pytest.skip("measures nothing, or epsilon moves the degrees of freedom and not the scale")
    strong = {"pure": PureDP(4.0), "approx": ApproxDP(3.0, 1e-7), "zcdp": privcov.ZCDP(0.9)}[kind]
    unit = []
    for asked in (USUAL[kind], strong):
        rel = release(key, ds, asked, random_state=3, centre=centre)
        unit.append((rel.noisy_moment.matrix - clean.noisy_moment.matrix) / rel.noisy_moment.distribution.scale)
    assert np.abs(unit[0]).max() > 0.1
    np.testing.assert_allclose(unit[0], unit[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("key", KEYS)
def test_units_of_columns_only_change_the_units_of_the_answer(key):
    x, bounds = rows(), np.array([[-2.0, 3.0]] * 4)
    scale, shift = np.array([1.0, 1e3, 1e-3, 7.0]), np.array([0.0, 5.0, -0.1, 100.0])
    asked = USUAL[METHODS.get(key).guarantees[0].kind]
    one = release(key, data(x, bounds=bounds, row_bound=1.5), asked)
    moved = data(x * scale + shift, bounds=bounds * scale[:, None] + shift[:, None], row_bound=1.5)
    two = release(key, moved, asked)
    outer = np.outer(scale, scale)
    for name in {"covariance", "second_moment"} & {*one.matrices}:
        np.testing.assert_allclose(getattr(two, name) / outer, getattr(one, name), rtol=1e-6, atol=1e-9)
    if "precision" in one.matrices:
        np.testing.assert_allclose(two.precision * outer, one.precision, rtol=1e-5, atol=1e-5)
    if one.mean is not None:
        np.testing.assert_allclose((two.mean - shift) / scale, one.mean, rtol=0, atol=1e-9)


# --- what comes out -----------------------------------------------------------------------------------------


def assert_sane(rel: Release) -> None:
    """Symmetric, finite, float64, positive semi-definite where a repair promises it."""
    for name, a in arrays_of(rel).items():
        assert a.dtype == np.float64, name
        assert np.isfinite(a).all(), name
        if a.ndim == 2:
            np.testing.assert_allclose(a, a.T, rtol=0, atol=1e-12 * np.abs(a).max(), err_msg=name)
    if METHODS.get(rel.method).standing == "historical" or rel.parameters.get("repair") == "none":
        return
    for name in rel.matrices:
        # A covariance is a difference: its rounding is that of the second moment.
        rounded = {name, "second_moment"} & {*rel.matrices} - ({"second_moment"} if name == "precision" else set())
        size = max(np.abs(getattr(rel, other)).max() for other in rounded)
        assert np.linalg.eigvalsh(getattr(rel, name))[0] >= -1e-10 * size, name


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_matrices_are_sane_and_hang_together(key, kind, centre):
    ds = data(rows(), centre, bounds=[(-2, 3), (-3, 3), (-2, 5), (-4, 4)] if centre != "zero" else None)
    for seed in range(3):
        rel = release(key, ds, USUAL[kind], random_state=seed, centre=centre)
        assert_sane(rel)
        assert rel.matrix is not None
        assert rel.target == (
            "precision"
            if METHODS.get(key).target == "precision"
            else "second moment"
            if centre == "none"
            else "covariance"
        )
        if centre == "none":
            assert rel.mean is None
            assert "covariance" not in rel.matrices
        if centre == "joint" and "second_moment" in rel.matrices:
            mean = rel.mean - rel.origin
            want = rel.second_moment - np.outer(mean, mean)
            # A covariance of zero is still a difference of second moments, with their rounding.
            rounding = 1e-14 * np.abs(rel.second_moment).max() + 1e-15
            np.testing.assert_allclose(rel.covariance, want, rtol=0, atol=1e-12 * np.abs(want).max() + rounding)


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_with_an_enormous_epsilon_the_noise_is_gone(key, kind, centre):
    x = rows()
    ds = data(x, centre)
    clean = release(key, ds, NoPrivacy(), centre=centre)
    rel = release(key, ds, ENORMOUS[kind], centre=centre)
    others = [e.scale for e in rel.events if e.mechanism != "exponential"]
    scale = rel.noisy_moment.distribution.scale if rel.noisy_moment is not None else max([0.0, *others])
    for name, a in arrays_of(clean).items():
        # 16 entries, each beyond 6 deviations once in 5e8; R^2 = 9 turns units; a precision is less steady.
        loose = 2000 if name == "precision" or "path" in name else 100
        # A drawn direction leans by sqrt(2 scale / gap) towards another, which moves an entry by sqrt(2 scale gap).
        angles = [9 * 6 * np.sqrt(2 * e.scale) for e in rel.events if e.mechanism == "exponential"]
        rest = max([1e-9, *angles])
        np.testing.assert_allclose(arrays_of(rel)[name], a, rtol=0, atol=9 * loose * scale + rest, err_msg=name)
    if key in CLIPS_AGAIN:
        return
    if METHODS.get(key).target != "covariance" or METHODS.get(key).standing != "proved":
        return
    clipped = x * np.minimum(1, 3 / np.linalg.norm(x, axis=1))[:, None]
    want = np.cov(clipped.T, bias=True) if centre == "joint" else clipped.T @ clipped / len(x)
    np.testing.assert_allclose(clean.matrix, want, rtol=0, atol=1e-12)
    if centre == "joint":
        np.testing.assert_allclose(clean.mean, clipped.mean(axis=0), rtol=0, atol=1e-12)


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_json_there_and_back(key, kind, centre):
    def no_constant(name):
        raise AssertionError(f"{name} is not JSON")

    for asked in (USUAL[kind], NoPrivacy()):
        rel = release(key, data(rows(d=3), centre), asked, centre=centre)
        text = rel.to_json()
        json.loads(text, parse_constant=no_constant)
        back = Release.from_json(text)
        assert back.to_json() == text
        for name, a in arrays_of(rel).items():
            assert arrays_of(back)[name].tobytes() == a.tobytes(), name
        for name in (
            "method",
            "parameters",
            "guarantee",
            "neighbours",
            "events",
            "target",
            "n",
            "columns",
            "notes",
            "row_bound",
            "actual_guarantee",
            "attacker_success",
        ):
            assert getattr(back, name) == getattr(rel, name), name
        assert str(back.statement) == str(rel.statement)


@pytest.mark.parametrize("key", KEYS)
def test_a_release_read_from_json_cannot_claim_more_than_its_events(key):
    rel = release(key, data(rows()), USUAL[METHODS.get(key).guarantees[0].kind])
    if not rel.events or not rel.is_sound:
        pytest.skip("measures nothing, or claims what was published")
    fields = json.loads(rel.to_json())
    for name in ("epsilon", "rho"):
        if name in fields["guarantee"]:
            # A whole number of degrees of freedom leaves a little unspent.
            fields["guarantee"][name] *= 0.9 if rel.events[0].mechanism == "wishart" else 0.99
    with pytest.raises(ValueError, match="altered after it was written"):
        Release.from_json(json.dumps(fields))
    del fields["format"], fields["digest"]
    with pytest.raises(ValueError, match="no release was made"):
        Release.from_json(signed(fields))


# --- the statement ------------------------------------------------------------------------------------------

TITLES = ["Measured", "Sensitivity", "Noise", "Events", "Neighbours", "Guarantee"]
NUMBER = r"(\d[\d.]*(?:e[+-]?\d+)?)"


def numbers(pattern: str, text: str) -> list[float]:
    """The numbers the pattern finds, once for every time that a step is said to have been taken."""
    found = []
    for part in text.split("; "):
        times = re.match(r"(?:\d+: )?(\d+) times ", part)
        found += [float(f) for f in re.findall(pattern.replace("#", NUMBER), part)] * (int(times[1]) if times else 1)
    return found


@pytest.mark.parametrize(("key", "kind", "centre"), CASES)
def test_every_number_of_the_statement_comes_from_the_events(key, kind, centre):
    for n, d, bound, asked in [(800, 4, 3.0, USUAL[kind]), (123, 3, 0.0625, ENORMOUS[kind])]:
        rel = release(key, data(rows(n, d), centre, bound), asked, centre=centre)
        said = rel.statement
        assert [title for title, _ in said.lines] == TITLES
        assert str(said).count("\n") == 5
        pairs = LOCAL if METHODS.get(key).trust == "local" else REPLACE_ONE
        assert said["Neighbours"] == f"{pairs.sentence}; one row stands for {pairs.unit}"
        if not rel.events:
            assert said["Measured"] == "nothing: no row was used"
            assert said["Guarantee"].startswith("perfect privacy")
            continue
        assert f"{n} rows x {d} columns" in said["Measured"]
        assert numbers(r"R = #", said["Measured"]) == pytest.approx([bound], rel=1e-5)
        assert ("mean" in said["Measured"]) == (centre == "joint")
        events = rel.events
        close = {"rel": 1e-8}
        assert numbers(r"# in the", said["Sensitivity"]) == pytest.approx([e.sensitivity for e in events], **close)
        assert numbers(r"scale #,", said["Noise"]) == pytest.approx([e.scale for e in events], **close)
        assert numbers(r"sensitivity/scale = #", said["Events"]) == pytest.approx(
            [e.sensitivity / e.scale for e in events], **close
        )
        assert said["Events"].startswith(f"{len(events)}: ")
        for e in events:
            assert e.mechanism in said["Noise"]
            assert e.proof in said["Sensitivity"]
            assert e.norm in said["Sensitivity"]
        if not rel.is_sound:
            assert " as published; the claim" in said["Guarantee"]
            continue
        given, wanted = said["Guarantee"].split("; asked for ")
        assert wanted == str(asked)
        shown = numbers(r"#", given.replace("-DP", "").replace("-zCDP", ""))
        # privacy.py prints six digits, three for delta
        assert shown == pytest.approx([v for k, v in vars(rel.actual_guarantee).items()], rel=5e-3)


def test_the_statement_names_the_unit_of_a_bounded_table():
    x = rows()
    assert "half-ranges" not in release("zero", data(x), USUAL["zcdp"]).statement["Measured"]
    rel = release("auto-cov", data(x, bounds=[(-2, 3)] * 4), USUAL["zcdp"])
    assert "R = 3 in units of the public half-ranges" in rel.statement["Measured"]


@pytest.mark.parametrize("key", KEYS)
def test_no_privacy_spends_nothing_and_says_so(key):
    rel = release(key, data(rows()), NoPrivacy())
    assert rel.events == ()
    assert rel.actual_guarantee is None
    assert rel.attacker_success == 1.0
    assert rel.statement["Guarantee"] == "no guarantee (no noise was added)"
    assert rel.statement["Noise"] == rel.statement["Events"] == "none"


# --- what is refused, and how -------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_what_a_method_cannot_do_is_a_sentence(key):
    card, ds = METHODS.get(key), data(rows())
    asked = USUAL[card.guarantees[0].kind]
    for kind, guarantee in USUAL.items():
        if type(guarantee) not in card.guarantees:
            with pytest.raises(ValueError, match=re.escape(f"{card.label} gives")):
                release(key, ds, guarantee)
            assert KINDS[kind].name in card.refuses(kind)
    with pytest.raises(ValueError, match=f"'{key}' has no parameter 'colour'"):
        release(key, ds, asked, colour=3)
    for wrong in (1.0, None, "1", PureDP, accounting.GaussianDP(1.0)):
        with pytest.raises(TypeError, match="guarantee must be PureDP, ApproxDP or ZCDP"):
            release(key, ds, wrong)
    with pytest.raises(ValueError, match="calibration must be one of"):
        release(key, ds, asked, calibration="hopeful")
    with pytest.raises(ValueError, match="tuning must be one of"):
        release(key, ds, asked, tuning="lucky")
    with pytest.raises(ValueError, match="centre must be one of"):
        release(key, ds, asked, centre="median")
    with pytest.raises(ValueError, match="publicly known to be zero"):
        release(key, ds, asked, centre="zero")
    for wrong in (-1, 1.5, "0"):
        with pytest.raises(ValueError, match="random_state must be"):
            release(key, ds, asked, random_state=wrong)
    for spec in card.parameters:
        for wrong in ["x"] if spec.choices else ["x", float("nan"), spec.low - 1, spec.high + 1]:
            with pytest.raises(ValueError, match=f"{spec.name} must"):
                release(key, ds, asked, **{spec.name: wrong})


def test_only_a_dataset_is_accepted():
    """Private rows will be another type; an object that merely looks like a Dataset is refused as well."""

    class Lookalike:
        rows, n, d, row_bound, name = np.ones((3, 2)), 3, 2, 1.0, "rows"

    for wrong in (Lookalike(), np.ones((3, 2)), None):
        with pytest.raises(TypeError, match=r"dataset must be a privcov\.Dataset"):
            release("zero", wrong, USUAL["zcdp"])
    with pytest.raises(ValueError, match=r"There is no method 'best'\. There are: "):
        release("best", data(rows()), USUAL["zcdp"])


EDGES = {
    "d=1": rows(50, 1),
    "d=2": rows(50, 2),
    "n=1": rows(1, 3),
    "n=1, d=1": rows(1, 1),
    "n<d": rows(3, 6),
    "zeros": np.zeros((5, 3)),
    "equal rows": np.ones((5, 3)),
    "huge": rows(50, 3) * 1e150,
    "tiny": rows(50, 3) * 1e-150,
}


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("key", KEYS)
def test_edges_work_or_are_refused_with_a_sentence(key, edge):
    """Never a warning (warnings are errors here) and never an error of numpy's."""
    card = METHODS.get(key)
    kinds = [USUAL[g.kind] for g in card.guarantees] + [NoPrivacy(), ENORMOUS[card.guarantees[0].kind]]
    for asked, centre, tuning in itertools.product(kinds, CENTRES, set(card.tunings) & set(TUNINGS)):
        try:
            rel = release(key, data(EDGES[edge], centre), asked, centre=centre, tuning=tuning)
        except ValueError as refusal:
            if type(refusal) is not ValueError or not re.fullmatch(r"[A-Z].{20,}\.", str(refusal)):
                raise AssertionError("not a sentence of ours") from refusal
            continue
        assert_sane(rel)
        assert Release.from_json(rel.to_json()).to_json() == rel.to_json()


# --- the card -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", KEYS)
def test_the_card_is_filled_in(key):
    card = METHODS.get(key)
    for text in (card.label, card.family, card.formula, card.reference):
        assert text.strip()
    for text in (card.summary, card.avoid, card.reference):
        assert text.endswith("."), text
    assert card.standing in ("proved", "reference", "historical")
    assert card.target in ("covariance", "precision")
    assert card.trust in ("central", "local")
    assert card.guarantees
    assert set(card.guarantees) <= {PureDP, ApproxDP, privcov.ZCDP}
    assert "sound" in card.calibrations or card.standing == "historical"
    assert card.tunings
    assert set(card.tunings) <= set(TUNINGS)
    assert card.version >= 1
    assert card.cls.__doc__
    assert re.search(r"^ *Guarantee(:|\n *-{9}$)", card.cls.__doc__, re.M)


@pytest.mark.parametrize("key", KEYS)
def test_the_parameters_describe_their_own_widgets(key):
    cls = METHODS.get(key).cls
    assert [s.name for s in specs(cls)] == [f.name for f in dataclasses.fields(cls)]
    for spec in specs(cls):
        assert spec.label.strip()
        assert spec.help.strip()
        assert spec.choices or (spec.low is not None and spec.high is not None and spec.low < spec.high)
        assert spec.check(spec.default) == spec.default
        assert type(spec.check(spec.default)) is type(spec.default)
        for name, _ in spec.shown_if.items():
            assert name in [s.name for s in specs(cls)]
    assert build_method(key, {}) == cls()


@pytest.mark.parametrize("card", METHODS.all(), ids=lambda card: card.key)
def test_who_looks_at_rows_in_another_way_says_what_it_wants(card):
    """A method that overrides `run` or `measure` decides about `request` too: an inherited one would be offered for
    private rows and would not be what the method does."""
    homes = [cls for cls in card.cls.__mro__ if cls.__module__ not in SHARED]
    own = [cls for cls in homes if {"run", "measure"} & set(vars(cls))]
    asked = [cls for cls in homes if {"request", "mechanism"} & set(vars(cls))]
    if own and card.cls.request is not Method.request:
        assert asked, "it asks for nothing of its own"
        assert homes.index(asked[0]) <= homes.index(own[0])


SHARED = ("privcov.estimators.base", "privcov.estimators.mechanisms")
