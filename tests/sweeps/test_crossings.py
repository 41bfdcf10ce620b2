"""Crossings on tables made by hand: named only where paired replicates tell."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from privcov.sweeps.crossings import all_pairs, compare, paired_interval, sentence


def table(values: dict, replicates: int = 4, wobble: float = 0.0) -> pd.DataFrame:
    """values: {series: {x: mean}}. Every replicate shifts all series alike, so pairs differ by the means exactly."""
    rows = []
    for series, points in values.items():
        for (x, mean), r in itertools.product(points.items(), range(replicates)):
            own = wobble * (-1) ** r if series == "a" else 0.0
            rows.append({"series": series, "x": x, "replicate": r, "value": mean + 10 * r + own})
    return pd.DataFrame(rows)


def test_the_interval_is_student_s():
    """By hand: differences 1, 2, 3 have mean 2, standard error 1/sqrt(3), and t(2, .975) = 4.302653."""
    low, high = paired_interval([1.0, 2.0, 3.0])
    assert (low + high) / 2 == pytest.approx(2.0)
    assert (high - low) / 2 == pytest.approx(4.302653 / math.sqrt(3), rel=1e-6)
    assert paired_interval([5.0]) == (-math.inf, math.inf)
    assert paired_interval([2.0, 2.0]) == (2.0, 2.0)


def test_the_interval_covers_as_often_as_it_says():
    """20,000 samples of 5 normal differences: coverage .95 within .005 (more than 3 standard errors of .0015)."""
    rng = np.random.default_rng(0)
    inside = sum(low <= 0 <= high for low, high in map(paired_interval, rng.standard_normal((20_000, 5))))
    assert inside / 20_000 == pytest.approx(0.95, abs=0.005)


def test_a_crossing_lies_between_the_last_and_the_first_clear_point():
    found = compare(table({"a": {1: 1.0, 2: 1.0, 4: 1.0}, "b": {1: 3.0, 2: 1.0, 4: 0.5}}), "a", "b")
    assert found.signs == (-1, 0, 1)
    assert found.crossings == ((1.0, 4.0, "b"),)
    assert sentence(found, "n") == "B overtakes a between n = 1 and 4. No clear winner at 1 of 3 points."


def test_pairing_sees_what_bands_hide():
    """Replicates move all series by tens, and the methods differ by 0.1 in each: clear, because paired."""
    found = compare(table({"a": {1: 1.0}, "b": {1: 1.1}}), "a", "b")
    assert found.signs == (-1,)


def test_noise_in_the_difference_leaves_no_clear_winner():
    found = compare(table({"a": {1: 1.0, 2: 1.0}, "b": {1: 1.1, 2: 0.9}}, wobble=1.0), "a", "b")
    assert found.signs == (0, 0)
    assert not found.crossings
    assert sentence(found, "n") == "No clear winner between a and b."


def test_one_replicate_says_nothing():
    found = compare(table({"a": {1: 1.0}, "b": {1: 100.0}}, replicates=1), "a", "b")
    assert sentence(found, "n") == "No clear winner between a and b."


def test_two_crossings_are_both_named():
    found = compare(table({"a": {1: 1.0, 2: 3.0, 3: 1.0}, "b": {1: 2.0, 2: 2.0, 3: 2.0}}), "a", "b")
    assert found.crossings == ((1.0, 2.0, "b"), (2.0, 3.0, "a"))
    assert "B overtakes a between n = 1 and 2; a overtakes b between n = 2 and 3." in sentence(found, "n")


def test_better_everywhere_and_better_somewhere():
    every = compare(table({"a": {1: 1.0, 2: 1.0}, "b": {1: 2.0, 2: 2.0}}), "a", "b")
    assert sentence(every, "n", labels={"a": "Auto", "b": "Gauss"}) == "Auto is better than Gauss everywhere."
    some = compare(table({"a": {1: 2.0, 2: 1.0, 3: 2.0}, "b": {1: 1.0, 2: 1.0, 3: 1.0}}), "a", "b")
    assert sentence(some, "n") == (
        "B is better than a at 2 of 3 points (n from 1 to 3); no clear winner at the others."
    )


def test_missing_cells_leave_their_pair_out():
    holes = table({"a": {1: 1.0, 2: 1.0}, "b": {1: 2.0, 2: 2.0}})
    holes.loc[(holes["series"] == "a") & (holes["x"] == 2), "value"] = np.nan
    assert compare(holes, "a", "b").xs == (1.0,)
    assert all_pairs(holes[holes["series"] == "a"]) == []


def test_the_order_of_the_rows_and_of_the_pair_does_not_matter():
    made = table({"a": {1: 1.0, 2: 3.0}, "b": {1: 2.0, 2: 2.0}})
    shuffled = made.sample(frac=1, random_state=0)
    assert compare(made, "a", "b") == compare(shuffled, "a", "b")
    assert compare(made, "b", "a").signs == tuple(-s for s in compare(made, "a", "b").signs)
    assert compare(made, "b", "a").crossings == compare(made, "a", "b").crossings
