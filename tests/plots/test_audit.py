"""The pictures of the audit carry what was counted."""

import numpy as np
import pytest

from privcov.attacks import disclosure
from privcov.attacks.live_audit import AuditSettings, audit
from privcov.core.guarantees import ApproxDP, GaussianDP, PureDP, ZCDP
from privcov.core.words import percent
from privcov.plots import audit as pictures
from privcov.plots.palette import DARK, LIGHT


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


@pytest.mark.parametrize("claim", [PureDP(1.0), ApproxDP(1.0, 1e-5), ZCDP(0.1), GaussianDP(0.5)], ids=str)
def test_beliefs_and_accusations_are_the_curves(claim):
    figure, alt = pictures.beliefs(claim, (0.05, 0.001), 0.1, LIGHT)
    worst = 100 * disclosure.posterior(np.array(figure.data[2].x) / 100, disclosure.privacy_loss(claim, 0.001))
    np.testing.assert_allclose(figure.data[2].y, worst)
    assert percent(float(disclosure.posterior(0.1, disclosure.privacy_loss(claim, 0.001))), "at most") in alt
    roc, _ = pictures.accusations(claim, DARK)
    np.testing.assert_allclose(roc.data[1].y, 100 * disclosure.true_positive_rate(claim, np.array(roc.data[1].x) / 100))
