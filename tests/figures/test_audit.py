"""The pictures of the audit carry what was counted."""

import numpy as np
import pytest

from privcov.audit import disclosure
from privcov.audit.live import Asked, audit
from privcov.figures import audit as pictures
from privcov.figures.look import DARK, LIGHT
from privcov.privacy import ApproxDP, GaussianDP, PureDP, ZCDP


@pytest.fixture(scope="module")
def wishart():
    return audit(Asked("wishart-pure:as-published:pure", d=2, pair="unit-zero", draws=4_000))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_both_histograms_hold_every_test_draw(wishart, palette):
    for make in (pictures.outputs, pictures.support):
        figure, alt = make(wishart, palette)
        assert [trace.name for trace in figure.data] == ["first table", "second table"]
        for trace in figure.data:
            assert np.sum(trace.y) == pytest.approx(1)
        assert figure.layout.xaxis.title.text
        assert figure.layout.yaxis.title.text == "share of draws (%)"
        assert "2,000" in alt


def test_the_impossible_region_ends_at_zero_and_one_table_is_not_in_it(wishart):
    figure, alt = pictures.support(wishart, LIGHT)
    (zone,) = figure.layout.shapes
    assert zone.x1 == 0
    inside = [np.sum(np.array(t.y)[np.array(t.x) < 0]) for t in figure.data]
    assert min(inside) == 0
    assert max(inside) == pytest.approx(max(wishart.impossible) / wishart.draws)
    assert f"{max(wishart.impossible):,}" in alt


def test_the_tested_set_is_shaded_from_its_cut(wishart):
    figure, alt = pictures.outputs(wishart, LIGHT)
    (zone,) = figure.layout.shapes
    assert wishart.histogram.cut in (zone.x0, zone.x1)
    assert wishart.for_level.words in alt


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 1e-5), ZCDP(0.1), GaussianDP(0.5)], ids=str)
def test_beliefs_and_accusations_are_the_curves(claim):
    figure, alt = pictures.beliefs(claim, (0.05, 0.001), 0.1, LIGHT)
    worst = disclosure.posterior(np.array(figure.data[2].x), disclosure.loss(claim, 0.001))
    np.testing.assert_allclose(figure.data[2].y, worst)
    assert f"{float(disclosure.posterior(0.1, disclosure.loss(claim, 0.001))):.1%}" in alt
    roc, _ = pictures.accusations(claim, DARK)
    np.testing.assert_allclose(roc.data[1].y, disclosure.power(claim, np.array(roc.data[1].x)))
