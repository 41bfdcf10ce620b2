"""The search of a row bound on private rows: neighbours, laws, the share of the whole, and what follows from it."""

import dataclasses
import math
import os
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import privcov
from privcov import ApproxDP, Kind, PrivateDataset, PureDP, ZCDP
from privcov.core import accounting
from privcov.ledger.fingerprint import fingerprint
from privcov.measurements.exact import norm_counts
from privcov.measurements.exact.norm_counts import STEPS, counts_event
from privcov.measurements.exact.private_moment import exact_sum, measure_exactly, planned_events
from privcov.measurements.exact.reading import read_sum
from privcov.measurements.norm_histogram import BINS, SEARCH_SHARE, SEARCHES
from privcov.releases.private_request import private_request, release_from_measurement
from privcov.tables.readers import TableFileError

GUARANTEES = {"pure": PureDP(1.0), "approx": ApproxDP(1.0, 1e-6), "zcdp": ZCDP(0.1)}
D = 12
SEARCH = {"row_bound_search": "auto"}


def gaussian(n: int = 3000, seed: int = 0, d: int = D) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


# --- neighbours ---------------------------------------------------------------------------------------------

KINDS = {
    "pay": Kind("number", 0, 100, weight=3),
    "age": Kind("integer", 0, 100),
    "smokes": Kind("yes-no", values=("no", "yes")),
    "ward": Kind("category", values=("A", "B"), other=True, weight=0.5),
}
FORMS: dict[str, dict] = {
    "bounds": {"bounds": [(-1, 1)] * 3},
    "row bound": {"row_bound": 2.0},
    "hidden n": {"bounds": [(-1, 1)] * 3, "n_public": False},
    "shortened": {"bounds": [(-1, 1)] * 3, "row_bound_fraction": 0.3},
    "pairs": {"bounds": [(-1, 1)] * 3, "missing": "pairs"},
    "dropped": {"bounds": [(-1, 1)] * 3, "missing": "drop-row", "n_public": False},
    "classes": {"bounds": [(-1, 1)] * 3, "classes": ["a", "b"]},
    "kinds": {"kinds": KINDS},
    "kinds, pairs, hidden n": {"kinds": KINDS, "missing": "pairs", "n_public": False},
}


def person(form: dict, rng: np.random.Generator) -> np.ndarray:
    """One to five rows of one person, of any length, with missing cells, in the cells of the form."""
    count = int(rng.integers(1, 6))
    if "kinds" in form:
        cells = [
            [
                rng.uniform(0, 100),
                int(rng.integers(101)),
                rng.choice(["no", "yes", "?"]),
                rng.choice(["A", "B", "C", ""]),
            ]
            for _ in range(count)
        ]
        return np.array(cells, dtype=object)
    rows = rng.standard_normal((count, 3)) * 2.0 ** rng.uniform(-14, 2, (count, 1))
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return rows


def table(form: dict, people: list[np.ndarray], *, ids: bool) -> PrivateDataset:
    rows = np.concatenate(people)
    form = dict(form)
    if "classes" in form:
        form["labels"] = ["a" if k % 3 else "b" if k % 2 else "neither" for k in range(len(rows))]
    if ids:
        form["persons"] = np.repeat(np.arange(len(people)), [len(own) for own in people])
    if "kinds" in form:
        rows = pd.DataFrame(rows, columns=list(KINDS), dtype=object)
    return PrivateDataset.from_rows(rows, name="t", **form)


@pytest.mark.parametrize("ids", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_no_person_moves_the_counts_by_more_than_the_event_says(form, ids):
    """150 pairs: a person's rows in place of another's, or more of them where n is hidden; some reach half of it."""
    rng = np.random.default_rng(len(form))
    form, worst = FORMS[form], {}
    for _ in range(150):
        others = [person(form, rng) for _ in range(2)]
        one, two = person(form, rng), person(form, rng)
        if not ids:  # a person has one row
            others, one, two = [own[:1] for own in others], one[:1], two[:1]
        pair = [table(form, [*others, own], ids=ids) for own in (one, two)]
        if pair[0].facts.n is None:
            pair[1] = table(form, others, ids=ids)
        change = np.subtract(*map(norm_counts.norm_counts, pair))
        for guarantee, size in ((PureDP(1.0), np.abs(change).sum()), (ZCDP(1.0), math.sqrt(change @ change))):
            event = counts_event(pair[0].facts, guarantee)
            assert size <= event.sensitivity
            worst[guarantee] = max(worst.get(guarantee, 0.0), size / event.sensitivity)
    assert min(worst.values()) > 0.5


def test_several_rows_of_one_person_move_the_counts_so_many_times():
    facts = PrivateDataset.from_rows(gaussian(9), row_bound=9.0, rows_per_person=3).facts
    assert counts_event(facts, PureDP(1.0)).sensitivity == 6
    assert counts_event(facts, ZCDP(1.0)).sensitivity == pytest.approx(math.sqrt(18), rel=1e-12)


def test_counts_are_those_of_the_norms_as_whole_numbers():
    """Bins at powers of the root of two, by exact squares; a row of zeros and one that is too short are in none."""
    rows = np.zeros((2 * BINS + 4, 2))
    rows[: 2 * BINS, 0] = [2.0 ** -(k / 2) * (1 + s) for k in range(BINS) for s in (-0.02, 0.02)]
    rows[-1, 0], rows[-2, 0] = 30.0, 2.0**-13
    counts = norm_counts.norm_counts(PrivateDataset.from_rows(rows, row_bound=1.0))
    assert counts.tolist() == [4, *[2] * (BINS - 2), 1]


def test_a_row_weighs_what_its_person_has_left():
    ids = [1, 1, 1, 2, None]
    counts = norm_counts.norm_counts(PrivateDataset.from_rows(np.ones((5, 1)), row_bound=1.0, persons=ids))
    assert counts[0] == 3 * (STEPS // 3) + STEPS
    assert not counts[1:].any()


# --- the share of the whole ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", GUARANTEES)
@pytest.mark.parametrize("more", [{}, {"n_public": False}, {"rows_per_person": 4}])
def test_both_steps_together_are_within_the_guarantee(kind, more):
    facts = PrivateDataset.from_rows(gaussian(50), bounds=[(-4, 4)] * D, **more).facts
    for level in (0.05, 0.1, 0.3, 1.0, 7.7):
        asked = dataclasses.replace(GUARANTEES[kind], **{"rho" if kind == "zcdp" else "epsilon": level})
        events = private_request("auto-cov", facts, asked, parameters=SEARCH).events()
        assert [event.share for event in events] == ["norms", "matrix"]
        assert accounting.covers(asked, accounting.compose(events, asked))
        if kind != "approx":  # what the ledger counts is the decimal
            ratios = [Fraction(event.sensitivity) / Fraction(event.scale) for event in events]
            whole = sum(ratios) if kind == "pure" else sum(r * r for r in ratios) / 2
            assert whole <= Fraction(repr(level))
            assert whole > Fraction(repr(level)) * (1 - Fraction(1, 10**9))


@pytest.mark.parametrize("kind", GUARANTEES)
def test_the_noise_of_the_counts_is_what_the_event_says(kind, monkeypatch):
    """300 draws of 24 counts: their deviation is known to 1.2 % (2 % for Laplace)."""
    private = PrivateDataset.from_rows(gaussian(400), row_bound=9.0)
    share, rest = norm_counts.shares(GUARANTEES[kind])
    exact = norm_counts.norm_counts(private)
    found = [norm_counts.search_exactly(private, share, rest, "graph") for _ in range(300)]
    noise = np.array([search.counts for search in found]) - exact
    event = found[0].event
    assert noise.std() == pytest.approx(event.scale * (math.sqrt(2) if kind == "pure" else 1), rel=0.06)
    assert np.abs(noise.mean()) < 0.06 * event.scale


# --- what follows -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        {"bounds": [(-8, 8)] * D},
        {"row_bound": 30.0},
        {"bounds": [(-8, 8)] * D, "n_public": False},
        {"bounds": [(-8, 8)] * D, "missing": "pairs"},
        {"bounds": [(-8, 8)] * D, "persons": np.arange(3000) // 2},
    ],
)
def test_the_sum_is_the_one_under_the_bound_that_was_found(form):
    """With next to no noise on the sum: the same moment as of a table that declares this bound itself."""
    private = PrivateDataset.from_rows(gaussian(), **form)
    how = vars(private_request("auto-cov", private.facts, ZCDP(1e8), parameters=SEARCH).measurement_request)
    noisy = measure_exactly(private, **how)
    assert noisy.original_facts is private.facts
    assert noisy.search.halvings > 0 or "persons" in form  # whose counts have noise even here
    factor = noisy.search.factor
    again = {"row_bound": form["row_bound"] * factor} if "row_bound" in form else {"row_bound_fraction": factor}
    other = PrivateDataset.from_rows(gaussian(), **form | again)
    assert noisy.facts.row_bound == pytest.approx(other.facts.row_bound)
    plain = measure_exactly(other, **{**how, "search_for": ""})
    assert np.allclose(read_sum(noisy, "joint").matrix, read_sum(plain, "joint").matrix, atol=2e-4)
    assert type(noisy).from_dict(noisy.to_dict()).to_dict() == noisy.to_dict()
    wanted = private_request("auto-cov", private.facts, ZCDP(1e8), parameters=SEARCH)
    assert wanted.matches(noisy)
    assert planned_events(private.facts, **how, bound=noisy.facts) == noisy.events


@pytest.mark.parametrize("kind", GUARANTEES)
def test_the_noise_falls_with_the_square_of_the_bound_that_was_found(kind, tmp_path):
    """5,000 rows, twenty columns, wide limits. The search nearly always shortens; what follows holds if it does not."""
    rows, guarantee = gaussian(5000, d=20) + gaussian(5000, seed=1, d=1), GUARANTEES[kind]
    private = PrivateDataset.from_rows(rows, bounds=[(-12, 12)] * 20, name="t")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", PureDP(3.0) if kind == "pure" else ZCDP(3.0))
    made = {}
    for search in ("auto", "off"):
        made[search] = privcov.release_private(private, guarantee, ledger=ledger, row_bound_search=search)
    rel, off = made["auto"], made["off"]
    factor = rel.measurement.search.factor
    assert rel.row_bound == pytest.approx(off.row_bound * factor)
    noise, without = (one.noisy_moment.distribution.off_diagonal_std * one.row_bound**2 for one in (rel, off))
    part = 1 - SEARCH_SHARE if kind == "pure" else math.sqrt(1 - SEARCH_SHARE)
    assert noise == pytest.approx(without * factor**2 / part, rel=0.2)  # the weights of the diagonal differ
    word = "shortened the row bound" if factor < 1 else "kept the row bound"
    assert any(note.startswith(f"Row bound search: {word}") for note in rel.notes)
    assert [event.share for event in rel.events] == ["norms", "matrix"]
    same = privcov.release_private(private, guarantee, ledger=ledger, **SEARCH)
    assert np.array_equal(same.covariance, rel.covariance)
    assert len(ledger.entries()) == 2
    other = release_from_measurement(
        "gaussian-cov" if kind != "pure" else "wishart-difference", rel.measurement, guarantee
    )
    assert other.row_bound == rel.row_bound
    assert other.events == rel.events


@pytest.mark.parametrize("more", [{}, {"person": "who"}, {"missing": "pairs"}, {"label": "c", "classes": ["a", "b"]}])
def test_a_table_in_files_is_counted_and_summed_as_one_in_memory(more, tmp_path):
    """The same counts, and under a shorter bound the same sum, from a second pass; both without noise."""
    rows = gaussian()
    rows[::7, 3] = np.nan
    frame = pd.DataFrame(rows, columns=[f"x{k}" for k in range(D)])
    if "person" in more:
        frame["who"] = np.arange(len(rows)) // 3
    if "classes" in more:
        frame["c"] = np.where(np.arange(len(rows)) % 5, "a", "neither")
    frame.to_csv(tmp_path / "t.csv", index=False, float_format="%.17g")
    columns = [f"x{k}" for k in range(D)]
    facts = {"bounds": [(-8, 8)] * D, "name": "t", **more}
    files = PrivateDataset.from_files(tmp_path / "t.csv", columns=columns, **facts)
    own = {name: facts.pop(name) for name in ("label", "person") if name in facts}
    given = {"label": "labels", "person": "persons"}
    memory = PrivateDataset.from_rows(rows, **facts, **{given[k]: frame[v].tolist() for k, v in own.items()})
    assert np.array_equal(norm_counts.norm_counts(files), norm_counts.norm_counts(memory))
    shorter = [
        dataclasses.replace(private, facts=private.facts.with_shorter_bound(2**-1.5)) for private in (files, memory)
    ]
    one, other = (exact_sum(private, private.facts.n_anchors) for private in shorter)
    assert np.array_equal(one, other)
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", ZCDP(3.0))
    rel, again = (privcov.release_private(files, ZCDP(0.1), ledger=ledger, **SEARCH) for _ in range(2))
    assert np.array_equal(rel.noisy_moment.matrix, again.noisy_moment.matrix)


def test_files_that_change_between_the_passes_are_refused(tmp_path):
    """Other cells of the same size, written after the counts, with the time of the file put back."""
    path, other = tmp_path / "t.csv", gaussian(3000, seed=5)
    header = ",".join(f"x{k}" for k in range(D))

    def write(rows: np.ndarray) -> None:
        np.savetxt(path, rows, fmt="%+.12f", delimiter=",", header=header, comments="")

    write(gaussian())
    private = PrivateDataset.from_files(path, bounds=[(-8, 8)] * D, name="t")
    fingerprint(private, b"k" * 32)
    before = path.stat()
    write(other)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    shorter = dataclasses.replace(private, facts=private.facts.with_shorter_bound(0.5))
    with pytest.raises(TableFileError, match="changed since the pass before"):
        exact_sum(shorter, 1)


@pytest.mark.parametrize("guarantee", [PureDP(0.3), PureDP(1.0), ZCDP(0.003)])
def test_few_rows_are_not_searched_for_a_bin_that_chance_has_filled(guarantee):
    """200 rows that fill their limits, 200 searches: without the threshold every tenth shortened all of them."""
    rows = np.random.default_rng(1).uniform(-1, 1, (200, 10))
    private = PrivateDataset.from_rows(rows, bounds=[(-1, 1)] * 10)
    first, rest = norm_counts.shares(guarantee)
    found = [norm_counts.search_exactly(private, first, rest, f).halvings for f in SEARCHES for _ in range(200)]
    assert set(found) == {0}


@pytest.mark.parametrize("kind", GUARANTEES)
def test_a_graph_of_private_rows_has_the_bound_that_its_counts_give_and_its_bundle_holds(kind, tmp_path):
    """Limits of twelve standard deviations: counts of 5,000 rows shorten the bound. A bundle is checked as it opens."""
    guarantee = GUARANTEES[kind]
    private = PrivateDataset.from_rows(gaussian(5000, d=12), bounds=[(-12, 12)] * 12, name="t")
    ledger = privcov.Ledger(tmp_path / "ledger.sqlite")
    ledger.set_limit("t", PureDP(3.0) if kind == "pure" else ZCDP(3.0))
    rel = privcov.release_private(private, guarantee, "auto-precision", ledger=ledger, **SEARCH)
    assert [event.share for event in rel.events] == ["norms", "matrix"]
    assert private_request("auto-precision", private.facts, guarantee, parameters=SEARCH).matches(rel.measurement)
    assert rel.measurement.search.halvings > 0
    rel.save_bundle(tmp_path / "t.zip")
    assert np.array_equal(privcov.open_bundle(tmp_path / "t.zip").measurement.total, rel.measurement.total)
