"""Exact whole-number noise for pure DP: the rounded difference of two Wishart matrices, and its coupled form.

**What is returned.** floor(A - B + 1/2), entry by entry, for matrices A and B of the stated distribution over the real
numbers, computed without error. T + floor(A - B + 1/2) = floor(T + A - B + 1/2) for whole T, so a release is
post-processing of T + A - B, whose guarantee wishart.py (independent) and the paragraph below (coupled) prove. Nothing
is clipped, every scale is allowed, and neither the digits used nor the running time depend on T. The one assumption
left is that the system's random bits are fair and independent.

**Normal deviates** are sign * (k + 0.u1 u2 ...) with as many digits as are needed (Karney 2016, Algorithm N).
Acceptance depends on a few digits only; digits that no comparison has read are independent fair bits whatever the
outcome, so they are drawn when they are needed.

**Rounding.** With w digits of b bits each deviate is (x + e) / 2^(bw + 1), x a known whole number and |e| <= 1. For
A - B = (scale / 2) X D X', D = +1 on the first p + 1 columns and -1 on the rest, S = X D X' of the known parts is off
by at most sum_l |x_il| + sum_l |x_jl| + 2 (p + 1). If both ends of that interval have the same floor, it is the floor;
if not, every deviate gets another digit. That ends almost surely.

**The coupled distribution.** Let (A, B) have the density proportional to exp(-max(tr A, tr B) / t) on pairs of
positive semi-definite matrices. A change of T is G = G+ - G-, its positive and negative part. Moving A by G+ and B by
G- stays on the cone and raises the maximum by at most max(tr G+, tr G-) =: |G|, so with f the density of A - B
    f(W + G) >= integral p(A + G+, A - W + G-) dA >= exp(-|G| / t) f(W),
the integral running over the A with A and A - W positive semi-definite. |-G| = |G| gives the other direction: pure DP
with epsilon = max |G| / t. tr G+ is the largest tr(PG) over 0 <= P <= 1, and tr G- that of -G, so |G| is subadditive: k
rows of a person cost k times one row. Replacing a row has G = zz' - ww', and tr(PG) <= z'Pz <= |z|^2, so |G| <= b,
where the nuclear norm needs 2 b.
Sampler: max(a, b) = (a + b)/2 + |a - b|/2, so independent A, B of density exp(-tr / (2t)), which are W_p(p + 1, t I),
are accepted with probability exp(-|tr A - tr B| / (2t)) = exp(-|sum D g^2| / 2), g the 2p(p + 1) deviates: accepted
iff E > |sum D g^2| / 2 for E ~ Exp(1) with digits of its own (von Neumann), decided by the same interval arithmetic.
On rejection all digits are thrown away; on acceptance the rounding goes on with them. At p = 1 the distribution
is Laplace(t).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

DIGIT_BITS = 64
_LIMBS_PAY = 12  # rows; fewer are multiplied faster as Python integers
LARGEST_COUPLED = 10  # rows of the matrix; beyond, coupled noise gains less than 2 % and takes seconds to draw
_LARGEST_SCALE = 2.0**1022

Bits = Callable[[int], np.ndarray]


def wishart_difference_noise(p: int, scale: float) -> np.ndarray:
    """Draw floor(A - B + 1/2), A and B independent W_p(p + 1, scale / 2 I), exactly."""
    _check_scale(scale)
    noise, _ = _round_product(_deviates(p, DigitStream())[0], scale)
    return noise


def coupled_noise(p: int, scale: float) -> np.ndarray:
    """Draw floor(A - B + 1/2) for the coupled distribution with t = scale, exactly."""
    if p > LARGEST_COUPLED:
        raise ValueError(f"The coupled law is drawn for matrices of at most {LARGEST_COUPLED} rows, got {p}.")
    _check_scale(scale)
    return _coupled(p, scale, DigitStream())


def _check_scale(scale: float) -> None:
    """Check the scale before anything is drawn: the coupled distribution doubles it, and it must stay finite."""
    if not 0 < scale <= _LARGEST_SCALE:
        raise ValueError(f"scale must be positive and at most 2^1022, got {scale:g}. Ask for another guarantee.")


class DigitStream:
    """Independent fair digits from the operating system; tests give a ``source``, or fewer than 64 bits to get ties."""

    def __init__(self, bits: int = DIGIT_BITS, source: Bits | None = None) -> None:
        self.bits = bits
        self._source = source or _system

    def draw(self, count: int) -> np.ndarray:
        """Draw ``count`` digits, uint64 below 2^bits."""
        return self._source(count) >> np.uint64(64 - self.bits)

    def below(self, limits: np.ndarray) -> np.ndarray:
        """Draw for each limit (int64, at least 1, below 2^bits) a uniform whole number below it, by rejection."""
        masks = np.array([(1 << (int(m) - 1).bit_length()) - 1 for m in limits], dtype=np.uint64)
        result = np.zeros(len(limits), dtype=np.int64)
        todo = np.arange(len(limits))
        while len(todo):
            result[todo] = (self._source(len(todo)) & masks[todo]).astype(np.int64)
            todo = todo[result[todo] >= limits[todo]]
        return result


def _system(count: int) -> np.ndarray:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


class _Uniforms:
    """Uniform numbers 0.u1 u2 ... whose digits are drawn when they are read; one line of ``columns`` per digit."""

    def __init__(self, count: int, digits: DigitStream) -> None:
        self.count, self.digits = count, digits
        self.columns = [digits.draw(count)]

    def column(self, place: int) -> np.ndarray:
        while len(self.columns) <= place:
            self.columns.append(self.digits.draw(self.count))
        return self.columns[place]

    def take(self, rows: np.ndarray) -> _Uniforms:
        """Return some of the numbers, with the digits that are known; they are no longer used here."""
        part = object.__new__(_Uniforms)
        part.count, part.digits = len(rows), self.digits
        part.columns = [column[rows] for column in self.columns]
        return part

    def put(self, rows: np.ndarray, source: _Uniforms) -> None:
        self.column(len(source.columns) - 1)
        for place, column in enumerate(self.columns):
            column[rows] = source.column(place)


def _less(one: _Uniforms, rows: np.ndarray, other: _Uniforms, other_rows: np.ndarray) -> np.ndarray:
    """Return whether number ``rows[i]`` of one is below number ``others[i]`` of the other; more digits break ties."""
    answer = np.zeros(len(rows), dtype=bool)
    todo, place = np.arange(len(rows)), 0
    while len(todo):
        a, b = one.column(place)[rows[todo]], other.column(place)[other_rows[todo]]
        answer[todo] = a < b
        todo = todo[a == b]
        place += 1
    return answer


# --- normal deviates ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Deviates:
    """2p(p + 1) exact normal deviates, row-major p x 2(p + 1): sign, whole part k and the fraction's digits."""

    p: int
    sign: np.ndarray
    whole: np.ndarray
    fraction: _Uniforms

    def to_integers(self, w: int) -> np.ndarray:
        """Return x as Python integers: sign * (2 (k 2^(bw) + first w digits) + 1)."""
        bits = self.fraction.digits.bits
        number = self.whole.astype(object)
        for place in range(w):
            number = (number << bits) + self.fraction.column(place).astype(object)
        return (self.sign.astype(object) * (2 * number + 1)).reshape(self.p, 2 * (self.p + 1))


def _deviates(p: int, digits: DigitStream, copies: int = 1) -> list[_Deviates]:
    """Draw independent sets of deviates, side by side because that is faster."""
    size = 2 * p * (p + 1)
    whole, fraction = _half_normals(copies * size, digits)
    sign = np.where(digits.draw(copies * size) & np.uint64(1), 1, -1)
    parts = np.split(np.arange(copies * size), copies)
    return [_Deviates(p, sign[part], whole[part], fraction.take(part)) for part in parts]


def _half_normals(count: int, digits: DigitStream) -> tuple[np.ndarray, _Uniforms]:
    """Draw ``count`` deviates |N(0, 1)| = k + fraction and return (k, fraction); Karney 2016, Algorithm N."""
    whole, fraction, accepted = np.zeros(count, dtype=np.int64), _Uniforms(count, digits), 0
    while accepted < count:
        k = _geometric(2 * (count - accepted) + 16, digits)
        k = k[_all_halves(k * (k - 1), digits)]
        x, trial = _Uniforms(len(k), digits), np.repeat(np.arange(len(k)), k + 1)
        mask = np.ones(len(k), dtype=bool)
        mask[trial[~_keep(k, x, trial, digits)]] = False
        indices = np.flatnonzero(mask)[: count - accepted]
        places = np.arange(accepted, accepted + len(indices))
        whole[places] = k[indices]
        fraction.put(places, x.take(indices))
        accepted += len(indices)
    return whole, fraction


def _half(count: int, digits: DigitStream) -> np.ndarray:
    """Draw ``count`` outcomes, each True with probability exp(-1/2).

    The first number of a falling run that starts below 1/2 breaks it at an even place (Karney 2016, Algorithm H).
    """
    answer = np.ones(count, dtype=bool)
    z = _Uniforms(count, digits)
    alive = np.flatnonzero(z.columns[0] < np.uint64(1 << (digits.bits - 1)))
    z = z.take(alive)
    while len(alive):
        answer[alive] ^= True
        more = _Uniforms(len(alive), digits)
        every = np.arange(len(alive))
        falls = _less(more, every, z, every)
        alive, z = alive[falls], more.take(every[falls])
    return answer


def _geometric(count: int, digits: DigitStream) -> np.ndarray:
    """Draw k with probability exp(-k/2) (1 - exp(-1/2)): how often `_half` is true before it is false."""
    k, alive = np.zeros(count, dtype=np.int64), np.arange(count)
    ahead = 4 if count < 4096 else 1  # for few numbers the steps cost more than the trials
    while len(alive):
        trues = _half(len(alive) * ahead, digits).reshape(len(alive), ahead)
        k[alive] += np.cumprod(trues, axis=1).sum(axis=1)
        alive = alive[trues.all(axis=1)]
    return k


def _all_halves(times: np.ndarray, digits: DigitStream) -> np.ndarray:
    """Return the positions at which `_half` is true the given number of times: with probability exp(-times / 2)."""
    mask, trial = np.ones(len(times), dtype=bool), np.repeat(np.arange(len(times)), times)
    mask[trial[~_half(len(trial), digits)]] = False
    return np.flatnonzero(mask)


def _keep(k: np.ndarray, x: _Uniforms, rows: np.ndarray, digits: DigitStream) -> np.ndarray:
    """Draw for each listed row an outcome, True with probability exp(-x (2k + x) / (2k + 2)); Karney 2016, Algorithm B.

    A run z1 > z2 > ... that starts below x goes on as long as a fresh number r is also below (2k + x) / (2k + 2): that
    is so if a uniform place of 2k + 2 is below 2k, or is 2k and a fresh number is below x.
    """
    answer = np.ones(len(rows), dtype=bool)
    alive = np.arange(len(rows))
    last, lasts = x, rows
    while len(alive):
        z = _Uniforms(len(alive), digits)
        every = np.arange(len(alive))
        falls = every[_less(z, every, last, lasts)]
        owner = rows[alive[falls]]
        place = digits.below(2 * k[owner] + 2)
        goes_on = place < 2 * k[owner]
        edge = np.flatnonzero(place == 2 * k[owner])
        goes_on[edge] = _less(_Uniforms(len(edge), digits), np.arange(len(edge)), x, owner[edge])
        falls = falls[goes_on]
        alive, last, lasts = alive[falls], z, falls
        answer[alive] ^= True
    return answer


# --- exact rounding -----------------------------------------------------------------------------------------


def _round_product(deviates: _Deviates, scale: float, w: int = 0, checked: bool = True) -> tuple[np.ndarray, int]:
    """Return (floor(scale / 2 X D X' + 1/2), number of digits used), w digits to begin with, or 0 for the usual number.

    Without ``checked`` an ambiguous rounding is returned as it is, which the tests show that they would detect.
    """
    p, bits = deviates.p, deviates.fraction.digits.bits
    num, den = float(scale).as_integer_ratio()
    q = den.bit_length() - 1  # a float's denominator is a power of two
    w = w or _enough(p, scale, bits)
    rows, columns = np.triu_indices(p)
    while True:
        x = deviates.to_integers(w)
        length = np.abs(x).sum(axis=1)
        shift = q + 1 + 2 * (bits * w + 1)
        middle = num * _product(x)[rows, columns] + (1 << (shift - 1))
        slack = num * (length[rows] + length[columns] + 2 * (p + 1))
        low, high = (middle - slack) >> shift, (middle + slack) >> shift
        if not checked or (low == high).all():
            break
        w += 1
    noise = np.zeros((p, p), dtype=object)
    noise[rows, columns] = low
    noise[columns, rows] = low
    return as_int64(noise), w


def _enough(p: int, scale: float, bits: int) -> int:
    """Return the number of digits after which the rounding is hardly ever in doubt."""
    return max(1, math.ceil((math.log2(scale) + 4 * math.log2(p) + 40) / bits))


def _product(x: np.ndarray) -> np.ndarray:
    """Return S = X D X', exact, as Python integers, through float64 products of small limbs for large matrices."""
    p, columns = x.shape
    if p < _LIMBS_PAY:
        return (x * np.where(np.arange(columns) < columns // 2, 1, -1).astype(object)) @ x.T
    limb = (53 - columns.bit_length()) // 2
    sign = np.where(x < 0, -1.0, 1.0)
    size, limbs = np.abs(x), []
    while size.any():
        limbs.append(sign * (size & ((1 << limb) - 1)).astype(np.float64))
        size = size >> limb
    flip = np.where(np.arange(columns) < columns // 2, 1.0, -1.0)
    total = np.zeros((p, p), dtype=object)
    for place in reversed(range(2 * len(limbs) - 1)):
        part = np.zeros((p, p), dtype=np.int64)
        for i in range(max(0, place - len(limbs) + 1), place // 2 + 1):
            term = ((limbs[i] * flip) @ limbs[place - i].T).astype(np.int64)  # below 2^53 in any order of summation
            part += term if 2 * i == place else term + term.T
        total = (total << limb) + part.astype(object)
    return total


def as_int64(values: np.ndarray) -> np.ndarray:
    """Return the same whole numbers as int64 where they fit; otherwise as they are, Python integers."""
    if values.dtype == object and all(-(2**63) <= v < 2**63 for v in values.ravel()):
        return values.astype(np.int64)
    return values


# --- the coupled distribution -------------------------------------------------------------------------------


def _coupled(p: int, scale: float, digits: DigitStream) -> np.ndarray:
    """Draw deviates until a set is accepted, and round it."""
    while True:
        for deviates in _deviates(p, digits, copies=2 * p):  # about one in p + 1 is accepted
            if w := _accepted(deviates, digits):
                return _round_product(deviates, 2 * scale, max(w, _enough(p, 2 * scale, digits.bits)))[0]


def _accepted(deviates: _Deviates, digits: DigitStream) -> int:
    """Return the number of digits needed to see that E > |sum D g^2| / 2, E ~ Exp(1); 0 where it is not so."""
    whole, fraction = _exponential(digits)
    flip = np.where(np.arange(2 * (deviates.p + 1)) <= deviates.p, 1, -1).astype(object)
    w = 1
    while True:
        x, bits = deviates.to_integers(w), digits.bits * w
        # In units of 2^-2(bits + 1): |sum| is within ``slack`` of ``trace``, and 2 E between ``low`` and ``high``.
        trace = abs(int((x * x * flip).sum()))
        slack = int(np.abs(x).sum()) * 2 + x.size
        number = whole
        for place in range(w):
            number = (number << digits.bits) + int(fraction.column(place)[0])
        low, high = number << (bits + 3), (number + 1) << (bits + 3)
        if low >= trace + slack:
            return w
        if high <= trace - slack:
            return 0
        w += 1


def _exponential(digits: DigitStream) -> tuple[int, _Uniforms]:
    """Draw Exp(1) as (whole part, fraction); the fraction begins the first falling run of odd length (von Neumann)."""
    one = np.zeros(1, dtype=np.int64)
    whole = 0
    while True:
        first = _Uniforms(1, digits)
        last, length = first, 1
        while _less(more := _Uniforms(1, digits), one, last, one)[0]:
            last, length = more, length + 1
        if length % 2:
            return whole, first
        whole += 1
