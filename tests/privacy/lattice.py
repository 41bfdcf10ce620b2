"""Lattice test of whether whole-number noise is as even as its distribution, down to the last bit.

Noise N that is drawn in floating point lies on a lattice; where that is not much finer than one step of the data, the
residues of an answer reveal what the noise was added to. Noise of a scale s far above 1 should have residues that are
uniform modulo 2^k up to about s, and no preferred multiples of s 2^-j either.

**Statistic.** n |mean e^(2 pi i theta N)|^2 over n numbers, at theta = m / 2^k and theta = m 2^j / s, m = 1, 3, 5. For
even noise it is Exp(1), above t with probability at most K exp(-t cos^2(pi / K)) for every K: each direction of the
sum is sub-Gaussian with variance n / 2, and K directions see every vector within a factor cos(pi / K). That is below
5e-16 at t = 40. At theta = 1/2 it is chi^2_1, and half of it is used: below 2 exp(-40). A call looks at fewer than
5,000 of them, so it accuses even noise with probability below 3e-12. The statistic is at most n, so groups of fewer
than 80 numbers are not looked at: pool draws.

**Noise is not quite even.** A distribution with a density f, log-Lipschitz with constant 2/s in every entry (pure DP
makes it so) or unimodal with sup f <= 1/s (discrete Gaussian), restricted to a quarter of its mass by size, has total
variation at most 24/s, so its mean at theta is at most 24 / (2 pi |theta| s), |theta| the distance to the nearest
whole number. The limit is raised by that, to (sqrt(40) + sqrt(n) 24 / (2 pi |theta| s))^2; |theta| s < 64 is not looked
at.

**Also:** no value twice where s is above n^2 2^31 (chance below 1e-10), and the parities of a p x p draw have corank at
most 9 over GF(2) (even parities: chance below 1e-16).

**What it sees:** a mean of size 10 / sqrt(n) at one of these theta, so 5 % of the mass in the wrong residues for 40,000
numbers. It does not see other frequencies, a wrong scale, or entries that depend on each other. Passing is necessary,
not sufficient: a sampler needs a proof as well.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privcov.measurements.exact import noise as exact_noise

LIMIT = 40.0
FLAT = 64  # |theta| s from which a theta is tested
FEWEST = 80
MULTIPLES = (1, 3, 5)
FINEST = 60  # the float lattices go down to scale / 2^60
MAX_CORANK = 9
GROUPS = ("all entries", "diagonal", "largest quarter", "smallest quarter")

Sampler = Callable[[int, float], np.ndarray]


@dataclass(frozen=True)
class Look:
    """One statistic. lattice: "2^k" (theta = multiple / 2^power) or "scale / 2^j" (multiple 2^power / scale)."""

    lattice: str
    power: int
    multiple: int
    group: str
    statistic: float
    limit: float

    @property
    def words(self) -> str:
        """Where it was looked, and the result."""
        power = f"2^{self.power}" if self.power > 1 else "2"
        step = power if self.lattice == "2^k" else f"scale / {power}"
        step = step if self.multiple == 1 else f"{step} / {self.multiple}"
        return (
            f"residues modulo {step}, {self.group}: unevenness {self.statistic:,.4g}, "
            f"where even noise stays below {self.limit:,.4g}"
        )


@dataclass(frozen=True)
class Evenness:
    """Result of `examine`.

    numbers: how many were looked at, of all draws together. repeated: how many of them occur more than once, where all
    should be different. corank: the largest of the parities of a draw, 0 where only diagonals were looked at.
    """

    scale: float
    numbers: int
    looks: tuple[Look, ...]
    repeated: int
    corank: int

    @property
    def worst(self) -> Look:
        """The look that exceeds its limit most."""
        return max(self.looks, key=lambda look: look.statistic / look.limit)

    @property
    def faults(self) -> tuple[str, ...]:
        """The faults in words; empty for even noise."""
        faults = [self.worst.words] if self.worst.statistic > self.worst.limit else []
        faults += [f"{self.repeated:,} of {self.numbers:,} numbers occur more than once"] if self.repeated else []
        faults += [f"parities have corank {self.corank}"] if self.corank > MAX_CORANK else []
        return tuple(faults)


def private_samplers() -> dict[str, Sampler]:
    """Return every noise that private rows are ever covered with, by the name of the function that adds it."""
    return {
        "add_discrete_gaussian": _triangle(exact_noise.add_discrete_gaussian),
        "add_discrete_laplace": _triangle(exact_noise.add_discrete_laplace),
        "add_wishart_difference": lambda p, scale: exact_noise.add_wishart_difference(_zeros((p, p)), scale),
        "add_coupled_wishart": lambda p, scale: exact_noise.add_coupled_wishart(_zeros((p, p)), scale),
    }


def _zeros(shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape, dtype=np.int64)


def _triangle(add: Callable[[np.ndarray, float], np.ndarray]) -> Sampler:
    def sampler(p: int, scale: float) -> np.ndarray:
        rows, columns = np.triu_indices(p)
        values = add(_zeros((len(rows),)), scale)
        noise = np.zeros((p, p), dtype=values.dtype)
        noise[rows, columns] = noise[columns, rows] = values
        return noise

    return sampler


def draw(sampler: Sampler, p: int, scale: float, draws: int) -> list[np.ndarray]:
    """Draw so many matrices of noise. A ValueError passes through: a sampler may refuse a scale."""
    return [np.asarray(sampler(p, scale)) for _ in range(draws)]


def examine(drawn: Sequence[np.ndarray], scale: float, *, diagonal_only: bool = False) -> Evenness:
    """Make the whole test on symmetric whole-number noise of one size and scale, or on its diagonals alone."""
    p = len(drawn[0])
    rows, columns = np.diag_indices(p) if diagonal_only else np.triu_indices(p)
    for noise in drawn:
        if noise.shape != (p, p) or noise.dtype.kind not in "iO" or not (noise == noise.T).all():
            raise ValueError("Noise must be symmetric matrices of whole numbers, all of one size.")
    numbers = np.concatenate([noise[rows, columns].astype(object) for noise in drawn])
    if len(numbers) < FEWEST:
        raise ValueError(f"{len(numbers)} numbers cannot show anything; draw at least {FEWEST}.")
    groups = _groups(numbers, np.tile(rows == columns, len(drawn)))
    repeated = 0
    if scale >= len(numbers) ** 2 * 2.0**31:
        repeated = sum(count for count in Counter(numbers).values() if count > 1)
    corank = 0 if diagonal_only else max(parity_corank(noise) for noise in drawn)
    return Evenness(scale, len(numbers), tuple(_looks(numbers, groups, scale)), repeated, corank)


def _groups(numbers: np.ndarray, diagonal: np.ndarray) -> dict[str, np.ndarray]:
    """Return positions of the members of each group that is large enough."""
    order, quarter = np.argsort(np.abs(numbers), kind="stable"), len(numbers) // 4
    members = (np.arange(len(numbers)), np.flatnonzero(diagonal), order[len(numbers) - quarter :], order[:quarter])
    return {name: positions for name, positions in zip(GROUPS, members, strict=True) if len(positions) >= FEWEST}


def _looks(numbers: np.ndarray, groups: dict[str, np.ndarray], scale: float) -> Iterator[Look]:
    exact = Fraction(scale)
    # N / 2^k: the last k bits of N. N 2^j / s: the bits of floor(N 2^F / s), F large enough to have 52 of them.
    depth = FINEST + 60
    num, den = exact.numerator, exact.denominator
    ladders = (
        ("2^k", _words(numbers), [(k, k, Fraction(1, 2**k)) for k in range(1, max(2, math.ceil(math.log2(scale))))]),
        (
            "scale / 2^j",
            _words((numbers * (den << depth)) // num),
            [(j, depth - j, 2**j / exact) for j in range(6, FINEST + 1)],
        ),
    )
    for lattice, words, rungs in ladders:
        for power, shift, theta in rungs:
            turn = np.exp(2j * np.pi * _fraction(words, shift))
            for multiple in MULTIPLES:
                away = theta * multiple % 1
                away = min(away, 1 - away)
                if away * exact < FLAT:
                    continue
                turned = turn**multiple
                for name, positions in groups.items():
                    n = len(positions)
                    size = n * abs(turned[positions].mean()) ** 2 / (2 if away == Fraction(1, 2) else 1)
                    limit = (math.sqrt(LIMIT) + math.sqrt(n) * 24 / (2 * math.pi * float(away * exact))) ** 2
                    yield Look(lattice, power, multiple, name, float(size), limit)


def _words(numbers: np.ndarray) -> list[np.ndarray]:
    """Return Python integers, of either sign, as words of 64 bits, lowest first, with one word more than is needed."""
    count = max(int(max(abs(numbers.max()), abs(numbers.min()))).bit_length() // 64 + 2, 2)
    return [((numbers >> (64 * i)) & (2**64 - 1)).astype(np.uint64) for i in range(count)]


def _fraction(words: list[np.ndarray], shift: int) -> np.ndarray:
    """Return X / 2^shift modulo 1, from the 52 bits below ``shift``."""
    low = max(shift - 52, 0)
    place, rest = divmod(low, 64)
    last = words[-1]
    word, above = (words[i] if i < len(words) else last for i in (place, place + 1))
    bits = word >> np.uint64(rest)
    if rest:
        bits = bits | (above << np.uint64(64 - rest))
    return (bits & np.uint64((1 << (shift - low)) - 1)).astype(np.float64) / 2.0 ** (shift - low)


def parity_corank(noise: np.ndarray) -> int:
    """Return rows less rank over GF(2) of the last bits of a matrix of whole numbers."""
    lines = [int.from_bytes(line.tobytes()) for line in np.packbits((noise & 1).astype(bool), axis=1)]
    rank = 0
    while lines:
        pivot = lines.pop()
        if pivot:
            rank += 1
            top = pivot.bit_length() - 1
            lines = [line ^ pivot if line >> top & 1 else line for line in lines]
    return len(noise) - rank


def floating_wishart(p: int, scale: float) -> np.ndarray:
    """Draw the former floating-point noise of the rounded Wishart difference, p x p int64, clipped at 2^61.

    Doubles near p * scale lie on a lattice that is coarse beside one step of the data, so the answer's residues reveal
    what the noise was added to; and clipped noise is a constant, so a clipped entry reveals the exact sum.
    """
    from scipy.special import ndtri

    bits = np.frombuffer(os.urandom(16 * p * (p + 1)), dtype=np.uint64)
    half = ((bits >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64
    normals = np.where(bits & np.uint64(1), 1.0, -1.0) * -ndtri(half)
    plus, minus = normals.reshape(2, p, p + 1)
    noise = scale / 2 * (plus @ plus.T - minus @ minus.T)
    noise = np.triu(noise) + np.triu(noise, 1).T
    return np.floor(np.clip(noise, -(2.0**61), 2.0**61) + 0.5).astype(np.int64)
