"""The names and keys other people's scripts use: add to these lists, never take away. And what each name says."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import privcov
from tests.patience import patient

SOURCE_OF = re.compile(r"\b(18|19|20)\d\d\b|[Pp]apers? \d|[Oo]wn |scikit-learn")
NAMES = [
    "PureDP",
    "ApproxDP",
    "ZCDP",
    "NoPrivacy",
    "Dataset",
    "Dialect",
    "PrivateDataset",
    "Kind",
    "Ledger",
    "Truth",
    "RowsClippedWarning",
    "Release",
    "Plan",
    "PrivateCovariance",
    "sources",
    "source",
    "methods",
    "release",
    "release_private",
    "run",
    "check",
    "expect",
    "error",
    "graph_recovery",
    "answers",
    "open_bundle",
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
    "block-covariance",
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
    "sachs",
]
RELEASE = [
    "covariance",
    "precision",
    "second_moment",
    "mean",
    "count",
    "class_means",
    "class_counts",
    "noisy_moment",
    "path",
    "events",
    "statement",
    "method",
    "parameters",
    "to_json",
    "measurement",
    "entry",
    "save_bundle",
    "to_frame",
    "plot",
    "plot_spectrum",
    "plot_network",
    "plot_errors",
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
    assert set(METHODS) <= set(methods), "a key that is promised stays"
    assert set(SOURCES) <= set(sources)


def arguments(function) -> dict:
    return {p.name: p.default for p in inspect.signature(function).parameters.values()}


def test_arguments():
    assert list(arguments(privcov.release))[:3] == ["dataset", "guarantee", "method"]
    assert {"random_state": None, "calibration": "sound", "centre": "auto", "tuning": "released"}.items() <= arguments(
        privcov.release
    ).items()
    assert {"norm": "frobenius", "relative": False, "against": "sample"}.items() <= arguments(privcov.error).items()
    assert list(arguments(privcov.Dataset.from_rows))[:6] == ["X", "row_bound", "bounds", "labels", "columns", "truth"]
    assert list(arguments(privcov.graph_recovery)) == ["rel", "truth_precision", "threshold"]
    assert {"source", "source_params", "methods", "guarantees", "vary", "metrics", "replicates", "seed"} <= set(
        arguments(privcov.Plan)
    )
    assert {"method", "guarantee", "row_bound", "random_state"} <= set(arguments(privcov.PrivateCovariance))


def test_a_release_has_its_fields():
    ds = privcov.Dataset.from_rows([[0.1, 0.2], [0.3, -0.1]])
    rel = privcov.release(ds, privcov.ZCDP(1.0), "auto-cov", random_state=0)
    assert [name for name in RELEASE if not hasattr(rel, name)] == ["precision"]
    assert privcov.Release.from_json(rel.to_json()).to_json() == rel.to_json()


def test_importing_is_light():
    """A page that shows a menu of methods must not wait for tables, learners or charts."""
    heavy = "pandas sklearn plotly streamlit scipy.stats matplotlib"
    code = (
        f"import sys, privcov; check = lambda: [h for h in '{heavy}'.split() if h in sys.modules]; "
        "assert check() == [], check(); privcov.methods(); assert check() == [], check()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=patient(60)
    )
    assert done.returncode == 0, done.stderr


# --- docstrings ---------------------------------------------------------------------------------------------


def modules() -> list:
    """Every module of privcov, imported."""
    root = Path(privcov.__file__).parent
    names = [p.relative_to(root.parent).with_suffix("").parts for p in sorted(root.rglob("*.py"))]
    doors = {("privcov", "__init__"), ("privcov", "__main__")}
    return [importlib.import_module(".".join(n).removesuffix(".__init__")) for n in names if n not in doors]


def said(of) -> str:
    """The docstring, its own or that of the method it overrides; the signature a dataclass makes up does not count."""
    text = inspect.getdoc(of) or ""
    return "" if inspect.isclass(of) and text.startswith(f"{of.__name__}(") else text


def public_names(module):
    """(name, object) of every function and class it defines without an underscore, and of methods and properties."""
    for name, thing in vars(module).items():
        mine = getattr(thing, "__module__", "") == module.__name__
        if name.startswith("_") or not mine or not (inspect.isclass(thing) or inspect.isroutine(thing)):
            continue
        yield f"{module.__name__}.{name}", thing
        for part, value in vars(thing).items() if inspect.isclass(thing) else ():
            bare = inspect.unwrap(getattr(value, "__func__", value)) if not isinstance(value, property) else value
            if not part.startswith("_") and (isinstance(value, property) or inspect.isfunction(bare)):
                yield f"{module.__name__}.{name}.{part}", getattr(thing, part)


def test_every_public_name_has_a_docstring():
    """A name without an underscore is read by somebody: functions, classes, methods and properties, in every module."""
    found = modules()
    assert len(found) > 150
    assert [m.__name__ for m in found if not said(m)] == []
    lacking = [name for m in found for name, thing in public_names(m) if not said(thing)]
    assert lacking == [], f"{len(lacking)} without a docstring"


def test_the_names_of_the_package_have_docstrings():
    assert [name for name in privcov.__all__ if not said(getattr(privcov, name))] == []


def test_what_pages_take_from_each_other_has_a_docstring():
    """Of the pages' rooms: what another file imports by name or calls through its module."""
    root = Path(privcov.__file__).parents[1] / "pages"
    trees = {p: ast.parse(p.read_text(encoding="utf-8")) for p in sorted(root.rglob("*.py"))}
    wanted = set()
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pages."):
                wanted |= {(node.module.rpartition(".")[2], alias.name) for alias in node.names}
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                wanted.add((node.value.id, node.attr))
    lacking = [
        f"{path.name} {node.name}"
        for path, tree in trees.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and (path.stem, node.name) in wanted
        if not ast.get_docstring(node)
    ]
    assert lacking == [], f"{len(lacking)} without a docstring"


@pytest.mark.parametrize("card", privcov.methods(), ids=lambda card: card.key)
def test_a_method_says_its_guarantee_its_proof_and_its_source(card):
    """The proof of what is proved is a file that exists; a source has a year or is one of the papers, or is our own."""
    told = said(card.cls)
    assert re.search(r"^Guarantee(:|\n-{9}$)", told, re.M)
    assert card.standing == "reference" or SOURCE_OF.search(card.reference), card.reference
    if card.standing == "proved":
        named = re.findall(
            r"((?:measurements|postprocess)/[\w{},]+?|wishart_curve|noise|moment|norm_histogram)\.py", told
        )
        assert named, f"{card.key}: name the file of the proof"
        for name in named:
            assert any(Path(privcov.__file__).parent.rglob(f"{name.rpartition('/')[2]}.py")) or "{" in name, name


@pytest.mark.parametrize("card", privcov.sources(), ids=lambda card: card.key)
def test_a_source_of_data_says_where_it_is_from(card):
    assert said(card.cls)
    assert card.group == "Simulated" or SOURCE_OF.search(card.reference) or "simulated" in card.summary.lower()


def test_a_measurement_says_its_guarantee_and_its_sensitivity():
    """A function that opens a share says what it guarantees; its file, which change of the statistic that covers."""
    found = [m for m in modules() if m.__name__.startswith("privcov.measurements.")]
    opening = [
        (m, f)
        for m in found
        for name, f in vars(m).items()
        if name.startswith("measure_") and f.__module__ == m.__name__
    ]
    assert len(opening) >= 12
    for module, function in opening:
        assert re.search(r"[Gg]uarantee|event", said(function)), function.__name__
        assert re.search(r"[Ss]ensitiv|[Nn]eighbours|[Rr]eplac|l1|l2", said(module)), module.__name__
