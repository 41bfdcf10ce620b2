"""The pictures of the demonstrations carry what was counted and computed."""

import numpy as np
import pytest

from privcov.attacks import demonstrations as shown
from privcov.core.words import percent
from privcov.plots import demonstrations as pictures
from privcov.plots.palette import DARK, LIGHT


@pytest.fixture(scope="module", params=["outside", "one-over-n", "re-runs"])
def key(request):
    return request.param


@pytest.fixture(scope="module")
def found(key):
    return shown.run(key, count=500)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_histograms_hold_every_simulated_answer(found, palette):
    for side in (found.done, found.repaired):
        figure, alt = pictures.answer_histogram(side, "As it is done", palette)
        assert figure.layout.yaxis.title.text.endswith("(%)")
        assert figure.layout.xaxis.title.text
        assert alt.startswith("As it is done: ")
        if side.histogram.second is None:
            assert list(figure.layout.xaxis.ticktext) == list(pictures.ALONE)
            assert sum(max(bar.y) for bar in figure.data[:2]) == pytest.approx(100)
            assert percent(side.histogram.first[1]) in alt
        else:
            assert [np.sum(trace.y[::2]) for trace in figure.data] == pytest.approx([100, 100])
            (cut,) = figure.layout.shapes
            assert cut.x0 == cut.x1 == side.histogram.cut
            assert f"{side.hits:,} of {side.guesses:,}" in alt
