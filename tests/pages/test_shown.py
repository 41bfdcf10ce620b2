"""A verdict in words on every release; correlations first, and the strongest pairs, where columns have units."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import privcov
from pages.common import show
from pages.estimate import shown
from pages.your_data.answers import entries
from pages.your_data.answers.context import doubtful
from pages.your_data.answers.context import verdict as own_verdict
from privcov.bundle.usefulness import noise_on_entries
from privcov.metrics.errors import error, reference_matrix
from privcov.releases.display import matrix_of
from tests.pages.test_pages import alts, open_page

ESTIMATE = "pages/1_Estimate.py"
QUERY = {"source": "wine", "kind": "zcdp", "rho": "5"}


@pytest.fixture(scope="module")
def wine():
    data = privcov.source("wine", random_state=0)
    return data, privcov.release(data, privcov.ZCDP(5.0), "auto-cov", random_state=1)


def of_rows(data) -> np.ndarray:
    """The correlations of the rows within their bounds."""
    return np.corrcoef(np.clip(data.rows, *np.transpose(data.bounds)).T)


def drawn(pictures, title: str) -> np.ndarray:
    (trace,) = pictures[f"square-{title}"].figure.data
    return np.array(trace.z, dtype=np.float64)


def test_a_table_with_units_is_shown_as_correlations_and_by_a_switch_in_its_own_units(wine, pictures):
    data, rel = wine
    at = open_page(ESTIMATE, **QUERY)
    assert any(alt.startswith("Heatmap of released correlation") for alt in alts(at).values())
    assert drawn(pictures, "sample") == pytest.approx(of_rows(data), abs=1e-6)
    assert drawn(pictures, "released") == pytest.approx(matrix_of(rel, "correlation"), abs=1e-6)
    at.button_group(key="estimate.shown").set_value("Covariances").run()
    assert at.query_params["shown"] == "covariances"
    assert drawn(pictures, "released") == pytest.approx(rel.matrix, rel=1e-5)
    own = reference_matrix(data, "covariance", "sample") * np.outer(data.scale, data.scale)
    assert drawn(pictures, "sample") == pytest.approx(own, rel=1e-5)
    assert any("own units" in caption.value for caption in at.caption)


def test_the_strongest_pairs_are_those_of_the_table_beside_the_release(wine):
    data, rel = wine
    (said,) = (m.value for m in open_page(ESTIMATE, **QUERY).markdown if m.value.startswith("Strongest pairs"))
    said = said.replace("\\", "")
    sample, released = of_rows(data), matrix_of(rel, "correlation")
    first, second = np.triu_indices(data.d, 1)
    most = np.argsort(-np.abs(sample[first, second]))[:3]
    for i, j in zip(first[most], second[most], strict=True):
        pair = f"{data.columns[i]} and {data.columns[j]}"
        assert f"{pair} {sample[i, j]:.2f}, released {released[i, j]:.2f} ± " in said


def test_the_noise_beside_a_pair_is_that_of_many_releases():
    """Of 400 raw releases of two columns; the deviation of that many is known within 7 %, two standard errors."""
    rows = np.random.default_rng(3).uniform(-1, 1, (4000, 2)) @ np.array([[1.0, 0.6], [0.0, 0.8]]) / 2
    data = privcov.Dataset.from_rows(rows, bounds=[(-1, 1)] * 2, mean_is_zero=True)
    rels = [privcov.release(data, privcov.ZCDP(0.1), "gaussian-cov", random_state=seed) for seed in range(400)]
    said = shown.strongest(data, matrix_of(rels[0], "correlation"), noise_on_entries(rels[0]))
    spread = np.sqrt(np.diag(reference_matrix(data, "covariance", "sample")))
    raw = [rel.noisy_moment.matrix[0, 1] * rel.row_bound**2 / np.prod(spread) for rel in rels]
    assert float(re.search(r"± ([\d.]+)", said)[1]) == pytest.approx(np.std(raw), rel=0.07)


def word(rel, data) -> str:
    wrong = error(rel, data, relative=True, against="sample" if data.truth is None else "truth")
    return shown.verdict(wrong, data, rel)


def test_the_verdict_follows_the_answers_that_release_nothing():
    """Three words over the levels, in this order; a remedy where it is not of use."""
    data = privcov.source("ar1-covariance", n=2000, d=20, random_state=0)
    said = [word(privcov.release(data, privcov.ZCDP(rho), "gaussian-cov", random_state=1), data)
            for rho in (1e-5, 3e-4, 1e-3, 1e-2, 1.0)]  # fmt: skip
    words = [re.match(r"\*\*(\w+) here", text)[1] for text in said]
    assert list(dict.fromkeys(words)) == ["Useless", "Rough", "Useful"]
    assert ["would help" in text for text in said] == [word != "Useful" for word in words]
    assert "worse than the zero matrix" in said[0]


def test_a_private_release_is_of_use_by_what_it_tells_of_correlations():
    """Narrower intervals, a better word; what is not identified counts as wholly unknown."""
    said = []
    for half, known in ((0.05, True), (0.2, True), (0.5, True), (0.05, False)):
        table = pd.DataFrame(
            {"ci_low": [-half] * 3, "ci_high": [half] * 3, "identified": [known] * 3, "reason": [""] * 3}
        )
        table.attrs["level"] = 0.95
        said.append(own_verdict(table))
    assert [text.split()[0] for text in said] == ["**Useful", "**Rough", "**Useless", "**Useless"]
    assert "± 0.20" in said[1]
    assert "± 1.00" in said[3]


def test_levels_of_one_column_are_not_pale_and_not_counted():
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"ward": rng.choice(list("ABC"), 4000), "x": rng.uniform(0, 1, 4000)})
    kinds = {"ward": privcov.Kind("category", values=["A", "B", "C"]), "x": privcov.Kind("number", 0, 1)}
    private = privcov.PrivateDataset.from_rows(rows, kinds=kinds, name="t")
    total = SimpleNamespace(facts=private.facts)
    rel = privcov.release(
        privcov.Dataset.from_rows(rows, kinds=kinds), privcov.ZCDP(5.0), "auto-cov", random_state=1, centre="joint"
    )
    found = privcov.answers(rel)
    pale, unknown = doubtful(found, "correlation", 0.05, total)
    assert (unknown == (np.add.outer([0, 0, 0, 1], [0, 0, 0, 1]) == 0) & ~np.eye(4, dtype=bool)).all()  # hatched
    assert not pale[:3, :3].any()
    assert list(~pale[:3, 3]) == list(found.correlations()["reject"][[2, 4, 5]])
    assert "of 3 pairs of different columns" in entries.real_ones(found.correlations())


def test_a_pair_that_is_not_identified_is_an_empty_cell():
    rows = np.random.default_rng(1).uniform(0, 1, (300, 4))
    rows[:, 3] = 0.5  # it never changes, so no correlation with it is known
    data = privcov.Dataset.from_rows(rows, bounds=[(0, 1)] * 4)
    found = privcov.answers(privcov.release(data, privcov.ZCDP(5.0), "auto-cov", random_state=1, centre="joint"))
    pale, unknown = doubtful(found, "correlation", 0.05, SimpleNamespace(facts=SimpleNamespace(flagged=())))
    last = np.arange(4) == 3
    assert np.array_equal(unknown, last[:, None] != last)
    assert (pale >= unknown).all()
    assert entries._describe_rest(3, 3) == " 3 are hatched: not identified."
    assert entries._describe_rest(4, 3).startswith(" The others are pale")
    assert entries._describe_rest(0, 0) == ""


def test_where_correlations_are_shown_their_own_error_counts():
    """One column has nearly all the variance, so the covariance is right where the correlations are lost."""
    rng = np.random.default_rng(2)
    rows = rng.normal(size=(4000, 6)) @ (np.eye(6) + 0.5) * 0.02
    rows[:, 0] *= 20
    data = privcov.Dataset.from_rows(rows, bounds=[(-1, 1)] * 6)
    rel = privcov.release(data, privcov.ZCDP(0.05), "gaussian-cov", random_state=1)
    wrong = error(rel, data, relative=True)
    assert shown.verdict(wrong, data, rel).startswith("**Useful here")
    said = shown.verdict(wrong, data, rel, show.CORRELATIONS)
    assert said.startswith("**Useless here")
    apart = (matrix_of(rel, "correlation") - np.corrcoef(data.rows.T))[np.triu_indices(6, 1)]
    told = float(re.search(r"error of a correlation is ([\d.]+);", said)[1])
    assert told == pytest.approx(np.sqrt(np.mean(apart**2)), rel=0.1)
