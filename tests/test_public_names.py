"""The names and keys other people's scripts use (design/house.md). Add to these lists; never take away."""

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import privcov

NAMES = [
    "PureDP",
    "ApproxDP",
    "ZCDP",
    "NoPrivacy",
    "Dataset",
    "PrivateDataset",
    "Ledger",
    "Truth",
    "Release",
    "Plan",
    "PrivateCovariance",
    "sources",
    "source",
    "methods",
    "release",
    "release_private",
    "run",
    "error",
    "graph_recovery",
]
METHODS = [
    "zero",
    "diagonal",
    "gaussian-cov",
    "laplace-cov",
    "auto-cov",
    "glasso-gaussian",
    "dp-thresholding",
    "modified-dp-thresholding",
    "ldp-thresholding",
    "modified-ldp-thresholding",
    "separate-cov",
    "adaptive-cov",
    "em-cov",
    "coinpress",
    "projection",
    "wishart-difference",
    "wishart-pure",
    "wishart-approx",
    "sulq",
    "ridge-precision",
    "glasso-laplace",
    "glasso-wishart-pure",
    "glasso-wishart-approx",
    "glasso-sulq",
    "output-perturbation",
    "auto-precision",
]
SOURCES = [
    "ar1-covariance",
    "banded-covariance",
    "sparse-covariance",
    "precision-wishart",
    "precision-full",
    "precision-ar2",
    "precision-random",
    "sparse-inverse",
    "zipf-norms",
    "example",
    "breast-cancer",
    "wine",
    "digits",
    "diabetes",
    "ionosphere",
    "sachs",
    "colon",
    "parkinsons",
    "microbiome",
    "mnist",
    "news",
]
# Every key house.md fixes; a key outside this list is a new promise and belongs there first.
ALL_METHODS = {
    *METHODS,
    "ridge-precision",
    "glasso-laplace",
    "glasso-wishart-pure",
    "glasso-wishart-approx",
    "glasso-sulq",
    "output-perturbation",
    "auto-precision",
}
ALL_SOURCES = {
    *SOURCES,
    "precision-wishart",
    "precision-full",
    "precision-random",
    "sparse-inverse",
    "ionosphere",
    "sachs",
    "colon",
    "parkinsons",
    "microbiome",
    "mnist",
    "news",
}
RELEASE = [
    "covariance",
    "precision",
    "second_moment",
    "mean",
    "count",
    "class_means",
    "class_counts",
    "raw",
    "path",
    "events",
    "statement",
    "method",
    "parameters",
    "to_json",
]


@pytest.mark.parametrize("name", NAMES)
def test_public_name(name):
    assert name in privcov.__all__
    assert getattr(privcov, name) is not None
    assert not inspect.ismodule(getattr(privcov, name))


def test_there_is_no_name_that_is_not_there():
    assert all(hasattr(privcov, name) for name in privcov.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'realease'"):
        _ = privcov.realease


def test_keys():
    methods, sources = [[card.key for card in cards] for cards in (privcov.methods(), privcov.sources())]
    assert set(METHODS) <= set(methods) <= ALL_METHODS
    assert set(SOURCES) <= set(sources) <= ALL_SOURCES


def arguments(function) -> dict:
    return {p.name: p.default for p in inspect.signature(function).parameters.values()}


def test_arguments():
    assert list(arguments(privcov.release))[:3] == ["method", "dataset", "guarantee"]
    assert {"seed": 0, "calibration": "sound", "centre": "auto", "tuning": "released"}.items() <= arguments(
        privcov.release
    ).items()
    assert {"norm": "frobenius", "relative": False, "against": "sample"}.items() <= arguments(privcov.error).items()
    assert list(arguments(privcov.Dataset.from_rows))[:6] == [
        "X",
        "row_bound",
        "bounds",
        "labels",
        "columns",
        "truth",
    ]
    assert list(arguments(privcov.graph_recovery)) == ["rel", "truth_precision", "threshold"]
    assert {
        "source",
        "source_params",
        "methods",
        "guarantees",
        "vary",
        "metrics",
        "replicates",
        "seed",
    } <= set(arguments(privcov.Plan))
    assert {"method", "guarantee", "row_bound", "random_state"} <= set(arguments(privcov.PrivateCovariance))


def test_a_release_has_its_fields():
    ds = privcov.Dataset.from_rows([[0.1, 0.2], [0.3, -0.1]])
    rel = privcov.release("auto-cov", ds, privcov.ZCDP(1.0))
    for name in RELEASE:
        assert hasattr(rel, name)
    assert privcov.Release.from_json(rel.to_json()).to_json() == rel.to_json()


def test_importing_is_light():
    """A page that shows a menu of methods must not wait for tables, learners or charts."""
    heavy = "pandas sklearn plotly streamlit scipy.stats matplotlib"
    code = (
        f"import sys, privcov; check = lambda: [h for h in '{heavy}'.split() if h in sys.modules]; "
        "assert check() == [], check(); privcov.methods(); assert check() == [], check()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
