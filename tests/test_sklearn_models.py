"""Models of scikit-learn that are read from a release: their checks, the numbers of `privcov.answers`, and no rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

import privcov
from privcov.core.guarantees import ZCDP
from privcov.sklearn.models import PrivateLinearRegression, PrivatePCA

# A row bound as one has to give it, and so little noise that few rows close together have a covariance.
CHECKED = [
    PrivatePCA(n_components=1, guarantee=ZCDP(1e12), row_bound=100.0, random_state=0),
    PrivateLinearRegression(guarantee=ZCDP(1e12), row_bound=100.0, random_state=0),
]
NAMES = ["age", "height", "weight", "pulse"]
BOUNDS = [(0, 100), (100, 220), (20, 180), (30, 190)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore:Can't check dok sparse")
@parametrize_with_checks(
    CHECKED,
    expected_failed_checks=lambda model: (
        {"check_regressors_no_decision_function": "4 columns of 10 rows are too many"}
        if isinstance(model, PrivateLinearRegression)
        else {}
    ),
)
def test_estimator_checks_of_scikit_learn(estimator, check):
    """Only a regression on more than a third of the rows, whose intervals would not hold, is refused."""
    check(estimator)


def table(n: int = 4000, seed: int = 0) -> pd.DataFrame:
    """Four columns of which weight depends on age and height, within their limits."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 14, n)
    height = 165 + 9 * rng.standard_normal(n) - 0.08 * (age - 50)
    weight = 75 + 0.8 * (height - 165) + 0.3 * (age - 50) + 10 * rng.standard_normal(n)
    pulse = 100 + 0.3 * (weight - 75) - 0.2 * (age - 50) + 20 * rng.standard_normal(n)
    rows = np.column_stack([age, height, weight, pulse])
    return pd.DataFrame(np.clip(rows, *np.array(BOUNDS).T), columns=NAMES)


def released(rho: float = 1e8, **more) -> privcov.Release:
    """A seeded release of the table with bounds."""
    data = privcov.Dataset.from_rows(table(), bounds=BOUNDS, **more)
    return privcov.release(
        data, ZCDP(rho), "gaussian-cov", random_state=0, centre="classes" if "labels" in more else "joint"
    )


# --- hardly any noise: the models of scikit-learn on the rows themselves -------------------------------------


def test_regression_without_noise_is_least_squares():
    rows = table()
    for on in (None, ["age", "height"], ["height", "age"]):
        names = [name for name in NAMES if name != "weight"] if on is None else on
        model = PrivateLinearRegression.from_release(released(), "weight", on)
        exact = LinearRegression().fit(rows[names], rows["weight"])
        np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-3)
        np.testing.assert_allclose(model.predict(rows[names]), exact.predict(rows[names]), atol=0.02)
        assert model.feature_names_in_.tolist() == names
        assert model.score(rows[names], rows["weight"]) == pytest.approx(
            exact.score(rows[names], rows["weight"]), abs=1e-4
        )
        assert model.intervals_.attrs["r_squared"]["estimate"] == pytest.approx(
            exact.score(rows[names], rows["weight"]), abs=0.01
        )


def test_a_ridge_is_in_squared_half_ranges():
    """Ridge of scikit-learn on columns in half-ranges, whose penalty is n times ours."""
    rows = (table() - [np.mean(b) for b in BOUNDS]) / [(b[1] - b[0]) / 2 for b in BOUNDS]
    model = PrivateLinearRegression.from_release(released(), "weight", ["age", "height"], ridge=0.05)
    exact = Ridge(alpha=0.05 * (len(rows) - 1)).fit(rows[["age", "height"]], rows["weight"])
    np.testing.assert_allclose(model.coef_, exact.coef_ * 80 / np.array([50, 60]), rtol=1e-3)


def test_a_response_is_named_as_it_is_declared():
    rng = np.random.default_rng(4)
    age = rng.uniform(20, 80, 2000)
    rows = pd.DataFrame({"age": age, "smokes": np.where(rng.random(2000) < age / 100, "yes", "no")})
    kinds = {"age": privcov.Kind("number", 0, 100), "smokes": privcov.Kind("yes-no", values=("no", "yes"))}
    data = privcov.Dataset.from_rows(rows, kinds=kinds)
    rel = privcov.release(data, ZCDP(1e9), "auto-cov", centre="joint", random_state=0)
    model = PrivateLinearRegression.from_release(rel, "smokes", "age")
    slope, start = np.polyfit(age, rows["smokes"] == "yes", 1)
    assert model.coef_[0] == pytest.approx(slope, rel=1e-3)
    assert model.intercept_ == pytest.approx(start, rel=1e-2)


def test_principal_components_without_noise_are_those_of_the_columns_in_half_ranges():
    rows = table()
    scaled = (rows - [np.mean(b) for b in BOUNDS]) / [(b[1] - b[0]) / 2 for b in BOUNDS]
    model, exact = PrivatePCA.from_release(released(), 3), PCA(3).fit(scaled)
    turned = np.sign(np.sum(model.components_ * exact.components_, axis=1))
    np.testing.assert_allclose(model.components_ * turned[:, None], exact.components_, atol=1e-3)
    np.testing.assert_allclose(model.explained_variance_, exact.explained_variance_, rtol=1e-2)
    np.testing.assert_allclose(model.explained_variance_ratio_, exact.explained_variance_ratio_, atol=1e-3)
    np.testing.assert_allclose(model.transform(rows) * turned, exact.transform(scaled), atol=1e-2)
    whole = PrivatePCA.from_release(released())
    np.testing.assert_allclose(whole.inverse_transform(whole.transform(rows)), rows, atol=1e-8)
    assert model.get_feature_names_out().tolist() == ["privatepca0", "privatepca1", "privatepca2"]


@pytest.mark.parametrize("k", [2, 3])
def test_groups_without_noise_are_those_of_scikit_learn(k):
    rows = table()
    labels = np.array(["old", "young", "middle"])[np.digitize(rows["age"], [35, 60][: k - 1])]
    groups = privcov.answers(released(labels=labels)).groups()
    exact = LinearDiscriminantAnalysis(solver="lsqr").fit(rows, labels)
    assert list(groups.classes) == exact.classes_.tolist()
    np.testing.assert_allclose(groups.shares, exact.priors_, atol=1e-3)
    np.testing.assert_allclose(groups.means, exact.means_, atol=0.02)
    np.testing.assert_allclose(groups.within, exact.covariance_, rtol=0.01, atol=0.2)


# --- one release, many models --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder, rows = tmp_path_factory.mktemp("models"), table()
    private = privcov.PrivateDataset.from_rows(
        rows, bounds=BOUNDS, name="survey", labels=np.where(rows["age"] > 50, "old", "young"), classes=("old", "young")
    )
    ledger = privcov.Ledger(folder / "ledger.sqlite")
    ledger.set_limit("survey", ZCDP(5.0))
    rel = privcov.release_private(private, ZCDP(5.0), "auto-cov", ledger=ledger)
    rel.save_bundle(folder / "out.zip")
    return rel, folder / "out.zip", ledger


def test_models_of_a_bundle_are_those_of_its_release_and_spend_nothing(bundle):
    rel, place, ledger = bundle
    before, opened = ledger.entries(), privcov.open_bundle(place)
    for here, there in (
        (PrivatePCA.from_release(rel, 2), PrivatePCA.from_release(opened, 2)),
        (
            PrivateLinearRegression.from_release(rel, "weight", "height"),
            PrivateLinearRegression.from_release(opened, "weight", "height"),
        ),
    ):
        for name, value in vars(here).items():
            if isinstance(value, np.ndarray):
                assert np.array_equal(value, getattr(there, name)), name
        assert pickle.loads(pickle.dumps(here)).n_features_in_ == there.n_features_in_
    assert ledger.entries() == before


def test_every_number_is_one_of_answers(bundle):
    rel, *_ = bundle
    found = privcov.answers(rel)
    model = PrivateLinearRegression.from_release(rel, "pulse", ["age", "weight"])
    pd.testing.assert_frame_equal(model.intervals_, found.regress("pulse", ["age", "weight"]))
    assert model.intercept_ == pytest.approx(model.intervals_.attrs["intercept"]["estimate"], rel=1e-12)
    pca = PrivatePCA.from_release(rel)
    pd.testing.assert_frame_equal(pca.loadings_, found.components(4))
    pd.testing.assert_frame_equal(pca.eigenvalues_, found.eigenvalues())
    step, means = found.contrast("young", "old")["estimate"].to_numpy(), found.groups().means
    np.testing.assert_allclose(means[1] - means[0], step, rtol=1e-9, atol=1e-9)


def test_a_release_without_a_mean_is_about_the_typical_values():
    data = privcov.Dataset.from_rows(table(), bounds=BOUNDS)
    rel = privcov.release(data, ZCDP(1e8), "gaussian-cov", random_state=0, centre="none")
    middle = np.array([np.mean(b) for b in BOUNDS])
    assert PrivatePCA.from_release(rel).mean_.tolist() == middle.tolist()
    model = PrivateLinearRegression.from_release(rel, "weight", "height")
    assert model.predict(pd.DataFrame({"height": [middle[1]]}))[0] == pytest.approx(middle[2])


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda r: PrivateLinearRegression.from_release(r, "weigth"), "Did you mean 'weight'"),
        (lambda r: PrivateLinearRegression.from_release(r, "weight", ["weight"]), "names the response"),
        (lambda r: PrivateLinearRegression.from_release(r, "weight", ridge=-1), "ridge"),
        (lambda r: PrivatePCA.from_release(r, 5), r"n_components must be in 1\.\.4"),
    ],
)
def test_bad_input_is_one_sentence(ask, sentence):
    with pytest.raises(ValueError, match=sentence):
        ask(released())


def test_what_the_noise_hides_is_refused_with_what_to_do():
    with pytest.raises(
        ValueError, match=r"no inverse: the noise is too large, or .*do\)\. Name fewer regressors, a larger"
    ):
        PrivateLinearRegression.from_release(released(1e-6), "weight", ridge=0.0)
    labels = np.where(np.arange(4000) < 3, "few", "many")
    few, many = privcov.answers(released(1e-3, labels=labels)).groups().means
    assert np.isnan(few).all()
    assert not np.isnan(many).any()
    with pytest.raises(TypeError, match=r"open_bundle"):
        PrivatePCA.from_release("out.zip")


# --- with the rest of scikit-learn ---------------------------------------------------------------------------


def test_models_take_public_limits_of_columns():
    """Rows within them are not shortened, so slopes, axes and scores are those of the rows, but for the noise."""
    rng = np.random.default_rng(3)
    x = np.clip(rng.standard_normal((20_000, 3)), -3, 3)
    x[:, 1] *= 10
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    y = np.clip(2 * x[:, 0] - 0.1 * x[:, 1] + 0.1 * rng.standard_normal(len(x)), -12, 12)
    limits = {"a": (-3, 3), "b": (-30, 30), "c": (-3, 3)}
    more = {"guarantee": ZCDP(10.0), "random_state": 0}
    model = PrivateLinearRegression(bounds=limits | {"y": (-12, 12)}, **more).fit(frame, y)
    assert model.coef_ == pytest.approx([2, -0.1, 0], abs=0.05)
    same = PrivateLinearRegression(bounds=[*limits.values(), (-12, 12)], **more).fit(x, y)
    assert same.coef_ == pytest.approx(model.coef_)
    axes = PrivatePCA(bounds=limits, **more).fit(frame)
    assert axes.scale_ == pytest.approx([3, 30, 3])


def test_bounds_may_name_the_response_of_a_frame():
    rows = pd.DataFrame({"age": np.linspace(0, 1, 400), "pay": np.linspace(0.2, 0.8, 400)})
    limits = {"age": (0, 1), "pay": (0, 1)}
    model = PrivateLinearRegression(guarantee=ZCDP(1e9), bounds=limits, random_state=0).fit(rows[["age"]], rows["pay"])
    assert model.release_.columns == ("age", "pay")
    assert model.coef_[0] == pytest.approx(0.6, rel=1e-3)
    own = PrivateLinearRegression(guarantee=ZCDP(1e9), bounds=[(0, 1)] * 2, ridge=1.0)
    assert own.fit(rows[["age"]], rows["age"]).release_.columns == ("age", "age'")
    plain = PrivateLinearRegression(guarantee=ZCDP(1e9), row_bound=2.0).fit(rows[["age"]], list(rows["pay"]))
    assert plain.release_.columns == ("age", "y")


KINDS = {
    "age": privcov.Kind("number", 18, 90),
    "sex": privcov.Kind("yes-no", values=("F", "M")),
    "region": privcov.Kind("category", values=("n", "s", "w")),
}


def people(n: int = 20_000) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """A frame with text, its design matrix with the last region left out, and a response of it."""
    rng = np.random.default_rng(0)
    sex, region = np.where(rng.random(n) < 0.4, "M", "F"), rng.choice(["n", "s", "w"], n)
    frame = pd.DataFrame({"id": range(n), "sex": sex, "age": rng.uniform(18, 90, n), "region": region})
    design = np.column_stack([np.ones(n), frame["age"], sex == "M", region == "n", region == "s"]).astype(float)
    return frame, design, design @ [1000, 20, 300, 0, 100] + rng.normal(0, 200, n)


def test_kinds_take_a_frame_with_text():
    """The slopes are those of least squares, without the last level of a category, which follows from the others."""
    frame, design, pay = people()
    kinds = {**KINDS, "pay": privcov.Kind("number", 0, 5000)}
    want = np.linalg.lstsq(design, pay, rcond=None)[0]
    for y in (pd.Series(pay, name="pay"), list(pay)):
        model = PrivateLinearRegression(guarantee=ZCDP(1e8), kinds=kinds, random_state=0).fit(frame, y)
        assert list(model.intervals_["column"]) == ["age", "sex=M", "region=n", "region=s"]
        np.testing.assert_allclose(model.coef_, want[1:], rtol=1e-3)
        np.testing.assert_allclose(model.predict(frame[::-1]), (design @ want)[::-1], atol=0.01)
    assert model.n_features_in_ == 3
    order = np.random.default_rng(2).permutation(len(frame))
    other = PrivateLinearRegression(guarantee=ZCDP(1e8), kinds=kinds, random_state=0)
    other.fit(frame.iloc[order], pd.Series(pay[order], name="pay"))
    np.testing.assert_allclose(other.coef_, want[1:], rtol=1e-3, err_msg="rows and response by place, not by index")
    with pytest.raises(ValueError, match="Length"):
        clone(other).fit(frame, pay[:-1])
    logged = {**KINDS, "pay": privcov.Kind("number", 0, 9000, transform="log1p")}
    other = PrivateLinearRegression(guarantee=ZCDP(1e8), kinds=logged, random_state=0).fit(frame, pay.clip(0))
    want = np.linalg.lstsq(design, np.log1p(pay.clip(0)), rcond=None)[0]
    np.testing.assert_allclose(other.coef_, want[1:], rtol=1e-2, atol=1e-5)
    assert clone(model).fit(frame, pay).score(frame, pay) == pytest.approx(model.score(frame, pay))
    smokes = np.where(np.random.default_rng(1).random(len(frame)) < frame["age"] / 150, "yes", "no")
    kinds = {**KINDS, "smokes": privcov.Kind("yes-no", values=("no", "yes"))}
    model = PrivateLinearRegression(guarantee=ZCDP(1e8), kinds=kinds, random_state=0).fit(frame, smokes)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(design, smokes == "yes", rcond=None)[0][1:], atol=1e-5)


def test_kinds_of_the_other_models():
    frame, design, _ = people()
    model = PrivatePCA(1, ZCDP(1e8), kinds=KINDS, random_state=0).fit(frame)
    coded = np.column_stack([design[:, 1:], 1 - design[:, 3] - design[:, 4]])  # as kinds lists them
    np.testing.assert_allclose(model.mean_, coded.mean(axis=0), rtol=1e-3)
    np.testing.assert_allclose(
        model.transform(frame)[:, 0], (coded - model.mean_) / model.scale_ @ model.components_[0], atol=1e-9
    )


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda frame: PrivatePCA(kinds=KINDS, bounds=[(0, 1)]).fit(frame), "kinds hold the bounds"),
        (lambda frame: PrivatePCA(kinds=KINDS).fit(frame[["age"]]), "X has no column 'sex'"),
        (lambda frame: PrivateLinearRegression(kinds=KINDS).fit(frame, frame["age"]), "but the response, not \\[\\]"),
        (lambda frame: PrivateLinearRegression(kinds=KINDS).fit(frame.to_numpy(), frame["age"]), "pandas data frame"),
        (
            lambda frame: PrivateLinearRegression(kinds=KINDS).fit(frame[["age", "sex"]], frame["region"]),
            "is a category",
        ),
        (lambda frame: PrivatePCA(kinds=KINDS).fit(frame).transform(frame[["age"]]), "X has no column 'sex'"),
    ],
)
def test_a_frame_that_does_not_fit_its_kinds_is_one_sentence(ask, words):
    with pytest.raises(ValueError, match=words):
        ask(people(200)[0])


def test_a_regressor_that_never_varies_needs_a_ridge_that_is_found():
    """Without noise any ridge will do, and the search for the smallest never ended."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.uniform(0, 1, 442), np.full(442, 0.5)])
    model = PrivateLinearRegression(guarantee=privcov.NoPrivacy(), bounds=[(0, 1)] * 3)
    assert np.isfinite(model.fit(rows, rows[:, 0]).coef_).all()
    assert model.coef_[0] == pytest.approx(1.0, rel=1e-6)


def test_axes_of_equal_eigenvalues_are_not_identified():
    """Each column stands there twice, so two eigenvalues are zero, and their axes any two of a plane."""
    rows = np.repeat(np.random.default_rng(0).uniform(0, 1, (400, 2)), 2, axis=1)
    with pytest.warns(UserWarning, match="any mixture"):
        model = PrivatePCA(guarantee=privcov.NoPrivacy(), bounds=[(0, 1)] * 4).fit(rows)
    assert not model.identified_[2:].any()


def test_the_covariance_within_groups_is_divided_by_its_degrees_of_freedom():
    rows, labels = table(40), np.repeat(["a", "b"], 20)
    data = privcov.Dataset.from_rows(rows, bounds=BOUNDS, labels=labels)
    rel = privcov.release(data, ZCDP(1e12), "gaussian-cov", random_state=0, centre="classes")
    apart = rows - rows.groupby(labels).transform("mean")
    assert np.diag(privcov.answers(rel).groups().within) == pytest.approx((apart**2).sum() / 38, rel=1e-3)
