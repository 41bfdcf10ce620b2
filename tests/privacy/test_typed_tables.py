"""Typed columns on the private path: neighbours as whole tables, in whole numbers, through the function of a release.

The rows tried are every combination of the ends of four columns (a weighted number, yes or no, a category with
"other", dates), with a code, an unlisted text and a missing cell among them.
"""

import dataclasses
import datetime
import itertools
import json
import math
import zipfile
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privcov
from privcov import PrivateDataset
from privcov.measurements.exact import integer_gram
from privcov.measurements.exact.integer_gram import ANCHOR, UNIT, block_squares, flag_value, max_entries
from privcov.measurements.exact.private_moment import anchor_of, exact_sum, norm_bound, settle_shape, weights
from privcov.measurements.exact.reading import read_sum
from privcov.measurements.noise_theory.free_groups import groups_of
from privcov.tables.public_facts import PublicFacts
from privcov.tables.readers import TableFileError, coding
from privcov.tables.readers.kinds import Kind

KINDS = {
    "pay": Kind("number", 0, 1000, transform="log1p", weight=2),
    "smokes": Kind("yes-no", values=("no", "yes"), typical="no"),
    "ward": Kind("category", values=("A", "B"), other=True, weight=0.5),
    "day": Kind("date", "2020-01-01", "2020-12-31"),
}
NAMES = ("log1p(pay)", "smokes=yes", "ward=A", "ward=B", "ward=other", "day")
WEIGHTS = (2, 1, 0.5, 1)
ENDS = [
    ["0", "1000", "-9", "1e300"],
    ["no", "yes", "maybe"],
    ["A", "B", "elsewhere", ""],
    ["2020-01-01", "2020-12-31", "31.12.2020"],
]
REST = [["10", "no", "A", "2020-02-03"], ["500", "yes", "C", "2020-07-01"], ["", "no", "B", "x"]]
FORMS = {
    "plain": {},
    "pairs": {"missing": "pairs"},
    "hidden": {"n_public": False},
    "hidden, pairs": {"n_public": False, "missing": "pairs"},
    "drop-row": {"n_public": False, "missing": "drop-row"},
    "shortened": {"row_bound_fraction": 0.6, "missing": "pairs"},
}


def table(rows, **more) -> PrivateDataset:
    frame = pd.DataFrame(rows, columns=list(KINDS), dtype=object)
    return PrivateDataset.from_rows(frame, kinds=KINDS, missing_codes=["-9"], name="t", **more)


def summed(rows, **more) -> np.ndarray:
    private = table(rows, **more)
    return exact_sum(private, 1, anchor_of(private.facts, "both")).astype(object)


def cost(facts: PublicFacts, change: np.ndarray) -> Fraction:
    """Squared norm of a change for Gaussian noise, with the groups that are measured again."""
    total = Fraction(int((change * change).sum()))
    if facts.n is not None:
        for group, kappa in zip(*weights(facts, ANCHOR), strict=True):
            total += kappa * int(sum(change[j, j] for j in group.columns)) ** 2
    return total


@pytest.mark.parametrize("form", FORMS)
def test_no_two_rows_change_the_sum_by_more_than_is_claimed(form):
    """All 144 rows, all pairs of them. Where nothing is added to a bound that can be reached, a pair reaches it."""
    more = FORMS[form]
    facts = table(REST, **more).facts
    base = summed(REST, **more)
    rows = [list(row) for row in itertools.product(*ENDS)]
    if facts.n is None:
        changes = [summed([*REST, row], **more) - base for row in rows]
    else:
        alone = [summed([*REST[1:], row], **more) for row in rows]
        different = {one.tobytes() if one.dtype != object else str(one.tolist()): one for one in alone}
        changes = [a - b for a, b in itertools.combinations(different.values(), 2)]
    bound = norm_bound(facts, settle_shape(facts, "isotropic", 1), 1, ANCHOR)
    worst = max(cost(facts, change) for change in changes)
    assert worst <= bound
    if form == "plain":
        assert worst > 0.9 * bound
    l1 = math.isqrt(norm_bound(facts, "laplace", 1, ANCHOR))
    assert max(np.abs(np.triu(change)).sum() for change in changes) <= l1


@pytest.mark.parametrize("form", FORMS)
def test_a_persons_rows_change_the_sum_by_no_more_than_one_row(form):
    """One person's row exchanged for 1, 2 and 30 others; where n is hidden these are added."""
    more = FORMS[form] | {"person": "id"}
    ids = [1, 2, 2]

    def of(rows, who):
        frame = pd.DataFrame(rows, columns=list(KINDS), dtype=object).assign(id=who)
        private = PrivateDataset.from_rows(frame, kinds=KINDS, missing_codes=["-9"], **more)
        return private.facts, exact_sum(private, 1, ANCHOR).astype(object)

    rows = [list(row) for row in itertools.product(*ENDS)][::5]
    facts, base = of([*REST, ["0", "no", "A", "2020-01-01"]], [*ids, 7])
    if facts.n is None:
        facts, base = of(REST, ids)
    bound = norm_bound(facts, settle_shape(facts, "isotropic", 1), 1, ANCHOR)
    for k, row in itertools.product((1, 2, 30), rows):
        _, other = of([*REST, *[row] * k], [*ids, *[7] * k])
        assert cost(facts, other - base) <= bound


@given(st.lists(st.lists(st.text(max_size=8), min_size=4, max_size=4), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None, derandomize=True)
@pytest.mark.parametrize("form", ["hidden", "hidden, pairs"])
def test_any_text_in_any_cell_gives_a_row_within_the_unit(form, rows):
    """The sum of a table is the sum of its rows alone: each depends on its own cells, and is at most m long."""
    each = [summed([row], **FORMS[form]) for row in rows]
    assert np.array_equal(summed(rows, **FORMS[form]), sum(each))
    for one in each:
        assert np.trace(one) <= UNIT**2 + ANCHOR**2


def test_a_table_is_the_sum_of_its_rows_and_what_is_fitted_on_rows_is_seen(monkeypatch):
    """Levels, typical values and transforms that are taken from the rows make the sum of a table another one."""
    rows = [*REST, *map(list, itertools.islice(itertools.product(*ENDS), 0, None, 7))]
    rows.sort(key=lambda row: row[2])  # so that the halves meet other levels

    def adds_up() -> bool:
        more = {"n_public": False}
        half = len(rows) // 2
        parts = [summed(some, **more) for some in (rows[:half], rows[half:])]
        return np.array_equal(summed(rows, **more), parts[0] + parts[1])

    assert adds_up()
    coded, values = coding.code_numbers, coding.coded_values

    def filled(kind, cells):
        return coded(kind, np.where(np.isnan(cells), np.nanmean(cells), cells) if kind.kind == "date" else cells)

    def scaled(kind, cells):
        found = coded(kind, cells)
        return found / np.nanmean(found) if kind.transform else found

    def listed(kind, cells):
        if kind.kind == "category":  # the texts that are met take the place of the declared levels
            met = dict.fromkeys(str(cell) for cell in cells if str(cell))
            kind = dataclasses.replace(kind, values=(*met, "p", "q")[: len(kind.values)], other=kind.other)
        return values(kind, cells)

    for name, mutant in (("code_numbers", filled), ("code_numbers", scaled), ("coded_values", listed)):
        with monkeypatch.context() as patch:
            patch.setattr(coding, name, mutant)
            assert not adds_up(), mutant.__name__


# --- the bound of a row -------------------------------------------------------------------------------------


def test_two_levels_at_once_count_as_none(tmp_path, monkeypatch):
    """What a coder must not give is enforced in whole numbers, in memory and in files."""
    monkeypatch.setattr(coding, "code_numbers", lambda kind, cells: np.ones((kind.width, len(cells))))
    (tmp_path / "a.csv").write_text("pay,smokes,ward,day\n1,no,A,2020-01-01\n", encoding="utf-8")
    for private in (table(REST[:1]), PrivateDataset.from_files(tmp_path / "a.csv", kinds=KINDS, missing_codes=["-9"])):
        gram = exact_sum(private, 1)
        assert np.count_nonzero(np.diag(gram)[:-1]) == 3
        assert not gram[2:5].any()


@pytest.mark.parametrize("more", [{}, {"missing": "pairs"}, {"n_public": False}])
def test_laplace_noise_counts_the_numbers_that_are_not_zero(more):
    """A category of 40 levels beside two numbers: 3 of 42 numbers of a row, so the bound is a tenth of that of 42."""
    levels = [f"L{k}" for k in range(40)]
    kinds = {"w": Kind("category", values=levels), "x": Kind("number", -1, 1), "y": Kind("number", 0, 1, typical=0)}
    cells = itertools.product(["L0", "L1", "L39", ""], ["-1", "1", ""], ["0", "1", ""])
    held = [PrivateDataset.from_rows([row], kinds=kinds, **more) for row in cells]
    facts = held[0].facts
    bound = math.isqrt(norm_bound(facts, "laplace", 1, ANCHOR))
    whole = [np.triu(exact_sum(one, 1, ANCHOR)).astype(object) for one in held]
    pairs = [(one, 0 * one) for one in whole] if facts.n is None else itertools.combinations(whole, 2)
    changes = [np.abs(one - other).sum() for one, other in pairs]
    assert 0.4 * bound < max(changes) <= bound
    assert bound < 0.25 * math.isqrt(norm_bound(dataclasses.replace(facts, units=plain(facts)), "laplace", 1))


def plain(facts):
    """Units of as many numbers without blocks."""
    return dataclasses.replace(facts.units, blocks=())


def test_the_bound_of_a_row_counts_a_category_once():
    facts = table(REST).facts
    assert facts.columns == NAMES
    squares = [Fraction(c) ** 2 for c in WEIGHTS]
    assert facts.row_bound == math.sqrt(sum(squares)) == facts.units.longest
    assert block_squares(facts.units) == tuple(math.floor(UNIT**2 * s / sum(squares)) for s in squares)
    groups = groups_of(facts)
    assert [g.columns for g in groups] == [(0,), (1,), (2, 3, 4), (5,)]
    assert sum(g.square for g in groups) <= UNIT**2
    flagged = table(REST, missing="pairs").facts
    assert flagged.flagged == (0, 1, 5)
    assert [g.columns for g in groups_of(flagged, flagged.flagged)] == [(0, 6), (1, 7), (2, 3, 4), (5, 8)]
    assert 3 * flag_value(flagged.units, flagged.flagged) ** 2 <= UNIT**2


@pytest.mark.parametrize("missing", ["typical", "pairs"])
def test_no_row_is_shortened_and_no_number_cut(missing):
    """Every coded row is within R before anything is enforced, so what is enforced changes no sum."""
    private = table([list(row) for row in itertools.product(*ENDS)], missing=missing)
    facts = private.facts
    working = integer_gram.to_working(facts.units, private._rows)
    assert (np.linalg.norm(np.nan_to_num(working), axis=1) <= facts.row_bound * (1 + 1e-12)).all()
    free = np.trunc(np.nan_to_num(working) * (UNIT / facts.row_bound))
    (block,) = integer_gram.integer_blocks(private, 1)
    assert np.array_equal(block[0][:, : facts.d], free)
    assert (np.abs(free) <= max_entries(facts.units)).all()


def test_a_bound_without_the_blocks_is_seen(monkeypatch):
    """R^2 without the category: its rows would have no room, and the bounds of the groups add up to more than m^2."""
    short = privcov.tables.units.Units.longest.fget

    def without(units):
        return math.sqrt(short(units) ** 2 - 0.25)

    monkeypatch.setattr(privcov.tables.units.Units, "longest", property(without))
    with pytest.raises(AssertionError):
        test_no_row_is_shortened_and_no_number_cut("typical")


# --- the same bits from everywhere --------------------------------------------------------------------------


def visits(n: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    days = [datetime.date(2019, 12, 1) + datetime.timedelta(days=int(k)) for k in rng.integers(0, 420, n)]
    frame = pd.DataFrame(
        {
            "id": rng.integers(0, 150, n),
            "day": days,
            "pay": np.exp(rng.normal(5, 2, n)).round(2),
            "ward": rng.choice(["A", "B", "C", ""], n),
            "more": "text",
            "smokes": rng.choice(["yes", "no", "YES"], n),
            "group": rng.choice(["u", "v", "w"], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "pay"] = -9
    for name in ("day", "smokes"):
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame


@pytest.mark.parametrize("missing", ["typical", "pairs", "drop-row"])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("person", ["", "id"])
def test_files_of_every_form_and_order_and_memory_give_the_same_sum(missing, classes, person, tmp_path):
    frame = visits()
    stored = pa.Table.from_pandas(frame, preserve_index=False)
    frame.to_csv(tmp_path / "a.csv", index=False)
    pq.write_table(stored, tmp_path / "a.parquet", row_group_size=90)
    pq.write_table(stored.set_column(3, "ward", stored["ward"].dictionary_encode()), tmp_path / "b.parquet")
    with pa.ipc.new_file(tmp_path / "a.arrow", stored.schema) as out:
        out.write_table(stored)
    (tmp_path / "shuffled").mkdir()
    mixed = frame.sample(frac=1, random_state=1)[list(reversed(frame.columns))]
    mixed[:77].to_csv(tmp_path / "shuffled" / "1.csv", index=False)
    mixed[77:].to_csv(tmp_path / "shuffled" / "2.csv.gz", index=False)
    more = {"kinds": KINDS, "missing_codes": ["-9"], "missing": missing, "person": person}
    more |= {"n_public": missing != "drop-row"} | ({"classes": ["u", "v"]} if classes else {})
    k = 2 if classes else 1
    labels = {"labels": frame["group"]} if classes else {}
    wanted = exact_sum(PrivateDataset.from_rows(frame, **labels, **more), k)
    assert np.count_nonzero(wanted) > 10
    for name in ("a.csv", "a.parquet", "b.parquet", "a.arrow", "shuffled"):
        private = PrivateDataset.from_files(tmp_path / name, label="group" if classes else "", **more)
        assert np.array_equal(exact_sum(private, k), wanted), name


def test_numbers_alone_are_the_table_that_bounds_declare():
    rows = np.random.default_rng(1).uniform(-2, 3, (50, 2))
    kinds = {"a": Kind("number", -1, 2), "b": Kind("number", 0, 1, typical=0.1)}
    typed = PrivateDataset.from_rows(rows, kinds=kinds)
    plain = PrivateDataset.from_rows(rows, bounds=[(-1, 2), (0, 1)], typical=[None, 0.1], columns=["a", "b"])
    assert json.dumps(typed.facts.to_dict()) == json.dumps(plain.facts.to_dict())
    assert np.array_equal(exact_sum(typed, 1), exact_sum(plain, 1))
    coded = PrivateDataset.from_rows(rows, bounds=[(-1, 2), (0, 1)], columns=["a", "b"], missing_codes=["-9"])
    assert [kind.missing_codes for _, kind in coded.facts.kinds] == [("-9",)] * 2
    assert np.array_equal(exact_sum(coded, 1), exact_sum(PrivateDataset.from_rows(rows, bounds=[(-1, 2), (0, 1)]), 1))


# --- what a release says ------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["typical", "pairs"])
def test_a_release_has_the_means_and_says_its_kinds(missing, tmp_path):
    """20,000 rows at rho = 50: the noise on a mean in half-ranges is about 1e-3, a tenth of the tolerance."""
    rng = np.random.default_rng(5)
    n = 20_000
    frame = pd.DataFrame(
        {
            "pay": np.exp(rng.normal(4, 1, n)),
            "smokes": np.where(rng.random(n) < 0.2, "yes", "no"),
            "ward": rng.choice(["A", "B", "C"], n, p=[0.5, 0.3, 0.2]),
            "day": [datetime.date(2020, 1, 1) + datetime.timedelta(days=int(k)) for k in rng.integers(0, 366, n)],
        }
    )
    frame.loc[rng.random(n) < 0.25, "pay"] = -9
    private = PrivateDataset.from_rows(frame, kinds=KINDS, missing_codes=["-9"], missing=missing, name="t")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", privcov.ZCDP(50))
    rel = privcov.release_private(private, privcov.ZCDP(50), "gaussian-cov", ledger=ledger)
    there = frame["pay"] != -9
    pay = np.log1p(frame["pay"][there].clip(0, 1000)).mean()
    middle = math.log1p(1000) / 2
    wanted = {
        "log1p(pay)": pay if missing == "pairs" else pay * there.mean() + middle * (~there).mean(),
        "smokes=yes": (frame["smokes"] == "yes").mean(),
        **{f"ward={name}": (frame["ward"] == of).mean() for name, of in (("A", "A"), ("B", "B"), ("other", "C"))},
        "day": np.mean([(day - datetime.date(1970, 1, 1)).days for day in frame["day"]]),
    }
    off = (rel.mean - np.array([wanted[name] for name in rel.columns])) / rel.scale
    assert np.abs(off).max() < 0.01
    assert "6 columns of 4 declared ones (1 number, 1 yes-no, 1 category, 1 date; " in str(rel.statement)
    assert "log1p of 1; weight 0.5 of 1, weight 2 of 1)" in str(rel.statement)
    assert "shortened" not in str(rel.statement)
    again = privcov.Release.from_json(rel.to_json())
    assert again.kinds == rel.kinds == tuple(private.facts.kinds)
    assert again.to_json() == rel.to_json()
    rel.save_bundle(tmp_path / "out.zip")
    report = zipfile.ZipFile(tmp_path / "out.zip").read("report.html").decode()
    assert "Means, as the columns are declared" in report
    # The report has the noisy means and the release the repaired ones, whose last digits may differ.
    assert all(f"<bdi>{part}</bdi>" in report for term in rel.terms for part in (term.column, term.level, term.what))
    assert [term.text for term in rel.terms if term.level == "A"] == [f"{100 * rel.mean[2]:.1f} %"]
    measured = read_sum(rel.measurement, "joint")
    if missing == "pairs":
        assert again.noisy_moment.flags == measured.flags


def test_a_column_that_too_few_rows_have_is_said_to_be_unknown(tmp_path):
    """With noise on the shares that no share stands out from, every column with a flag is refused."""
    private, ledger = table(REST * 1000, missing="pairs"), privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", privcov.ZCDP(0.1))
    rel = privcov.release_private(private, privcov.ZCDP(0.1), "gaussian-cov", ledger=ledger)
    loud = dataclasses.replace(rel.noisy_moment.flags, entry_std=1e9)
    rel = privcov.Release(**vars(rel) | {"noisy_moment": dataclasses.replace(rel.noisy_moment, flags=loud)})
    assert [term.text == "too few rows" for term in rel.terms] == [True, True, False, False, False, True]


def test_facts_with_other_names_bounds_or_kinds_than_follow_are_refused():
    fields = json.loads(json.dumps(table(REST, missing="pairs").facts.to_dict()))
    assert PublicFacts.from_dict(fields).to_dict() == fields

    def changed(**more):
        return {**fields, **more}

    one = fields["kinds"]
    wrong = [
        changed(columns=[*fields["columns"][:-1], "date"]),
        changed(row_bound=fields["row_bound"] - 0.25),
        changed(scale=[1.0] * 6),
        changed(bounds=[[0.0, 1.0]] * 6),
        changed(origin=[0.0] * 6),
        changed(kinds=one[1:]),
        changed(kinds=[{**one[0], "weight": 1.0}, *one[1:]]),
        changed(kinds=[{**one[0], "high": 2000.0}, *one[1:]]),
        changed(kinds=[*one[:2], {**one[2], "values": ["A", "C"]}, one[3]]),
        changed(kinds=[*one[:3], {**one[3], "format": "%Y-%m-%d"}]),
        changed(kinds=[{**one[0], "name": 3}, *one[1:]]),
        changed(kinds=[3]),
        changed(flags=[0, 2]),
    ]
    for each in wrong:
        with pytest.raises(ValueError, match=r"."):
            PublicFacts.from_dict(each)
    plain = PrivateDataset.from_rows([[0.0]], bounds=[(0, 1)], columns=["a"]).facts.to_dict()
    with pytest.raises(ValueError, match="numbers alone have none"):
        PublicFacts.from_dict({**plain, "kinds": [{"name": "a", "kind": "number", "low": 0.0, "high": 1.0}]})


# --- what is refused when it is declared --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"bounds": [(0, 1)]}, "bounds was given too"),
        ({"row_bound": 1.0}, "row_bound was given too"),
        ({"columns": ["pay"]}, "not among columns"),
        ({"columns": [*KINDS, "age"]}, "has no kind"),
        ({"kinds": {}}, "at least one column"),
        ({"kinds": {"pay": "number"}}, "at least one column"),
        ({"missing_codes": "-9"}, "must be a list of codes"),
        ({"missing_codes": ["7"]}, "Column 'pay': The code '7'"),
        ({"missing_codes": ["A"]}, "Column 'ward': The code 'A'"),
        ({"kinds": None, "missing_codes": ["-9"]}, "missing_codes need bounds or kinds"),
        ({"kinds": {**KINDS, "icd": Kind("category", values=range(199))}}, "the most is 200"),
        ({"kinds": {**KINDS, "ward=A": Kind("number", 0, 1)}}, "the name 'ward=A'"),
        ({"kinds": {"ward": KINDS["ward"]}, "missing": "pairs"}, "no missing cell of categories"),
        ({"person": "day"}, "ids of persons"),
    ],
)
def test_a_mistake_is_refused_before_a_row_is_read(more, said, tmp_path):
    (tmp_path / "a.csv").write_text("pay,smokes,ward,day\n1,no,A,2020-01-01\n", encoding="utf-8")
    with pytest.raises(ValueError, match=said) as problem:
        PrivateDataset.from_files(tmp_path / "a.csv", **({"kinds": KINDS} | more))
    assert "\n" not in str(problem.value)


def test_a_type_of_a_file_that_no_cell_of_the_kind_has_is_refused(tmp_path):
    stored = pa.table({"pay": [1.0], "smokes": ["no"], "ward": pa.array([["A"]]), "day": [1.5]})
    pq.write_table(stored, tmp_path / "a.parquet")
    for name in ("ward", "day"):
        with pytest.raises(TableFileError, match=f"Column '{name}' .* is declared as"):
            PrivateDataset.from_files(tmp_path / "a.parquet", kinds={name: KINDS[name]})
