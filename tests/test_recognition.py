"""A survey under another name is recognised although it was changed a little, and other people are not taken for it."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import privcov
from privcov.ledger import Ledger, LedgerError
from privcov.ledger.fingerprint import _secrets, _steps, alike, fingerprint
from privcov.private_dataset import PrivateDataset
from tests.recognition import CHANGES, KEY, OTHERS, Survey, measured, printed

OLD = ("table", "rows", "columns")  # what the version before kept


def survey(kind: str, people: int, columns: int, seed: int = 0) -> tuple[np.ndarray, tuple[str, ...]]:
    rng = np.random.default_rng(seed)
    asked = Survey(kind, columns, rng)
    return asked.answers(people, rng), asked.names


def renamed(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"other {name}" for name in names)


def test_surveys_are_recognised_and_other_people_are_not():
    """12 surveys, each changed in eleven ways and put to three other groups; SECURITY.md has more of them."""
    found = measured((300,), (4, 12), 2, seed=1)
    shares = found.groupby("what").recognised.mean()
    assert shares.pop(OTHERS) == 0.0
    assert set(shares.index) == set(CHANGES)
    assert shares.pop("a tenth of the rows less") >= 0.1  # seen where answers are many enough to tell rows apart
    assert shares.min() >= 0.9
    assert shares.mean() >= 0.98


def test_few_columns_of_two_answers_seldom_make_two_tables_look_alike():
    """Three such columns have four free counts between them: of 100 pairs of tables at most 5, and 1 is usual."""
    alarms = 0
    for seed in range(50):
        rng = np.random.default_rng([5, seed])
        asked = Survey("yes or no", 3, rng)
        known = printed(asked.answers(1_000, rng), asked.names)
        alarms += sum(alike(known, printed(asked.answers(1_000, rng), asked.names)) for _ in range(2))
    assert alarms <= 5


@pytest.mark.parametrize("change", [1e-9, -1e-9, 1e-12])
def test_a_tiny_number_added_is_seen_through_in_the_rows(change):
    """Only the rounded rows can tell: half of the rows are gone, and with them half of every count."""
    rows, names = survey("yes or no", 400, 40)
    assert alike(printed(rows, names), printed(rows[::2] + change, names))
    assert not alike(printed(rows, names), printed(rows[::2] + 0.5, names))


@pytest.mark.parametrize("factor", [1 + 1e-9, 1 - 1e-8, 1 + 1e-7])
def test_a_tiny_share_added_is_seen_through_in_the_columns(factor):
    """A column is gone, so no row is the same; the values are, when they are rounded."""
    rows = np.random.default_rng(0).normal(50, 15, size=(5_000, 4))
    names = tuple("abcd")
    assert alike(printed(rows, names), printed(rows[:, 1:] * factor, renamed(names[1:])))
    assert not alike(printed(rows, names), printed(rows[:, 1:] * 1.01, renamed(names[1:])))


def test_cells_around_zero_are_seen_through_for_any_declared_range():
    rows, names = survey("yes or no", 400, 24)
    for bound in (1.0, 5.0, 1_000.0):
        bounds = [(0.0, bound)] * 24
        one, two = (
            fingerprint(PrivateDataset.from_rows(x, columns=names, bounds=bounds), KEY) for x in (rows, rows + 1e-9)
        )
        assert len(set(json.loads(one)["near rows"]) & set(json.loads(two)["near rows"])) > 200


def test_a_column_less_and_a_tiny_change_together_leave_the_counts():
    rows, names = survey("1 to 5", 500, 6)
    assert alike(printed(rows, names), printed(rows[:, 1:] + 1e-9, names[1:]))
    assert not alike(printed(rows, names), printed(rows[:, 1:] + 0.5, names[1:])), "these are other answers"


def test_columns_in_another_order_and_one_more_leave_the_counts():
    rows, names = survey("1 to 5", 500, 6)
    more = np.column_stack([np.arange(500) % 3, rows[:, ::-1]])
    assert alike(printed(rows, names), printed(more, ("new", *names[::-1])))


def test_many_columns_of_answers_are_counted_in_part_and_recognised_all_the_same():
    rows, names = survey("1 to 5", 300, 80)
    found = json.loads(printed(rows, names))
    assert len(found["counted"]) == 8 * (40 + 28)
    assert alike(json.dumps(found), printed(rows[:, 3:], names[3:]))


def test_rows_that_repeat_are_no_evidence():
    """Four questions have 625 possible rows, of which 70 differ by their sums: every large table has them."""
    rng = np.random.default_rng(2)
    asked = Survey("1 to 5", 4, rng)
    one, two = (json.loads(printed(asked.answers(2_000, rng), asked.names)) for _ in range(2))
    assert one["repeated"] is two["repeated"] is True
    assert len(set(one["rows"]) & set(two["rows"])) >= 26, "as the version before would have judged"
    assert not set(one["near rows"]) & set(two["near rows"])
    assert not alike(json.dumps(one), json.dumps(two))
    unique = json.loads(printed(rng.normal(size=(500, 3)), ("a", "b", "c")))
    assert unique["repeated"] is False


@pytest.mark.parametrize("times", [1.6, 2, 3])
@pytest.mark.parametrize("people", [70, 2_000])
def test_a_table_whose_rows_are_written_several_times_is_recognised(people, times):
    x = np.random.default_rng(4).normal(50, 10, size=(people, 4))
    names = ("a", "b", "c", "d")
    again = x[np.arange(round(times * people)) % people]
    assert alike(printed(x, names), printed(again, names))
    assert alike(printed(again[::-1, ::-1], renamed(names)), printed(x, names))


def test_a_small_survey_is_not_taken_for_a_large_one_whose_rows_repeat():
    rng = np.random.default_rng([0, 6])
    asked = Survey("mixed with ages", 6, rng)
    large, small = (printed(asked.answers(people, rng), asked.names) for people in (30_000, 200))
    assert (json.loads(small)["repeated"], json.loads(large)["repeated"]) == (False, True)
    assert not alike(small, large)


def test_a_few_common_rows_do_not_make_two_tables_alike():
    """A twentieth of the rows is common, as where some people are in both tables; a third is taken for the table."""
    rng = np.random.default_rng(11)
    common, one, other = (rng.normal(size=(1_000, 4)) * 20 for _ in range(3))
    names = ("a", "b", "c", "d")
    known = printed(np.vstack([common[:50], one[50:]]), names)
    assert not alike(known, printed(np.vstack([common[:50], other[50:]]), names))
    assert alike(printed(np.vstack([common[:333], one[333:]]), names),
                 printed(np.vstack([common[:333], other[333:]]), names))  # fmt: skip


def test_the_numbers_by_which_cells_are_multiplied_are_odd():
    """An even one would lose a bit of every cell, and more tables would look alike."""
    for k in range(40):
        drawn = _secrets(bytes([k]) * 32)
        assert drawn[1] % 2 == drawn[2] % 2 == 1
        assert max(drawn) < 2**64
        assert len(set(drawn)) == 4


def test_a_fingerprint_of_the_version_before_is_compared_by_what_it_has():
    """The same rows in another order, a row less, and the same columns but one: as before. Counts it does not have."""
    rng = np.random.default_rng(3)
    rows, names = rng.normal(size=(500, 4)), tuple("abcd")
    old = json.dumps({part: json.loads(printed(rows, names))[part] for part in OLD})
    for now in (printed(rows[::-1], names), printed(rows[1:], names), printed(rows[:, 1:], names[1:])):
        assert alike(old, now)
        assert alike(now, old)
    assert alike(old, old)
    assert not alike(old, printed(rng.normal(size=(500, 4)), names))
    answers, names = survey("1 to 5", 2_000, 4)
    old = json.dumps({part: json.loads(printed(answers, names))[part] for part in OLD})
    assert alike(old, printed(answers[::-1], names))
    assert alike(old, printed(answers[3:], names)), "rows of answers counted as evidence then, and do against it"
    assert not alike(old, printed(answers[:, 1:], names[1:]))


def test_the_length_tells_neither_rows_nor_values():
    """Of one row, of few and of many; of one answer to a question and of ninety."""
    lengths = set()
    for rows in (
        np.zeros((1, 3)),
        np.ones((700, 3)),
        survey("yes or no", 50, 3)[0],
        survey("1 to 5", 900, 3)[0],
        np.random.default_rng(0).normal(size=(3_000, 3)),
    ):
        found = json.loads(printed(rows, ("a", "b", "c")))
        lengths.add(tuple(len(json.dumps(found[part])) for part in found if part != "repeated"))
    assert len(lengths) == 1


def test_every_part_is_sorted_and_keyed():
    rows, names = survey("mixed with ages", 300, 6)
    one, two = (json.loads(printed(rows, names, key)) for key in (KEY, KEY[::-1]))
    same = json.loads(printed(rows, names))
    for part in ("rows", "near rows", "counted", "counts"):
        assert one[part] == sorted(one[part])
        assert not set(one[part]) & set(two[part])
        assert set(one[part]) & set(same[part]) or part in ("rows", "near rows")
    assert not alike(json.dumps(one), json.dumps(two))


def test_nothing_of_a_table_is_stored_as_it_is():
    """No count, no value and no name; hashes alone, and one word on whether rows repeat."""
    rows, names = survey("mixed with ages", 331, 6)
    found = json.loads(printed(rows, names))
    texts = [h for part in found if part != "repeated" for h in np.ravel(found[part]).tolist()]
    assert all(len(text) in (8, 16) and set(text) <= set("0123456789abcdef") for text in texts)
    assert type(found["repeated"]) is bool
    assert set(found) == {
        *OLD,
        "cells",
        "persons",
        "classes",
        "repeated",
        "near rows",
        "near columns",
        "counted",
        "counts",
    }


def test_a_table_in_files_has_the_fingerprint_of_its_rows(tmp_path):
    rows, names = survey("mixed with ages", 900, 6)
    for i, part in enumerate(np.split(rows, [100, 450])):
        pq.write_table(pa.table(dict(zip(names, part.T, strict=True))), tmp_path / f"{i}.parquet")
    bounds = [(0.0, 90.0)] * 6
    files = json.loads(fingerprint(PrivateDataset.from_files(tmp_path, columns=list(names), bounds=bounds), KEY))
    memory = json.loads(fingerprint(PrivateDataset.from_rows(rows, columns=names, bounds=bounds), KEY))
    again = json.loads(fingerprint(PrivateDataset.from_rows(rows, columns=names, bounds=bounds), KEY))
    for part in ("table", "repeated"):
        assert files[part] == memory[part]
    for part in ("rows", "near rows", "counted", "counts"):
        kept = set(memory[part]) & set(again[part])  # what is not there to fill up
        assert set(files[part]) & set(memory[part]) == kept
    for one, two, three in zip(files["near columns"], memory["near columns"], again["near columns"], strict=True):
        assert set(one) & set(two) == set(two) & set(three)


def test_a_survey_under_another_name_with_a_column_less_is_not_released_as_a_new_one(tmp_path):
    """Through the ledger, from the table to the refusal; the owner's word is the way on."""
    rows, names = survey("yes or no", 600, 8)
    book = Ledger(tmp_path / "ledger.sqlite")
    for name in ("march", "april"):
        book.limit(name, privcov.ZCDP(1.0))
    bounds = [(0.0, 1.0)] * 8
    march = PrivateDataset.from_rows(rows, columns=names, bounds=bounds, name="march")
    april = PrivateDataset.from_rows(rows[::-1, 1:] + 1e-9, columns=names[1:], bounds=bounds[1:], name="april")
    privcov.release_private("auto-cov", march, privcov.ZCDP(0.1), ledger=book)
    with pytest.raises(LedgerError, match="looks like 'march'"):
        privcov.release_private("auto-cov", april, privcov.ZCDP(0.1), ledger=book)
    assert len(book.entries()) == 1
    privcov.release_private("auto-cov", april, privcov.ZCDP(0.1), ledger=book, different_from=("march",))
    assert book.account("april").releases == 1


@pytest.mark.parametrize("count", range(16, 3_000, 61))
def test_a_count_that_changes_a_little_stays_in_its_place_on_one_of_the_two_grids(count):
    """An eighth of its spread either way; twice its spread is another place on both."""
    here, there = (set(_steps([(("a value",), c)])) for c in (count, count + int(0.25 * count**0.5)))
    assert here & there
    assert not here & set(_steps([(("a value",), count + 1 + int(2 * count**0.5))]))
