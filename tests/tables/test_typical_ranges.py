"""What follows from where most people lie: limits, typical value, weight, row bound; the same facts everywhere."""

import dataclasses
import json

import numpy as np
import pytest

from privcov.bundle.archive import BundleError
from privcov.bundle.inputs import facts_of
from privcov.tables.declaration.declaration import Column, Declaration, row_bound_fraction
from privcov.tables.declaration.spreadsheet import columns_of, text_of
from privcov.tables.declaration.template import header_of, template

AGE = Column("age", typical_range=(20, 70))
PAY = Column("pay", low=0, high=1e6, typical_range=(500, 20_000), transform="log1p")
SCORE = Column("score", kind="ordinal", values=("no", "low", "mid", "high"), typical_range=("low", "high"))
SEEN = Column("seen", 0, 1, kind="number", reason="coded")
DAY = Column(
    "day", "2020-01-01", "2025-01-01", None, "the study", kind="date", typical_range=("2023-01-01", "2024-01-01")
)


def declaration(*columns: Column, **more) -> Declaration:
    more = {"row_bound_fraction": row_bound_fraction(columns)} | more
    return Declaration("t", "one person", columns, **more)


@pytest.mark.parametrize(
    ("ends", "low", "high", "typical"),
    [((20, 70), 0, 120, 45), ((-4, 4), -12, 12, 0), ((0.002, 0.01), 0, 0.018, 0.006), ((120, 180), 60, 240, 150)],
)
def test_limits_are_three_times_as_far_and_the_middle_is_typical(ends, low, high, typical):
    column = Column("x", typical_range=ends)
    assert (column.low, column.high, column.typical) == (low, high, typical)
    assert column.reason == "from where nine in ten people lie"
    kept = Column("x", 1, 1000, reason="the form", typical_range=(20, 70))
    assert (kept.low, kept.high, kept.reason) == (1, 1000, "the form")


def test_scales_levels_and_dates_have_their_own_middle():
    assert PAY.typical == pytest.approx(np.expm1(np.log1p([500, 20_000]).mean()), rel=0.05)
    assert Column("pay", typical_range=(500, 20_000), transform="log").low > 0
    assert SCORE.typical == "mid"
    assert DAY.typical == "2023-07-02"
    assert Column("n", typical_range=(1, 4), kind="integer").typical in (2, 3)
    assert Column("n", typical_range=(1.5, 12.5), kind="integer").typical == 7
    open_ = Column("seen", kind="date", typical_range=("01.01.2023", "2024-01-01"), format="%d.%m.%Y")
    assert (open_.low, open_.high, open_.typical) == ("2022-01-01", "2024-12-31", "2023-07-02")
    assert Column("pay", typical_range=(0, 9), transform="sqrt").low == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"typical_range": (70, 20)}, "the lower one first"),
        ({"typical_range": ("a", 20)}, "has two numbers|typical_range must be a number"),
        ({"typical_range": (None, 20)}, "has two numbers|typical_range must be a number"),
        ({"typical_range": (20, 20)}, "the lower one first"),
        ({"typical_range": (-3, 30), "transform": "log1p"}, "log1p needs a range from above -1"),
        ({"typical_range": (0, 30), "transform": "log"}, "log needs a range from above 0"),
        ({"typical_range": (20, 200), "low": 0, "high": 100}, "beyond the limits"),
        ({"typical_range": ("a", "b"), "kind": "yes-no", "values": ("a", "b")}, "no range in which"),
        ({"typical_range": ("high", "no"), "kind": "ordinal", "values": ("no", "high")}, "the lower one first"),
        ({"typical_range": (20, 70), "typical": 30}, "Leave one of them out"),
    ],
)
def test_a_range_that_cannot_be_is_a_sentence(fields, said):
    with pytest.raises(ValueError, match=said):
        Column("x", **fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"typical_range": (0, 5e-324)},
        {"typical_range": (0, 1e-300), "low": -1e300, "high": 1e300},
        {"typical_range": ("9000-01-01", "9999-01-01"), "kind": "date"},
        {"typical_range": (-1e308, 1e308)},
        {"typical_range": (1, 1e300), "transform": "log"},
        {"typical_range": 5},
        {"typical_range": (1,)},
    ],
)
def test_the_ends_of_numbers_and_of_the_calendar_are_one_sentence(fields):
    with pytest.raises(
        ValueError, match=r"nothing follows from the range .* give two values|typical_range takes two values"
    ) as problem:
        Column("x", **fields)
    assert str(problem.value).endswith(".")


@pytest.mark.parametrize(
    ("fields", "low", "high"),
    [
        ({"typical_range": (-0.5, 0.5), "transform": "log1p"}, -0.83, 4),
        ({"typical_range": (1, 3), "kind": "integer", "transform": "log"}, 1, 9),
        ({"typical_range": (0.2, 1.4), "kind": "integer"}, 0, 3),
        ({"typical_range": (np.int64(2), np.float32(5))}, 0, 8),
        ({"typical_range": ("1950-01-01", "1960-01-01"), "kind": "date"}, "1940-01-02", "1969-12-31"),
        ({"typical_range": [1, 2]}, 0, 3),
    ],
)
def test_limits_that_nobody_declared_are_values_of_the_column(fields, low, high):
    column = Column("x", **fields)
    assert (column.low, column.high) == (low, high)
    assert Column.from_dict(json.loads(json.dumps(column.to_dict()))) == column
    column.of_kind()


@pytest.mark.parametrize(
    ("cell", "kind", "typical", "ends"),
    [
        ("20-29", "ordinal: 10-19|20-29|30-39", "20-29", None),
        ("10-19 to 20-29", "ordinal: 10-19|20-29|30-39", "20-29", ("10-19", "20-29")),
        ("a - b - e", "ordinal: a - b|c|e", "c", ("a - b", "e")),
        ("2024-031", "date: %Y-%j", "2024-031", None),
        ("a - b", "yes-no: a - b|c", "a - b", None),
    ],
)
def test_a_level_or_a_date_that_looks_like_a_range_is_one_value(cell, kind, typical, ends):
    limits = "2024-001\t2024-300" if kind.startswith("date") else "\t"
    (column,) = columns_of(f"name\tlow\thigh\ttypical\tkind\twhy\nage\t{limits}\t{cell}\t{kind}\tx\n")
    assert (column.typical, column.typical_range) == (typical, ends)
    assert columns_of(text_of([column])) == (column,)


def test_a_column_without_a_range_counts_whole_and_none_at_all_leaves_the_bound():
    assert row_bound_fraction((SEEN, SEEN)) == 1
    assert row_bound_fraction((AGE,)) < row_bound_fraction((AGE, SEEN)) < row_bound_fraction((AGE, SEEN, SEEN)) < 1
    seldom = Column("ill", kind="yes-no", values=("no", "yes"), typical="no")
    assert row_bound_fraction((AGE, seldom)) < row_bound_fraction((AGE, dataclasses.replace(seldom, typical=None)))


def test_the_facts_are_the_same_in_a_file_in_a_text_and_in_a_bundle(tmp_path):
    declared = declaration(AGE, PAY, SCORE, SEEN, DAY, missing="pairs")
    assert Declaration.from_json(declared.to_json()) == declared
    facts = declared.dataset_from_rows(np.array([[30, 1000, "mid", 1, "2023-05-05"]], dtype=object), None).facts
    assert facts_of(json.loads(declared.to_json()), 1).to_dict() == facts.to_dict()
    for separator in ("\t", ","):
        assert columns_of(text_of(declared.columns, separator)) == tuple(
            dataclasses.replace(c, reason=c.reason) for c in declared.columns
        )
    assert columns_of("age, , , 20 to 70")[0] == AGE
    assert columns_of("age\t\t\t1,5 to 3,5", ",")[0].typical_range == (1.5, 3.5)
    (tmp_path / "t.csv").write_text("age,pay\n1,2\n")
    fields = json.loads(template(header_of(tmp_path / "t.csv")))
    assert all(column["typical_range"] is None for column in fields["columns"])
    fields |= {"row_stands_for": "one person", "rows_per_person": 1, "n_public": True, "missing": "typical"}
    for column in fields["columns"]:
        column["typical_range"] = [20, 70]
    filled = Declaration.from_json(json.dumps(fields))
    assert filled.row_bound_fraction == row_bound_fraction(filled.columns) < 1


@pytest.mark.parametrize("ends", [[1], [1, 2, 3], "20 to 70", [1, [2]], [None, 2], [True, 2]])
def test_a_forged_range_is_refused(ends):
    fields = json.loads(declaration(AGE).to_json())
    fields["columns"][0]["typical_range"] = ends
    with pytest.raises((ValueError, BundleError)):
        facts_of(fields, 10)
    with pytest.raises(
        ValueError, match=r"typical_range of a column|has two numbers|takes two values|typical_range must be a number"
    ):
        Declaration.from_json(json.dumps(fields))
