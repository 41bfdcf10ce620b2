"""A release outside the app: its repr, its HTML, its figures, its files, and its epsilon by dp_accounting."""

from __future__ import annotations

import base64
import copy
import importlib.util
import json
import math
import pickle
from html.parser import HTMLParser

import numpy as np
import plotly.graph_objects as go
import pytest

import privcov
from privcov import ApproxDP, Dataset, PureDP, Release, ZCDP
from privcov.core import accounting, extras
from privcov.core.guarantees import RELATIONS, Event
from privcov.core.words import to_powers
from tests.forging import KINDS, released
from tests.test_release_text import MADE, made

NASTY = ['<script>alert("1")</script>', "a\nb", "&amp;", "x" * 300]


def named(columns=NASTY, method="gaussian-cov", guarantee=None, **options) -> Release:
    """A release of four columns on very different scales."""
    rows = np.random.default_rng(0).uniform(0, 1, size=(400, len(columns))) * 10.0 ** np.arange(len(columns))
    rows[:, -1] += 0.5 * rows[:, 0]
    bounds = {name: (0, 10.0 ** (j + 1)) for j, name in enumerate(columns)}
    data = Dataset.from_rows(rows, bounds=bounds, columns=columns)
    return privcov.release(data, guarantee or ZCDP(1.0), method, random_state=1, **options)


class Tags(HTMLParser):
    """What a browser would find: open tags, their attributes, and the texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open, self.tags, self.attributes, self.texts, self.cells = [], [], [], [], []
        self.feed(text)
        assert self.open == [], "a tag that is not closed"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)
        if self.open[-1] == "td":
            self.cells.append(data)


# --- in a shell and in a notebook ---------------------------------------------------------------------------


def test_names_cannot_break_a_repr():
    lines = repr(named()).splitlines()
    assert len(lines) == 4
    assert max(map(len, lines)) < 150


@pytest.mark.parametrize("kind", list(MADE))
def test_html_has_the_matrix_and_the_statement_and_runs_nothing(kind):
    rel = made(kind)
    found = Tags(rel._repr_html_())
    allowed = "div p strong img table thead tbody tr th td dl dt dd caption"
    assert set(found.tags) <= set(allowed.split(" "))
    assert {name for name, _ in found.attributes} <= {"src", "alt", "style", "scope"}
    [source] = [value for name, value in found.attributes if name == "src"]
    assert base64.b64decode(source.removeprefix("data:image/png;base64,")).startswith(b"\x89PNG")
    assert [text for _, text in rel.statement.lines if text not in found.texts] == []
    cells = [float(text.replace(",", "")) for text in found.cells]
    for value in rel.matrix.ravel():
        assert any(math.isclose(value, cell, rel_tol=6e-3, abs_tol=1e-9) for cell in cells)


def test_html_escapes_names_and_shows_the_first_columns_of_many():
    found = Tags(named()._repr_html_())
    assert NASTY[0] in found.texts
    assert "script" not in found.tags
    wide = privcov.release(privcov.source("digits"), ZCDP(1.0), "auto-cov", random_state=0)
    text = wide._repr_html_()
    assert len(text) < 30_000
    assert f"The first 8 of {len(wide.columns)} columns" in Tags(text).texts
    assert text.count("<tr>") == 9


# --- as a table and in a file -------------------------------------------------------------------------------


def test_a_frame_has_the_names_and_the_numbers():
    rel = named()
    for which, matrix in (("", rel.covariance), ("covariance", rel.covariance), ("second_moment", rel.second_moment)):
        frame = rel.to_frame(which)
        assert list(frame.index) == list(frame.columns) == NASTY
        np.testing.assert_array_equal(frame.to_numpy(), matrix)
    precision = privcov.release(
        privcov.source("ar1-covariance", n=500, d=3, random_state=0), ZCDP(1.0), "glasso-gaussian", random_state=0
    )
    np.testing.assert_array_equal(precision.to_frame().to_numpy(), precision.precision)


def test_a_correlation_is_the_covariance_over_both_deviations():
    """By the literal formula, where every variance is above its noise; a variance below counts as its noise."""
    rel = privcov.release(
        privcov.source("ar1-covariance", n=50_000, d=4, random_state=0), ZCDP(1.0), "gaussian-cov", random_state=0
    )
    root = np.sqrt(np.diag(rel.covariance))
    np.testing.assert_allclose(rel.to_frame("correlation"), rel.covariance / np.outer(root, root), atol=1e-12)
    np.testing.assert_array_equal(rel.correlation, rel.to_frame("correlation"))
    loud = named(guarantee=ZCDP(1e-5))
    assert np.abs(loud.to_frame("correlation").to_numpy()).max() <= 1
    noise = loud.noisy_moment.distribution.diagonal_std * loud.row_bound**2
    inner = loud.covariance / np.outer(loud.scale, loud.scale)
    floor = np.sqrt(np.maximum(np.diag(inner), noise))
    want = np.clip(inner / np.outer(floor, floor), -1, 1)
    np.fill_diagonal(want, 1)
    assert (np.diag(inner) < noise).any()
    np.testing.assert_allclose(loud.to_frame("correlation"), want, atol=1e-12)


@pytest.mark.parametrize("which", ["precision", "corelation"])
def test_a_matrix_that_is_not_there_is_a_sentence(which):
    rel, words = named(), "has no precision matrix. It has 'covariance', 'second_moment'. Use a method"
    with pytest.raises(ValueError, match=words if which == "precision" else "Did you mean 'correlation'"):
        rel.to_frame(which)
    about_zero = privcov.release(privcov.source("wine"), ZCDP(1.0), "gaussian-cov", centre="none", random_state=0)
    with pytest.raises(AttributeError, match=r"has no covariance matrix\. It has 'second_moment'"):
        about_zero.correlation.mean()


def test_the_numbers_of_a_release_cannot_be_changed():
    rel = named()
    assert rel.noisy_moment is not None
    data = privcov.source("wine")
    shared = (rel.scale, rel.origin, rel.noisy_moment.matrix, data.scale, data.origin, data.bounds)
    for array in (rel.covariance, rel.second_moment, rel.mean, *shared):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


def test_limits_that_are_changed_after_they_were_given_change_no_table():
    limits, rows = np.array([[0.0, 4.0], [0.0, 4.0]]), np.ones((50, 2))
    data = Dataset.from_rows(rows, bounds=limits)
    limits[0] = 0, 1
    assert data.bounds is not None
    assert data.bounds.tolist() == [[0, 4], [0, 4]]


# --- figures ------------------------------------------------------------------------------------------------


def precise() -> Release:
    data = privcov.source("ar1-covariance", n=5000, d=5, random_state=0)
    return privcov.release(data, ZCDP(1.0), "glasso-gaussian", random_state=0)


FIGURES = {"plot": named, "plot_spectrum": named, "plot_errors": named, "plot_network": precise}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("which", list(FIGURES))
def test_a_figure_is_valid_and_has_names_and_a_text_alternative(which, dark):
    rel = FIGURES[which]()
    figure = getattr(rel, which)(dark=dark)
    assert isinstance(figure, go.Figure)
    go.Figure(json.loads(figure.to_json(validate=False)))  # raises for a property that plotly does not know
    assert figure.layout.meta["alt"].endswith(".")
    what = {"plot": "Correlation: ", "plot_network": "Network: "}.get(which, "")
    assert figure.layout.title.text == f"{what}{rel.method}, {to_powers(str(rel.guarantee))}"
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor
    assert len({getattr(rel, which)(dark=shade).layout.paper_bgcolor for shade in (False, True)}) == 2
    text = figure.to_json(validate=False)
    assert "<script" not in text.replace("\\u003c", "<")
    if which == "plot_network":
        assert all(name in text for name in rel.columns)


def test_the_figures_show_the_numbers_of_the_release():
    rel = named(["a", "b", "c"])
    [cells] = rel.plot("covariance").data
    np.testing.assert_allclose(cells.z, rel.matrix, rtol=1e-6)
    assert list(cells.x) == ["a", "b", "c"]
    np.testing.assert_allclose(rel.plot("correlation").data[0].z, rel.to_frame("correlation"), atol=1e-6)
    noisy, after = rel.plot_spectrum().data
    working = rel.covariance / np.outer(rel.scale, rel.scale)
    np.testing.assert_allclose(after.y, np.linalg.eigvalsh(working)[::-1], atol=1e-6)
    assert (noisy.name, after.name) == ("Noisy", "Post-processed")
    drawn = precise()
    upper = np.triu_indices(5, 1)
    count = int((drawn.precision[upper] != 0).sum())
    assert f"{count} drawn" in drawn.plot_network().layout.meta["alt"]


@pytest.mark.parametrize(
    ("method", "options", "draw", "words"),
    [
        ("gaussian-cov", {}, "plot_network", "gaussian-cov has no precision matrix"),
        ("zero", {}, "plot_errors", "keeps no noisy matrix, so the law of its error is not known"),
    ],
)
def test_a_figure_that_cannot_be_drawn_is_a_sentence(method, options, draw, words):
    with pytest.raises(ValueError, match=words):
        getattr(named(["a", "b"], method, **options), draw)()


def test_a_missing_package_is_one_sentence(monkeypatch):
    rel, find = named(), importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "plotly" else find(name, *more)
    )
    with pytest.raises(extras.MissingExtra, match=r"need the package plotly\. Install it with: pip install"):
        rel.plot()


# --- dp_accounting ------------------------------------------------------------------------------------------


def epsilon_of(rel: Release, delta: float, *, renyi: bool = False) -> float:
    """By Google's accountants: privacy loss distributions, or Renyi's divergence.

    The events have the sensitivity of the release's own neighbours, so an accountant keeps its default relation. The
    privacy loss of randomised response, a discrete Laplace event of sensitivity 1, is that of the pure mechanism of
    epsilon that is the easiest to tell apart (Kairouz, Oh and Viswanath 2015).
    """
    library = pytest.importorskip("dp_accounting", reason="dp_accounting is not installed: requirements-dev.txt has it")
    events = library.dp_event

    def one(event: Event):
        if event.mechanism == "gaussian":
            return events.GaussianDpEvent(event.multiplier)
        if event.mechanism == "discrete-gaussian":
            return events.ZCDpEvent(0.5 / event.multiplier**2)
        assert event.pure
        return events.DiscreteLaplaceDpEvent(1 / event.multiplier, 1)

    kind = library.rdp.RdpAccountant if renyi else library.pld.PLDAccountant
    return kind().compose(events.ComposedDpEvent([one(event) for event in rel.events])).get_epsilon(delta)


@pytest.mark.parametrize("delta", [1e-6, 1e-3])
@pytest.mark.parametrize("method", ["gaussian-cov", "auto-cov", "separate-cov", "projection"])
def test_gaussian_noise_has_the_same_epsilon_there(method, delta):
    """Of one measurement and of several; their grid of privacy losses, 1e-4 wide, is rounded to the safe side."""
    asked = ApproxDP(1.0, delta)
    if method == "separate-cov":
        rel = made("several steps")
        given = accounting.compose(rel.events, asked).epsilon
    else:
        rel = named(["a", "b", "c"], method, asked)
        given = rel.actual_guarantee.epsilon
    assert given - 1e-6 <= epsilon_of(rel, delta) <= given + 1e-3


@pytest.mark.parametrize("method", ["laplace-cov", "wishart-difference"])
@pytest.mark.parametrize("relation", list(RELATIONS))
def test_pure_noise_has_the_same_epsilon_there(method, relation):
    card = next(card for card in privcov.methods() if card.key == method)
    if relation not in card.relations:
        pytest.skip(f"{method} is not offered under {relation}")
    rel = named(["a", "b", "c"], method, PureDP(0.7), neighbours=relation)
    assert rel.actual_guarantee.epsilon - 1e-6 <= epsilon_of(rel, 0.0) <= rel.actual_guarantee.epsilon + 1e-3


def test_a_pure_event_is_the_pair_that_attains_a_pure_guarantee():
    """Its divergence (e^e - e^t) / (e^e + 1) is the largest of any e-DP mechanism; here e = .7 and t = .3."""
    rel = named(["a", "b", "c"], "wishart-difference", PureDP(0.7))
    delta = (math.exp(0.7) - math.exp(0.3)) / (math.exp(0.7) + 1)
    assert epsilon_of(rel, delta) == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize("kind", list(KINDS))
def test_private_rows_have_their_guarantee_there_and_their_arrays_and_text_are_complete(tmp_path, kind):
    """Persons, missing cells, lengths and every law. Discrete Gaussian noise goes by the conversion of Renyi's
    accountant, whose grid of orders is coarser than ours; pure noise by privacy loss distributions.
    """
    rel, _ = released(tmp_path, kind)
    assert len(rel.events) == 1 + ("search" in kind)
    assert isinstance(KINDS[kind][1], PureDP) == all(e.pure for e in rel.events)
    if isinstance(KINDS[kind][1], PureDP):
        want, factor, found = rel.actual_guarantee.epsilon, 1.0, epsilon_of(rel, 0.0)
    else:
        want = accounting.zcdp_to_approx(float(accounting.zcdp_sum(rel.events)), 1e-6)
        factor, found = 1.01, epsilon_of(rel, 1e-6, renyi=True)
    assert want - 1e-6 <= found <= factor * want + 1e-3
    assert Release.from_json(rel.to_json()).to_json() == rel.to_json()


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_is_as_fixed_as_the_first(again):
    data = privcov.source("wine")
    rel = again(privcov.release(data, ZCDP(1.0), "auto-cov", centre="classes", random_state=0))
    for array in (
        rel.covariance,
        rel.second_moment,
        rel.class_means,
        rel.correlation,
        rel.noisy_moment.matrix,
        again(data).rows,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5.0


def test_a_picture_of_a_covariance_is_that_of_its_correlations():
    rel = named()
    assert rel.plot().layout.title.text.startswith("Correlation: gaussian-cov")
    np.testing.assert_allclose(rel.plot().data[0].z, rel.correlation, atol=1e-6)
    np.testing.assert_allclose(rel.plot("covariance").data[0].z, rel.covariance, rtol=1e-6)
    graph = privcov.release(
        privcov.source("precision-ar2", n=900, d=4, random_state=0), ZCDP(1.0), "auto-precision", random_state=0
    )
    assert graph.plot().layout.title.text.startswith("Precision: auto-precision")
    assert not hasattr(
        privcov.release(privcov.source("wine"), ZCDP(1.0), "gaussian-cov", centre="none", random_state=0), "correlation"
    )
