"""Typical mistakes of somebody who uses the package from Python: each is one sentence that says what to do instead.

One row per mistake: what was written, the error, and the essential words of the sentence in their order.
"""

from __future__ import annotations

import datetime
import inspect
import re
from types import SimpleNamespace

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

import privcov
from privcov import Dataset, Kind, PrivateCovariance, PrivateDataset, Release, RowsClippedWarning, ZCDP, release, source
from privcov.tables.declaration.declaration import Column

ROWS = np.random.default_rng(0).uniform(-0.4, 0.4, size=(30, 2))
FRAME = pandas.DataFrame({"age": [0.1, 0.2, 0.3], "pay": [0.4, 0.5, 0.1]})
LIMITS = {"age": (0, 1), "pay": (0, 1)}
DATA = Dataset.from_rows(ROWS, 1.0)
RHO = ZCDP(0.5)
KINDS = {"region": Kind("category", values=("n", "s", "w")), "age": Kind("integer", 18, 90)}
NAMES = dict(vars(privcov)) | {
    "np": np,
    "pandas": pandas,
    "privcov": privcov,
    "date": datetime.date,
    **{name: getattr(privcov, name) for name in privcov.__all__},
    "ROWS": ROWS,
    "FRAME": FRAME,
    "LIMITS": LIMITS,
    "DATA": DATA,
    "RHO": RHO,
    "rel": release(DATA, RHO, "auto-cov", random_state=0),
    "kinds": release(Dataset.from_rows([["n", 40]] * 9, kinds=KINDS), RHO, "auto-cov", random_state=0),
    "AGE": KINDS["age"],
    "LEVELS": {"pain": Kind("ordinal", values=("None", "Some", "Much"))},
    "sparse": SimpleNamespace(toarray=lambda: ROWS),
    "private": PrivateDataset.from_rows,
    "lazy": SimpleNamespace(collect=lambda: FRAME),
}
MISTAKES = [
    # --- what other libraries write
    ("release(DATA, RHO, 'auto-cov', epsilon=1.0)", ValueError, "no parameter 'epsilon'", "privcov.ApproxDP"),
    ("Dataset.from_rows(ROWS, bounds={0: (0, 1), 1: (0, 1)})", ValueError, "names '0'", "columns are 'x1', 'x2'"),
    ("Dataset.from_rows(ROWS, bounds=[('0', '1')] * 2)", ValueError, "bounds of 'x1'", "two numbers"),
    ("Dataset.from_rows(ROWS, bounds=[(0, 1), (0, np.nan)])", ValueError, "'x2' has no bounds"),
    ("release(DATA, epsilon=1.0)", TypeError, "'guarantee'", "privcov.PureDP(1.0)"),
    ("PureDP(1.0, 1e-6)", TypeError, "PureDP() takes 2", "It takes epsilon.", "privcov.ApproxDP(1.0, 1e-6)"),
    ("ApproxDP(1.0)", TypeError, "missing", "'delta'", "privcov.ApproxDP(1.0, 1e-6)"),
    ("ZCDP(epsilon=1.0)", TypeError, "'epsilon'", "It takes rho.", "privcov.PureDP(1.0)"),
    ("privcov.answers(rel, alpha=0.05)", TypeError, "'alpha'", "It takes x, level, kurtosis.", "1 - alpha"),
    ("privcov.answers(rel, levle=0.9)", TypeError, "'levle'", "Did you mean 'level'?"),
    ("privcov.answers(rel).components(9)", ValueError, "n_components must be in 1..2, got n_components=9"),
    ("privcov.answers(rel).components(axes=1)", TypeError, "'axes'", "It takes n_components."),
    ("privcov.answers(rel).regress('x1', X=['x2'])", TypeError, "'X'", "It takes y, on, ridge."),
    ("privcov.check(FRAME)", TypeError, "private must be a PrivateDataset, got DataFrame", "PrivateDataset.from_rows"),
    ("privcov.answers(rel).regress(FRAME['age'])", TypeError, "y takes one value, got Series"),
    ("PrivateCovariance(epsilon=1.0)", TypeError, "'epsilon'", "It takes method, guarantee,", "privcov.ZCDP(rho=0.1)"),
    ("Dataset.from_rows(FRAME, bounds=LIMITS, person='age')", TypeError, "'person'", "PrivateDataset.from_rows"),
    ("Kind('number', 0, 1, unit='m')", TypeError, "'unit'", "It takes kind, low, high"),
    ("Dataset.from_rows(ROWS, bounds=[(0, 1e300)] * 2)", ValueError, "bounds of 'x1'", "at most 1e+100"),
    ("Dataset.from_rows(ROWS, columns=['a', ' '])", ValueError, "must have names, but one is empty"),
    ("rel.save_bundle('x.zip')", ValueError, "of a release by release_private", "to_json"),
    # --- the table
    ("Dataset.from_rows('rows.csv')", ValueError, "X must be an array", "got str", "pandas.read_csv"),
    ("Dataset.from_rows(None)", ValueError, "X must be an array", "got NoneType"),
    ("Dataset.from_rows({'age': [1, 2]})", ValueError, "got dict", "pandas.DataFrame"),
    ("Dataset.from_rows([{'age': 1}])", ValueError, "got shape (1,)", "pandas.DataFrame"),
    ("Dataset.from_rows(row for row in ROWS)", ValueError, "got generator", "list(X)"),
    ("Dataset.from_rows(lazy)", ValueError, "got SimpleNamespace", "X.collect()"),
    ("Dataset.from_rows(sparse)", ValueError, "sparse", "X.toarray()"),
    ("Dataset.from_rows(DATA)", ValueError, "X must be an array", "got Dataset"),
    ("Dataset.from_rows([])", ValueError, "n rows and d columns", "(0,)"),
    ("Dataset.from_rows([1.0, 2.0])", ValueError, "n rows and d columns", "(2,)", "X.reshape(-1, 1)"),
    ("Dataset.from_rows(FRAME['age'])", ValueError, "n rows and d columns", "(3,)", "X.reshape(-1, 1)"),
    ("Dataset.from_rows(np.ones((2, 2, 2)))", ValueError, "n rows and d columns", "(2, 2, 2)"),
    ("Dataset.from_rows(FRAME[:0])", ValueError, "n rows and d columns", "(0, 2)"),
    ("Dataset.from_rows([[1, 2], [3]])", ValueError, "rows of one length", "row 1 has 1 cells and row 0 has 2"),
    ("Dataset.from_rows([[1, [2, 3]]])", ValueError, "a cell of it holds several values"),
    ("Dataset.from_rows([[1, 'a']])", ValueError, "Column 1 holds text", "pandas.to_numeric"),
    ("Dataset.from_rows([['1,5', '2']])", ValueError, "Column 0 holds text", "pandas.to_numeric"),
    ("Dataset.from_rows(FRAME.assign(pay=['a', 'b', 'c']))", ValueError, "Column 'pay' holds text", "labels"),
    ("Dataset.from_rows(FRAME.astype({'pay': 'category'}))", ValueError, "Column 'pay' holds categories", "labels"),
    ("Dataset.from_rows(FRAME.assign(pay=pandas.Timestamp(0)))", ValueError, "'pay' holds dates", "days since"),
    ("Dataset.from_rows(FRAME.assign(pay=pandas.Timedelta(1)))", ValueError, "'pay' holds dates", "days since"),
    ("Dataset.from_rows([[date(2020, 1, 1)]])", ValueError, "Column 0 holds dates", "days since"),
    ("Dataset.from_rows(np.array([['2020']], dtype='M8[D]'))", ValueError, "X holds dates", "days since"),
    ("Dataset.from_rows(FRAME.assign(pay=pandas.Period('2020')))", ValueError, "'pay' holds values of type Period"),
    ("Dataset.from_rows(ROWS + 1j)", ValueError, "complex numbers", "two columns"),
    ("Dataset.from_rows([[1.0, np.nan]])", ValueError, "columns [1] hold missing", "missing='drop-row'"),
    ("Dataset.from_rows([[1.0, None]])", ValueError, "columns [1] hold missing", "missing='drop-row'"),
    ("Dataset.from_rows(FRAME.replace(0.5, np.inf))", ValueError, "columns ['pay'] hold", "infinite", "drop-row"),
    (
        "Dataset.from_rows(np.ma.masked_less(ROWS, 0.1))",
        ValueError,
        "columns [0, 1] hold missing",
        "missing='drop-row'",
    ),
    ("Dataset.from_rows(pandas.concat([FRAME, FRAME], axis=1))", ValueError, "different names", "'age' comes twice"),
    # --- what is said about it
    ("Dataset.from_rows(ROWS, columns=['age'])", ValueError, "columns must name all 2", "got 1"),
    ("Dataset.from_rows(ROWS, columns='ab')", ValueError, "list of names", "'ab'"),
    ("Dataset.from_rows(FRAME, labels='pay')", ValueError, "one entry per row (3)", "'pay'", "Give the column"),
    ("Dataset.from_rows(FRAME, labels=['a'])", ValueError, "one entry per row (3)", "got 1"),
    ("Dataset.from_rows(FRAME, bounds={'age': (0, 1), 'Pay': (0, 1)})", ValueError, "names 'Pay'", "mean 'pay'"),
    ("Dataset.from_rows(FRAME, bounds={'age': (0, 1)})", ValueError, "lacks 'pay'", "leave the columns out"),
    ("Dataset.from_rows(FRAME, bounds={'age': 3, 'pay': (0, 1)})", ValueError, "'age' has no bounds"),
    ("Dataset.from_rows(FRAME, bounds=(0, 1))", ValueError, "'age' has no bounds"),
    (
        "Dataset.from_rows(np.ones((4, 3)), bounds=[(0, 0, 0), (1, 1, 1)])",
        ValueError,
        "one entry per column, 3 in all, got 2",
    ),
    ("Dataset.from_rows(FRAME, bounds={'age': (1, 0), 'pay': (0, 1)})", ValueError, "'age'", "low < high", "1 and 0"),
    (
        "Dataset.from_rows(FRAME, bounds={'age': (0, None), 'pay': (0, 1)})",
        ValueError,
        "'age' has no bounds",
        "domain knowledge",
    ),
    ("Dataset.from_rows(FRAME, typical=[0, 0])", ValueError, "typical needs bounds"),
    ("Dataset.from_rows(FRAME, bounds=LIMITS, typical=[0, 2])", ValueError, "inside the bounds", "pay"),
    ("Dataset.from_rows(FRAME, bounds=LIMITS, typical=['a', 'b'])", ValueError, "typical must be a number"),
    ("Dataset.from_rows(ROWS, row_bound=-1)", ValueError, "row_bound must be > 0", "-1", "domain knowledge"),
    ("Dataset.from_rows(ROWS, row_bound='1')", ValueError, "row_bound must be a number", "'1'"),
    ("Dataset.from_rows(ROWS, provenance='private')", ValueError, "provenance must be one of", "'public'"),
    # --- private rows
    ("private(FRAME, bounds={'age': (0, 1), 'Pay': (0, 1)})", ValueError, "bounds names 'Pay'", "mean 'pay'"),
    ("private(FRAME, bounds={'age': (0, 1)})", ValueError, "bounds must name every column", "lacks 'pay'"),
    ("private(FRAME, bounds={'age': 3, 'pay': (0, 1)})", ValueError, "'age' has no bounds", "domain knowledge"),
    ("private(FRAME, bounds=(0, 1))", ValueError, "'age' has no bounds", "lowest and highest"),
    ("private(FRAME, bounds=1)", ValueError, "bounds must have one entry per column, 2 in all, got 1", "(low, high)"),
    ("private(FRAME, bounds=LIMITS, typical={'age': 1, 'pey': 0})", ValueError, "typical names 'pey'", "mean 'pay'"),
    (
        "private(FRAME, bounds=LIMITS, typical=0.5)",
        ValueError,
        "typical must have one entry per column, 2 in all",
        "got 0.5",
    ),
    ("private(FRAME)", ValueError, "exactly one of row_bound and bounds, got neither", "domain knowledge"),
    ("private(FRAME.assign(pay=['a', 'b', 'c']), 1.0)", ValueError, "Column 'pay' holds text", "kinds={'pay': Kind("),
    (
        "private(FRAME.astype({'pay': 'category'}).assign(ward=['a', 'b', 'c']), 1.0)",
        ValueError,
        "Column 'pay' holds categories. Column 'ward' holds text. Declare",
        "kinds={'pay': Kind('category', values=(...)), 'ward': Kind('category', values=(...)), ...}",
    ),
    ("private(FRAME.assign(pay=pandas.Timestamp(0)), 1.0)", ValueError, "'pay' holds dates", "Kind('date'"),
    ("private(ROWS + 1j, 1.0)", ValueError, "complex numbers", "two columns"),
    ("private('rows.csv', 1.0)", ValueError, "X must be an array", "got str", "from_files"),
    ("private(lazy, 1.0)", ValueError, "got SimpleNamespace", "X.collect()"),
    ("private(pandas.concat([FRAME, FRAME], axis=1), 1.0)", ValueError, "different names", "'age' comes twice"),
    ("private(FRAME, 1.0, columns='ab')", ValueError, "list of names", "'ab'"),
    ("private(FRAME.assign(Id=1), 1.0, person='id')", ValueError, "name of one column", "persons=[...]", "mean 'Id'"),
    # --- the guarantee
    ("release(DATA, 0.1, 'auto-cov')", TypeError, "guarantee must be", "got 0.1", "privcov.ZCDP(rho=0.1)"),
    ("release(DATA, 'zcdp')", TypeError, "guarantee must be", "got 'zcdp'", "privcov.ZCDP(rho=0.1)"),
    ("release(DATA, ZCDP, 'auto-cov')", TypeError, "guarantee must be", "privcov.ZCDP(rho=0.1)"),
    ("release(DATA, PureDP(1), 'gaussian-cov')", ValueError, "gives Approximate DP or zCDP, not Pure DP"),
    ("ZCDP('0.1')", ValueError, "rho must be a number", "'0.1'"),
    ("PureDP(0)", ValueError, "epsilon must be > 0", "the method 'zero'"),
    ("ApproxDP(1e-6, 1)", ValueError, "delta must be > 0 and < 1", "PureDP"),
    (
        "privcov.core.guarantees.from_dict({'kind': 'zdcp', 'rho': 1})",
        ValueError,
        "must be one of",
        "'zdcp'",
        "mean 'zcdp'",
    ),
    # --- the release
    ("release(FRAME, RHO, 'auto-cov')", TypeError, "got DataFrame", "Dataset.from_rows", "bounds"),
    ("release(PrivateDataset.from_rows(ROWS, 1.0, name='survey'), RHO, 'auto-cov')", TypeError, "release_private"),
    ("release(DATA, RHO, RHO)", TypeError, "method must be a key", "got ZCDP", "The guarantee comes before"),
    ("release(DATA, 'auto-cov', RHO)", TypeError, "got ZCDP", "The guarantee comes before the method"),
    ("PrivateCovariance(RHO).fit(ROWS)", TypeError, "got ZCDP", "The guarantee comes before"),
    ("release('auto-cov', DATA, RHO)", TypeError, "The order is", "data set, guarantee, method"),
    ("release(RHO, DATA, 'auto-cov')", TypeError, "The order is", "data set, guarantee, method"),
    ("release(DATA, privcov.PureDP(1.0), 'gaussian-cov')", ValueError, "not Pure DP", "auto-cov", "laplace-cov"),
    ("privcov.Dataset(FRAME)", TypeError, "Dataset.from_rows(table"),
    ("privcov.PrivateDataset(FRAME)", TypeError, "PrivateDataset.from_rows(table"),
    ("privcov.Plan(DATA, guarantees=[RHO])", TypeError, "source must be a key", "privcov.release"),
    ("release(DATA, RHO, 'autocov')", ValueError, "no method 'autocov'", "There are: auto-cov", "mean 'auto-cov'"),
    ("release(DATA, RHO, 'gaussian_cov')", ValueError, "no method 'gaussian_cov'", "mean 'gaussian-cov'"),
    ("release(DATA, RHO, 'gaussian-cov', repiar='none')", ValueError, "no parameter 'repiar'", "mean 'repair'"),
    ("release(DATA, RHO, 'gaussian-cov', seed=1)", ValueError, "no parameter 'seed'", "random_state="),
    ("release(DATA, RHO, 'auto-cov', random_state='x')", ValueError, "random_state must be a number", "'x'"),
    ("release(DATA, RHO, 'auto-cov', centre='Joint')", ValueError, "centre must be one of", "mean 'joint'"),
    ("release(DATA, RHO, 'auto-cov', centre='zero')", ValueError, "publicly known to be zero", "centre='joint'"),
    ("release(DATA, RHO, 'auto-cov', centre='classes')", ValueError, "a label for every row", "centre='joint'"),
    ("release(DATA, RHO, 'auto-cov', neighbours='add_remove')", ValueError, "one of", "mean 'add-remove'"),
    ("Release.from_json('{}')", ValueError, "has format None", "Read it with the privcov that made it"),
    ("privcov.error(rel, DATA, norm='frobenious')", ValueError, "norm must be one of", "mean 'frobenius'"),
    ("privcov.error(rel, DATA, against='truth')", ValueError, "no known truth", "against='sample'"),
    ("privcov.graph_recovery(rel, np.eye(2))", ValueError, "no precision matrix", "target is precision"),
    # --- other names
    ("source('ar1')", ValueError, "no source 'ar1'", "mean 'ar1-covariance'"),
    ("source('ar1-covariance', N=9)", ValueError, "no parameter 'N'", "mean 'n'"),
    ("privcov.Realease", AttributeError, "no attribute 'Realease'", "mean 'Release'"),
    ("privcov.zCDP", AttributeError, "no attribute 'zCDP'", "mean 'ZCDP'"),
    ("Plan(source='wine', methods='auto-cov', guarantees=[RHO])", ValueError, "methods must be a list", "'auto-cov'"),
    ("rel.cov", AttributeError, "no attribute 'cov'", "mean 'covariance'"),
    ("privcov.answers(rel).mean()", AttributeError, "no answer 'mean'", "mean 'means'"),
    ("privcov.answers(rel).corr()", AttributeError, "no answer 'corr'", "mean 'correlation"),
    ("rel.corr()", AttributeError, "no attribute 'corr'", "mean 'correlation'"),
    ("privcov.answers(rel, level=95)", ValueError, "got level=95", "Write 0.95"),
    ("private(FRAME, bounds=LIMITS, persons='age')", ValueError, "persons must be the ids", "person='age'"),
    ("private(FRAME, bounds=LIMITS, person='id')", ValueError, "person='id'", "X has no such column"),
    ("Dataset.from_rows([['none']] * 9, kinds=LEVELS)", ValueError, "No cell of 'pain'", "as the cells have them"),
    ("Dataset.from_rows([['none']] * 9, kinds=LEVELS, missing='typical')", ValueError, "No cell of 'pain'"),
    ("privcov.Covariance", AttributeError, "no attribute 'Covariance'", "mean 'PrivateCovariance'"),
    ("privcov.answers(rel).correlations(level=0.9)", TypeError, "'level'", "privcov.answers(x, level=0.95)"),
    ("privcov.answers(FRAME)", TypeError, "got DataFrame", "privcov.release"),
    ("privcov.answers(rel).regress('x1', ['q'])", ValueError, "names 'q', which is no column", "x1, x2"),
    ("privcov.answers(kinds).regress('age', 'region')", ValueError, "levels: region=n, region=s, region=w."),
    ("privcov.run('wine')", TypeError, "plan must be a privcov.Plan, got str"),
    ("privcov.open_bundle(rel)", TypeError, "got Release", "privcov.answers"),
    ("rel.precision", AttributeError, "no precision matrix", "has 'covariance'", "auto-precision"),
    ("Dataset.from_rows(FRAME, bounds=LIMITS, columns=['pay', 'age'])", ValueError, "renames", "X[['pay', 'age']]"),
    ("Dataset.from_rows(FRAME, kinds={'agee': AGE})", ValueError, "no column 'agee'", "mean 'age'"),
    ("Dataset.from_rows(FRAME, kinds={'age': 'integer'})", ValueError, "as {'age': Kind(", "got 'integer' for 'age'"),
    # --- a value of another type
    ("private(ROWS, RHO, classes=5, labels=[1])", TypeError, "classes takes a list, got 5"),
    (
        "PrivateDataset.from_files('a.csv', declaration='b.json')",
        TypeError,
        "Declaration.from_json(text).dataset_from_files(path)",
    ),
    ("private(ROWS, 1.0, persons=5)", TypeError, "persons takes a list, got 5"),
    ("private(ROWS, bounds=[(0, pandas.NA)] * 2)", ValueError, "bounds of 'x1'", "two numbers"),
    ("private(ROWS, bounds=[(0, 10**400)] * 2)", ValueError, "bounds of 'x1' must be finite"),
    ("Kind('number', pandas.NA, 1)", ValueError, "low must be a number", "<NA>"),
    ("PrivateDataset.from_files(5, 1.0)", TypeError, "paths takes the path of a file", "got int"),
    ("PrivateDataset.from_files('a.csv', 1.0, dialect=';')", TypeError, "privcov.Dialect", "Dialect(separator=';')"),
    ("privcov.Ledger(ROWS)", TypeError, "path takes one value, got ndarray"),
    ("privcov.open_bundle(FRAME)", TypeError, "path takes one value, got DataFrame"),
    ("rel.to_frame(FRAME)", TypeError, "which takes one value, got DataFrame"),
    ("rel.plot(FRAME)", TypeError, "which takes one value, got DataFrame"),
    ("privcov.Release.from_json(FRAME)", TypeError, "text takes one value, got DataFrame"),
    ("privcov.Declaration.from_json(FRAME)", TypeError, "text takes one value, got DataFrame"),
    ("privcov.Truth('x')", ValueError, "covariance must be a square matrix of numbers, got 'x'"),
    ("Dataset.from_rows(ROWS, 1.0, truth=FRAME)", ValueError, "a privcov.Truth of 2 columns, got DataFrame"),
    ("privcov.error(FRAME, DATA)", TypeError, "rel must be a privcov.Release, got DataFrame"),
    ("privcov.error(rel, DATA, relative='x')", ValueError, "relative must be one of True, False"),
    ("privcov.graph_recovery([['a', 'b']], np.eye(2))", ValueError, "square matrix of numbers, got list"),
    ("PrivateCovariance().fit([['a', 'b'], ['c', 'd']])", ValueError, "must hold numbers", "text"),
    ("PrivateCovariance(row_bound=np.array(5.0)).fit(ROWS)", TypeError, "row_bound takes one value, got ndarray"),
    # --- scikit-learn
    ("PrivateCovariance().score(ROWS)", NotFittedError, "not fitted"),
    ("PrivateCovariance('gausian-cov').fit(ROWS)", ValueError, "no method", "mean 'gaussian-cov'"),
    ("PrivateCovariance(bounds=LIMITS).fit(ROWS)", ValueError, "names 'age'", "columns are 'x1', 'x2'"),
    ("PrivateCovariance().fit(FRAME.assign(pay=pandas.Timestamp(0)))", ValueError, "'pay' holds dates"),
    ("PrivateCovariance().fit(np.ma.masked_less(ROWS, 0.1))", ValueError, "hold missing"),
    # --- no bound
    ("Dataset.from_rows(50 * ROWS)", RowsClippedWarning, "R = 1", "100 % of the rows", "bounds={column: (low, high)}"),
    ("PrivateCovariance().fit(50 * ROWS)", RowsClippedWarning, "R = 1", "100 % of the rows", "row_bound"),
]


@pytest.mark.parametrize(("code", "kind", "words"), [(c, k, w) for c, k, *w in MISTAKES], ids=[c for c, *_ in MISTAKES])
def test_a_mistake_is_answered_in_one_sentence(code, kind, words):
    pattern = ".*".join(map(re.escape, words))
    if issubclass(kind, Warning):
        with pytest.warns(kind, match=pattern):
            eval(code, NAMES)
        return
    with pytest.raises(kind, match=pattern) as caught:
        eval(code, NAMES)
    said = str(caught.value)
    assert type(caught.value) is kind
    assert "\n" not in said
    assert said[-1] in ".?"


def test_a_type_error_from_inside_is_not_taken_for_wrong_arguments():
    @privcov.core.checks.explain_arguments
    def half(x):
        return x / 2

    with pytest.raises(TypeError, match=r"^unsupported operand"):
        half("a")
    with pytest.raises(TypeError, match=r"half\(\) got an unexpected keyword argument 'y'. It takes x\.$"):
        half(y=1)


def test_the_names_that_the_table_uses_are_right_when_they_are_spelt_right():
    """A table of mistakes would also pass where everything fails."""
    assert release(Dataset.from_rows(FRAME, bounds=LIMITS), RHO, "auto-cov", random_state=1).columns == ("age", "pay")
    assert source("ar1-covariance", n=9, random_state=0).n == 9
    assert PrivateCovariance(bounds=LIMITS).fit(FRAME).release_.columns == ("age", "pay")
    assert Release.from_json(NAMES["rel"].to_json()).n == 30
    assert PrivateDataset.from_rows(ROWS, 1.0, name="survey").facts.columns == ("x1", "x2")


def test_a_delta_that_permits_publishing_a_row_has_a_note():
    data = privcov.source("ar1-covariance", n=200, d=3, random_state=0)
    for delta, count in ((0.006, 1), (0.005, 1), (1e-6, 0)):
        rel = privcov.release(data, privcov.ApproxDP(1.0, delta), "auto-cov", random_state=1)
        assert sum("publishing a random row" in note for note in rel.notes) == count


SECRET = 0.98765
TABLES = [
    np.full((6, 2), SECRET), [[SECRET] * 2] * 6, pandas.DataFrame(np.full((6, 2), SECRET), columns=["a", "b"]),
    pandas.Series([SECRET] * 6), pandas.DataFrame({"a": ["WORD98765"] * 3}),
]  # fmt: skip


def _calls(folder) -> dict[str, tuple]:
    """What somebody calls with rows of a confidential table at hand, and arguments with which it works."""
    column = Column("a", 0, 1, reason="r")
    table = PrivateDataset.from_rows(ROWS, bounds=[(-1, 1)] * 2, name="t")
    ledger = privcov.Ledger(folder / "ledger.sqlite")
    ledger.set_limit("t", ZCDP(1.0))
    told = {"name": "t", "row_stands_for": "one", "columns": (column,)}
    return {
        "release_private": (privcov.release_private, {"private": table, "guarantee": RHO, "ledger": ledger}),
        "from_rows": (PrivateDataset.from_rows, {"X": ROWS, "bounds": [(-1, 1)] * 2}),
        "from_files": (PrivateDataset.from_files, {"paths": "x.csv", "bounds": {"a": (0, 1)}, "name": "t"}),
        "set_limit": (ledger.set_limit, {"name": "t", "guarantee": RHO}),
        "Kind": (Kind, {"kind": "number", "low": 0, "high": 1}),
        "Column": (Column, {"name": "a", "low": 0, "high": 1, "reason": "r"}),
        "Dialect": (privcov.Dialect, {}),
        "Declaration": (privcov.Declaration, told),
        "expect": (privcov.expect, {"n": 100, "d": 2, "guarantee": RHO}),
    }


NAMES_OF_CALLS = ("release_private", "from_rows", "from_files", "set_limit", "Kind", "Column", "Dialect", "Declaration",
                  "expect")  # fmt: skip


@pytest.mark.parametrize("name", NAMES_OF_CALLS)
def test_no_message_repeats_rows_that_came_to_the_wrong_parameter(name, tmp_path):
    """Every parameter is given tables of every kind; what is raised is a sentence of ours."""
    call, works = _calls(tmp_path)[name]
    taken = [one for one in inspect.signature(call).parameters if one not in ("X", "parameters", "progress")]
    told = []
    for parameter in taken:
        for table in TABLES:
            try:
                call(**(works | {parameter: table}))
            except (ValueError, TypeError) as problem:
                told.append(str(problem))
    assert len(told) >= 5 * (len(taken) - 3)
    for sentence in told:
        assert "98765" not in sentence
        assert not re.search("truth value|has no attribute|unhashable|inhomogeneous", sentence)


def test_rows_of_one_dimension_and_a_table_for_a_path_are_not_repeated(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.array([7301.5, 8812.4, 9127.7])
    with pytest.raises(ValueError, match="must have 2 dimensions, got 1") as caught:
        privcov.PrivateCovariance(guarantee=privcov.ZCDP(1.0), row_bound=1.0).fit(rows)
    assert "7301" not in str(caught.value)
    with pytest.raises(TypeError, match="path takes one value, got DataFrame"):
        privcov.Ledger(pandas.DataFrame({"a": rows}))
    assert list(tmp_path.iterdir()) == []
