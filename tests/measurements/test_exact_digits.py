"""The digits behind exact noise: which are kept, which are fresh, and the intervals at their very ends.

Seeded or made up throughout; each test names the fault that it detects.
"""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import erf

from privcov.measurements.exact import wishart as exact
from tests.measurements.test_exact_wishart import literal, recorded

ONES, ZEROS = 2**64 - 1, 0


def made_up(p: int, first: list[int], rest: list[int], sign: list[int]) -> exact._Deviates:
    """Deviates of digits of 4 bits: the first digit of each, and all ones or all zeros for ever after."""
    digits = exact.DigitStream(4, lambda count: np.array(rest, dtype=np.uint64))
    fraction = exact._Uniforms(len(first), digits)
    fraction.columns[0][:] = first
    return exact._Deviates(p, np.array(sign), np.zeros(len(first), dtype=np.int64), fraction)


def test_the_slack_covers_all_deviates_at_their_ends_at_once():
    """Every product at the far end of its digits: the true value reaches the slack with its last term, 2 (p + 1).

    One digit says .28 on a bound of .5 off the diagonal, and .47 if the slack is without that term; the truth is .5006.
    """
    signs = [1] * 6 + [1, 1, 1, -1, -1, -1]  # the second line has the sign of D: all six products push one way
    for turn in (1, -1):
        extreme = made_up(2, [1] * 12, [ONES] * 12, [turn * s if at >= 6 else s for at, s in enumerate(signs)])
        scale = 2 * 0.5006 / (6 * (2 / 16) ** 2)
        noise, w = exact._round_product(extreme, scale, w=1)
        assert noise.tolist() == literal(extreme, scale, 30).tolist()
        assert noise[0, 1] == turn
        assert w > 1


def test_the_acceptance_covers_all_deviates_at_their_ends_at_once():
    """2 E = 256 / 1024 against a sum that its first digits put at 176 and all digits at 263.99: not accepted.

    Half the slack, 220, would accept it. With larger first digits for E it is accepted, and with smaller ones not.
    """
    taken = {}
    for first in (1, 2, 3):
        extreme = made_up(1, [6, 6, 4, 4], [ONES, ONES, ZEROS, ZEROS], [1, -1, 1, -1])
        e = exact._Uniforms(1, exact.DigitStream(4, lambda count: np.zeros(count, dtype=np.uint64)))
        e.columns[0][:] = first
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact, "_exponential", lambda digits, e=e: (0, e))
            taken[first] = exact._accepted(extreme, extreme.fraction.digits)
    assert taken[1] == taken[2] == 0
    assert taken[3] > 0


def test_digits_that_were_looked_at_are_kept_when_numbers_move():
    """`take` and `put` keep every known digit and leave the other numbers alone.

    A digit that is drawn again after a comparison has used it would undo the comparison.
    """
    digits = recorded(1, 64)
    source, target = exact._Uniforms(6, digits), exact._Uniforms(4, digits)
    source.column(2)
    target.column(1)
    before, known = [c.copy() for c in target.columns], [c.copy() for c in source.columns]
    part = source.take(np.array([5, 2]))
    assert [part.column(k).tolist() for k in range(3)] == [[c[5], c[2]] for c in known]
    target.put(np.array([3, 0]), part)
    for place in range(3):
        assert target.column(place)[[3, 0]].tolist() == known[place][[5, 2]].tolist()
    assert all(target.columns[k][[1, 2]].tolist() == before[k][[1, 2]].tolist() for k in range(2))


def test_ties_and_later_digits_follow_the_normal_law_in_digits_of_one_bit():
    """100,000 deviates over (k, first four digits), 65 cells against the normal law: p > 1e-4, fixed seed.

    With one bit half of all comparisons tie; one that stops there, or digits that are not kept, would be seen.
    """
    count = 100_000
    whole, fraction = exact._half_normals(count, recorded(1, 1))
    cell = whole.copy()
    for place in range(4):
        cell = 2 * cell + fraction.column(place).astype(np.int64)
    found = np.bincount(np.minimum(cell, 64), minlength=65)
    ends = erf(np.arange(65) / 16 / math.sqrt(2))
    assert stats.chisquare(found, np.append(np.diff(ends), 1 - ends[-1]) * count).pvalue > 1e-4


def test_signs_are_made_of_no_digit_of_the_number():
    """20,000 deviates: the sign agrees with each bit of a digit in half of them, whatever k is (5 deviations)."""
    deviates = exact._deviates(1, recorded(5, 64), copies=5_000)
    sign = np.concatenate([g.sign for g in deviates]) > 0
    digits = [np.concatenate([g.fraction.column(place) for g in deviates]) for place in (0, 1)]
    bits = [digit >> np.uint64(shift) & np.uint64(1) for digit in digits for shift in (0, 1, 62, 63)]
    for bit in bits:
        assert abs(int((sign == bit.astype(bool)).sum()) - 10_000) < 5 * math.sqrt(5_000)
    whole = np.concatenate([g.whole for g in deviates])
    for k in (0, 1):
        of = sign[whole == k]
        assert abs(int(of.sum()) - len(of) / 2) < 5 * math.sqrt(len(of)) / 2


def test_what_is_returned_are_the_deviates_that_were_accepted():
    """250 draws of the whole coupled sampler at p = 1 against Laplace(t): p > 1e-3, fixed seed.

    Fresh deviates after the acceptance give Laplace(2t); one E for all that are tried gives too little noise.
    """
    rng = np.random.default_rng(11)
    source = lambda count: rng.integers(0, 2**64, size=count, dtype=np.uint64)  # noqa: E731
    drawn = [int(exact._coupled(1, 1e9, exact.DigitStream(64, source))[0, 0]) / 1e9 for _ in range(250)]
    assert stats.kstest(drawn, "laplace").pvalue > 1e-3


def test_every_digit_is_asked_of_the_system_when_it_is_drawn(monkeypatch):
    """No pool of random bytes: one that is filled before a fork would give both processes the same noise."""
    asked, system = [], exact.os.urandom
    monkeypatch.setattr(exact.os, "urandom", lambda size: asked.append(size) or system(size))
    digits = exact.DigitStream()
    digits.draw(5)
    digits.below(np.array([2]))
    exact.DigitStream(4).draw(3)
    assert asked == [40, 8, 24]


def test_refinement_appends_digits_and_draws_none_again():
    """30 draws at 4 bits whose 40 digits are known beforehand: what is returned is their floor.

    Digits that are drawn again once a draw has been ambiguous would favour values away from the half steps.
    """
    refined = 0
    for seed in range(30):
        deviates = exact._deviates(2, recorded(seed, 4))[0]
        want = literal(deviates, 50.0, 40).tolist()
        noise, w = exact._round_product(deviates, 50.0, w=1)
        assert noise.tolist() == want
        refined += w > 1
    assert refined > 25
