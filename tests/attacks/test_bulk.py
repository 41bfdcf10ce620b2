"""Bulk draws are those of the methods themselves, number by number."""

import numpy as np
import pytest

import privcov
from privcov.attacks import exact
from privcov.attacks.bulk import draw_many
from privcov.attacks.faults import FAULTS
from privcov.attacks.mechanisms import BASES, BOUNDED, EXACT, find, mechanisms, sampler
from privcov.attacks.pairs import catalogue, tables
from privcov.core.randomness import stream
from privcov.measurements.noise import SHAPES, NoiseDistribution


@pytest.mark.parametrize("shape", [*SHAPES, "wishart-difference"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_many_draws_are_the_single_draws_of_the_same_stream(shape, d):
    free = shape == "free-groups"
    groups = {"groups": tuple(min(j, 1) for j in range(d)), "weights": (1.5, 2.0)[:d]} if free else {}
    distribution = NoiseDistribution(shape, 0.7, d, **groups)
    rng = np.random.default_rng(3)
    single = np.array([distribution.draw(rng) for _ in range(50)])
    np.testing.assert_allclose(draw_many(distribution, 50, np.random.default_rng(3)), single, rtol=1e-13, atol=1e-15)


class Replay:
    """Hands out given numbers, one draw at a time, in the shapes that are asked for."""

    def __init__(self, normals, uniforms):
        self.normals, self.uniforms = normals, uniforms

    def standard_normal(self, shape):
        assert shape == self.normals.shape
        return self.normals

    def random(self, size):
        assert size == len(self.uniforms)
        return self.uniforms


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("freedom", [2.0, 7.0])
def test_wishart_draws_are_those_of_the_same_numbers(d, freedom):
    distribution = NoiseDistribution("wishart", 0.7, d, freedom=freedom)
    many = draw_many(distribution, 40, np.random.default_rng(5))
    rng = np.random.default_rng(5)
    normals, uniforms = rng.standard_normal((40, d, d)), rng.random((40, d))
    single = [distribution.draw(Replay(z, u)) for z, u in zip(normals, uniforms, strict=True)]
    np.testing.assert_allclose(many, single, rtol=1e-12, atol=1e-14)


def test_a_law_with_anchors_is_refused():
    with pytest.raises(ValueError, match="anchored"):
        draw_many(NoiseDistribution("isotropic", 1.0, 2, n_anchors=1), 3, np.random.default_rng(0))


@pytest.mark.parametrize("made", [m for m in mechanisms() if m.bulk and not m.fault], ids=lambda m: m.key)
def test_the_audited_answer_is_the_noisy_matrix_of_a_release(made):
    """Exact answer + one bulk draw on the release's own stream = the raw matrix of that release, to rounding.
    The table is larger than the audit's own, on which a graphical lasso may find no variance left."""
    claim = made.claim(1.0, 1e-3)
    rows = np.tile([[0.6, 0.0], [0.0, 0.8]], (500, 1))
    data = privcov.Dataset.from_rows(rows, 1.0, name="audit first", provenance="simulated")
    given = {"calibration": made.calibration, "centre": "none", "random_state": 4, **made.settings}
    if made.method.startswith("glasso") and "2" in made.calibration:
        given["iterations"] = 1
    release = privcov.release(data, claim, made.method, **{"random_state": 0, **given})
    still = sampler(made, data, claim).centre
    distribution = release.noisy_moment.distribution
    rng = stream(4, "noise", 0, "audit first", made.method)
    noisy = still + draw_many(distribution, 1, rng)[0]
    np.testing.assert_allclose(noisy, release.noisy_moment.matrix, rtol=1e-12, atol=1e-14)
    (event,) = sampler(made, data, claim).events
    assert event == release.events[0]


def test_every_method_but_the_references_can_be_audited():
    audited = {m.method for m in mechanisms()}
    assert audited == {c.key for c in privcov.methods() if c.standing != "reference"}


def test_a_broken_mechanism_is_no_method():
    keys = {c.key for c in privcov.methods()}
    broken = [m for m in mechanisms() if m.fault]
    assert sum(not m.exact for m in broken) == len(FAULTS) * len(BASES)
    assert sum(m.exact for m in broken) == len(exact.FAULTS) * len(EXACT) * 2 + len(BOUNDED)  # n public and hidden
    assert all(m.key not in keys and (m.exact or m.group == "Broken on purpose") for m in broken)
    assert all(FAULTS[m.fault].label in m.label for m in broken)


@pytest.mark.parametrize(("method", "kind"), BASES)
@pytest.mark.parametrize(("fault", "times"), [("half-noise", 2), ("wrong-n", 2), ("no-clipping", 1)])
def test_what_is_wrong_with_a_broken_mechanism_is_what_it_says(method, kind, fault, times):
    """Spread of 20,000 draws against the sound one, relative standard error 1 %: the noise is so many times smaller.
    Without clipping, the noise is right and the long row counts nine times."""
    made = find(f"{fault}:{method}:{kind}")
    sound = find(f"{method}:sound:{kind}")
    claim = made.claim(1.0, 1e-3)
    long, _ = tables(next(p for p in catalogue(2) if p.key == "long-zero"))
    right, wrong = sampler(sound, long, claim), sampler(made, long, claim)
    spread = [s.draw(20_000, 1, "test")[:, 0, 1].std() for s in (right, wrong)]
    assert spread[0] / spread[1] == pytest.approx(times, rel=0.06)
    factor = 9 if fault == "no-clipping" else 1
    np.testing.assert_allclose(wrong.centre, factor * right.centre, rtol=1e-12)
