"""The pictures of the audit carry what was counted."""

import dataclasses

import numpy as np
import pytest

from privcov.attacks import disclosure
from privcov.attacks.live import AuditSettings, Histogram, audit
from privcov.core.guarantees import ApproxDP, GaussianDP, PureDP, ZCDP
from privcov.plots import audit as pictures
from privcov.plots.palette import DARK, LIGHT
from privcov.plots.words import percent


@pytest.fixture(scope="module")
def wishart():
    return audit(AuditSettings("wishart-pure:as-published:pure", d=2, pair="unit-zero", draws=4_000))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_both_histograms_hold_every_test_draw(wishart, palette):
    for make in (pictures.outputs, pictures.support):
        figure, alt = make(wishart, palette)
        assert [trace.name for trace in figure.data] == ["first table", "second table"]
        for trace in figure.data:
            assert np.sum(trace.y[::2]) == pytest.approx(100), "each step has two ends"
        assert figure.layout.xaxis.title.text
        assert figure.layout.yaxis.title.text == "share of draws (%)"
        assert "2,000" in alt


def test_an_end_bar_that_holds_much_does_not_flatten_the_others(wishart):
    """The axis ends above the tallest bar between the ends; a taller end says what it holds."""
    counts = np.array([900, 30, 40, 20, 10])
    towering = Histogram("x", np.arange(6.0), counts, counts[::-1].copy(), 2.0, True)
    figure, _ = pictures.outputs(dataclasses.replace(wishart, histogram=towering), LIGHT)
    assert 4 < figure.layout.yaxis.range[1] < 6
    said = [n.text for n in figure.layout.annotations]
    assert ["90\u00a0% and 1\u00a0%" in said[0], "1\u00a0% and 90\u00a0%" in said[1], len(said)] == [True, True, 2]
    even = dataclasses.replace(towering, first=counts[1:].repeat(2), second=counts[1:].repeat(2), edges=np.arange(9.0))
    assert not pictures.outputs(dataclasses.replace(wishart, histogram=even), LIGHT).figure.layout.annotations


def test_the_impossible_region_ends_at_zero_and_one_table_is_not_in_it(wishart):
    figure, alt = pictures.support(wishart, LIGHT)
    (zone,) = figure.layout.shapes
    assert zone.x1 == 0
    inside = [np.sum(np.array(t.y)[::2][np.array(t.x)[::2] < 0]) for t in figure.data]
    assert min(inside) == 0
    assert max(inside) == pytest.approx(100 * max(wishart.impossible) / wishart.draws)
    assert f"{max(wishart.impossible):,}" in alt


def test_the_tested_set_is_shaded_from_its_cut(wishart):
    figure, alt = pictures.outputs(wishart, LIGHT)
    (zone,) = figure.layout.shapes
    assert wishart.histogram.cut in (zone.x0, zone.x1)
    assert wishart.for_level.words in alt


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 1e-5), ZCDP(0.1), GaussianDP(0.5)], ids=str)
def test_beliefs_and_accusations_are_the_curves(claim):
    figure, alt = pictures.beliefs(claim, (0.05, 0.001), 0.1, LIGHT)
    worst = 100 * disclosure.posterior(np.array(figure.data[2].x) / 100, disclosure.loss(claim, 0.001))
    np.testing.assert_allclose(figure.data[2].y, worst)
    assert percent(float(disclosure.posterior(0.1, disclosure.loss(claim, 0.001))), "at most") in alt
    roc, _ = pictures.accusations(claim, DARK)
    np.testing.assert_allclose(roc.data[1].y, 100 * disclosure.power(claim, np.array(roc.data[1].x) / 100))
