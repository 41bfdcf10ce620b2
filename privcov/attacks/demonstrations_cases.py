"""The six demonstrations as computations: two neighbouring tables, the habit, its repair, and the attack on either.

Five of them claim rho-zCDP at CLAIM and add the noise of the one measurement everything is made from
(measurements/moment.py, shape "free-trace", d = 2). Every case has ``exact(control)`` -> success on either side, and
``run(control, count, seed)`` -> the two `AttackResult`s. All tables are fixed or simulated; the attacker has the other
rows.
"""

from __future__ import annotations

import math

import numpy as np

from privcov.attacks.demonstrations_attack import AnswerHistogram, Attack, AttackResult, carry_out, interval
from privcov.attacks.raw_tuning import chosen_on_raw_rows
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, ZCDP
from privcov.core.randomness import stream
from privcov.core.words import percent
from privcov.measurements.moment import clipped_moment, measure_moment
from privcov.measurements.noise import NoiseDistribution
from privcov.tables.dataset import Dataset

CLAIM = ZCDP(0.1)
ROWS = 100
TUNED_ROWS = 25  # cross-validation runs once per simulated answer
MAX_DRAWS = 200_000  # of one table, all re-runs together: more would keep a page waiting
_E1, _E2 = np.eye(2)


def at_most(chance: float) -> str:
    """Write a bound on an attacker's chance."""
    return f"at most {percent(chance)}" if chance <= 0.9999 else "bounded by more than 99.99\u00a0%"


def _noise(table: Dataset, centre: str) -> NoiseDistribution:
    """Return the noise that the measurement adds for the claim; it depends on public facts only."""
    return measure_moment(table, CLAIM, centre=centre, shape="free-trace", rng=stream(0, "law")).distribution


def _table(rows: np.ndarray, bound: float = 1.0) -> Dataset:
    return Dataset.from_rows(rows, bound, name="demonstration", provenance="simulated")


def _axes(row: np.ndarray, n: int = ROWS) -> np.ndarray:
    """Return n rows of norm 1, half on either axis, the last one replaced by ``row``: the one to be hidden."""
    rows = np.tile(np.eye(2), (n // 2 + 1, 1))[:n]
    rows[-1] = row
    return rows


def _sound(first: np.ndarray, second: np.ndarray, centre: str = "none", looks: int = 1) -> Attack:
    """Return the attack on the measurement as it should be made: clipped to the public bound 1, its own sensitivity."""
    tables, joint = (_table(first), _table(second)), int(centre == "joint")
    one, two = (clipped_moment(t, n_anchors=joint) for t in tables)
    return Attack(one, two, _noise(tables[0], centre), looks)


class GaussianCase:
    """A habit whose answer still has Gaussian noise on it, so that the best attacker is known in closed form."""

    def attacks(self, control: float) -> tuple[Attack, Attack]:
        """Return the best attack on the habit, and the same on its repair."""
        raise NotImplementedError

    def findings(self, control: float, done: Attack, repaired: Attack) -> tuple[str, str]:
        """Describe the results with the habit and with its repair, a sentence each."""
        raise NotImplementedError

    def exact(self, control: float) -> tuple[float, float]:
        """Return the probability (0..1) that the best attack names the right table: habit, repair."""
        done, repaired = self.attacks(control)
        return done.success, repaired.success

    def limit(self, control: float) -> float:
        """Return the largest probability that the claim permits."""
        return accounting.attacker_success(CLAIM)

    def run(self, control: float, count: int, seed: int) -> tuple[AttackResult, AttackResult]:
        """Carry out both attacks ``count`` times."""
        done, repaired = self.attacks(control)
        findings = self.findings(control, done, repaired)
        one, two = (stream(seed, type(self).__name__, side, f"{control:g}") for side in ("done", "repaired"))
        return carry_out(done, CLAIM, findings[0], count, one), carry_out(repaired, CLAIM, findings[1], count, two)


class LongestRow(GaussianCase):
    """Division by the longest row. The control is the length of the one row, the others having length 1."""

    def attacks(self, control: float) -> tuple[Attack, Attack]:
        """Return the attack on the habit and on its repair."""
        tables = _axes(control * _E1), _axes(_E2)
        first, second = (_table(rows / np.linalg.norm(rows, axis=1).max()) for rows in tables)
        distribution = _noise(first, "none")
        return Attack(clipped_moment(first, n_anchors=0), clipped_moment(second, n_anchors=0), distribution), _sound(
            *tables
        )

    def findings(self, control: float, done: Attack, repaired: Attack) -> tuple[str, str]:
        """Describe the mean square of the second column."""
        first, second = done.first[1, 1], done.second[1, 1]
        remark = ": everybody's entries tell of one person" if control > 1 else ""
        return (
            f"The second column is zero in that row, and still its mean square is {first:.2g} with the row and "
            f"{second:.2g} without it, {abs(second - first) / done.distribution.diagonal_std:.2g} standard deviations "
            f"of the noise{remark}.",
            f"{'The row is shortened to length 1 and n' if remark else 'N'}obody else is touched: the second column's "
            f"mean square is "
            f"{repaired.first[1, 1]:.2g} or {repaired.second[1, 1]:.2g}, "
            f"{abs(repaired.second - repaired.first)[1, 1] / repaired.distribution.diagonal_std:.2g} standard "
            f"deviations of the noise.",
        )


class SampleMean(GaussianCase):
    """Centring by the sample mean. The control is the distance of all other rows from the origin, 0..1, in row bounds.

    The one row is at the other end of the ball in the first table and beside the others in the second.
    """

    def attacks(self, control: float) -> tuple[Attack, Attack]:
        """Return the attack on the habit and on its repair."""
        second = np.tile(-control * _E1, (ROWS, 1))
        first = second.copy()
        first[-1] = _E1
        # The answer of the habit is S - mean mean'; its noise is that of a mean known to be zero.
        distribution = _noise(_table(first), "none")
        both = (first, second)
        one, two = (clipped_moment(_table(x), n_anchors=0) - np.outer(*[x.mean(axis=0)] * 2) for x in both)
        return Attack(one, two, distribution), _sound(first, second, "joint")

    def findings(self, control: float, done: Attack, repaired: Attack) -> tuple[str, str]:
        """Describe the change of the covariance by the one row."""
        shift, covered, joint = (math.sqrt(2 * rho) for rho in (done.rho, CLAIM.rho, repaired.rho))
        return (
            f"The row moves the covariance by {shift:.3g} standard deviations of its noise, and the claim covers "
            f"{covered:.3g}. These two tables alone need rho = {done.rho:.2g}.",
            f"Mean and second moment are one measurement, which the row moves by {joint:.3g} of the {covered:.3g} that "
            "are covered. The covariance is computed from the noisy mean afterwards, and that is free.",
        )


class Reruns(GaussianCase):
    """Re-running a release. The control is the number of draws that were looked at, a whole number."""

    def attacks(self, control: float) -> tuple[Attack, Attack]:
        """Return the attack on the habit and on its repair."""
        tables = _axes(_E1), _axes(_E2)
        return _sound(*tables, looks=int(control)), _sound(*tables)

    def run(self, control: float, count: int, seed: int) -> tuple[AttackResult, AttackResult]:
        """Carry out both attacks, ``count`` times or fewer where many draws are averaged."""
        return super().run(control, min(count, MAX_DRAWS // int(control)), seed)

    def charged(self, control: float) -> float:
        """Return what is permitted when the ledger is charged for every draw."""
        return accounting.attacker_success(accounting.self_compose(CLAIM, int(control)))

    def findings(self, control: float, done: Attack, repaired: Attack) -> tuple[str, str]:
        """Describe the noise of the mean of all draws."""
        k = int(control)
        again = f"Looked at {k:,} times" if k > 1 else "Looked at again"
        return (
            f"The mean of {k:,} draw{'s' * (k > 1)} has {1 / math.sqrt(k):.2g} times the noise of one: rho is by now "
            f"{done.rho:.3g}, and {CLAIM.rho:g} was claimed.",
            f"{again}, it is the same draw, and looking costs nothing. With a new draw each time the ledger charges "
            f"rho = {k * CLAIM.rho:.3g}: an attacker's chance is then {at_most(self.charged(control))}.",
        )


class Outside(GaussianCase):
    """Rows outside the ball. The control is the length of the one row in public row bounds.

    It lies along one axis in the first table, along the other in the second.
    """

    def attacks(self, control: float) -> tuple[Attack, Attack]:
        """Return the attack on the habit and on its repair."""
        tables = _axes(control * _E1), _axes(control * _E2)
        # A bound that no row exceeds switches clipping off; the answer is brought back to units of the bound 1.
        loose = max(control, 1.0)
        first, second = (loose**2 * clipped_moment(_table(rows, loose), n_anchors=0) for rows in tables)
        return Attack(first, second, _noise(_table(tables[0]), "none")), _sound(*tables)

    def findings(self, control: float, done: Attack, repaired: Attack) -> tuple[str, str]:
        """Describe the rho that the two tables need."""
        return (
            f"A row {control:g} times as long counts {control**2:.4g} times: these two tables need "
            f"rho = {done.rho:.3g}, {control**4:,.5g} times what is claimed, and no rho is enough for rows of any "
            f"length.",
            f"Inside the measurement the row is shortened to the bound, whatever the table: rho stays "
            f"{repaired.rho:.3g}.",
        )


class RawTuning:
    """Tuning on raw rows. The control is the value of the one row in the second column, 0..1; it has length 1.

    In the second table that value is 0. The other rows lie on the axes, so that without this row the two columns never
    occur together. gamma, the constant of the threshold, is chosen by ten-fold cross-validation on the rows and is part
    of the release.
    """

    def tables(self, control: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the two neighbours, n x d each."""
        row = np.array([math.sqrt(1 - control**2), control])
        return _axes(row, TUNED_ROWS), _axes(_E1, TUNED_ROWS)

    def repaired(self, control: float) -> Attack:
        """Return the attack on a choice made from the release."""
        return _sound(*self.tables(control))

    def exact(self, control: float) -> tuple[float, float]:
        """Return the probability (0..1) that the attack names the right table: habit, repair.

        Whatever the folds, gamma is 0 without the row (every fold's moment is diagonal, and the first constant tried
        is kept) and above 0 with it: the fold that holds it disagrees with all others, so cutting costs less.
        """
        return 1.0, self.repaired(control).success

    def limit(self, control: float) -> float:
        """Return the largest probability that the claim permits."""
        return accounting.attacker_success(CLAIM)

    def draw_gammas(self, control: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return gamma (unit-ball units) of ``count`` runs on either table, each with folds of its own."""
        gammas = []
        for side, rows in zip(("first", "second"), self.tables(control), strict=True):
            rng = stream(seed, "RawTuning", side, f"{control:g}")
            gammas.append(np.array([chosen_on_raw_rows(_table(rows), rng) for _ in range(count)]))
        return gammas[0], gammas[1]

    def run(self, control: float, count: int, seed: int) -> tuple[AttackResult, AttackResult]:
        """Carry out both attacks ``count`` times."""
        runs = max(count // 40, 50)
        first, second = self.draw_gammas(control, runs, seed)
        hits = int((first > 0).sum() + (second <= 0).sum())
        most = max(float(first.max()), float(second.max()), 1e-12)
        edges = most * (np.arange(22) - 0.5) / 20
        one, two = (np.histogram(x, edges)[0] / runs for x in (first, second))
        histogram = AnswerHistogram("gamma as released (unit-ball units)", edges, one, two, float(edges[1]))
        repaired = self.repaired(control)
        findings = (
            f"gamma is {np.median(second):.3g} without the row and {np.median(first):.3g} with it, in every run: "
            "a number computed from the rows without noise.",
            "The rule reads the noisy matrix only, so whatever it chooses tells no more than that matrix does: "
            f"{percent(repaired.success)} is the best guess from all of it.",
        )
        done = AttackResult(
            CLAIM,
            self.limit(control),
            hits / (2 * runs),
            False,
            hits,
            2 * runs,
            *interval(hits, 2 * runs),
            findings[0],
            histogram,
        )
        return done, carry_out(
            repaired, CLAIM, findings[1], count, stream(seed, "RawTuning", "repaired", f"{control:g}")
        )


class OneOverN:
    """Delta = 1/n. The control is the number of rows n.

    With probability n delta the mechanism prints one row, picked at random, in the clear; otherwise nothing. That is
    (0, delta)-DP, exactly, and the worst that such a guarantee permits. The attacker picks the person after seeing the
    release, and says which of two equally likely rows that person has.
    """

    columns = 3

    def deltas(self, control: float) -> tuple[float, float]:
        """Return 1/n, and a value far below it: n^-1.5, at most 1e-5."""
        return 1 / control, min(1e-5, control**-1.5)

    def exact(self, control: float) -> tuple[float, float]:
        """Return the probability (0..1) that the attacker names the right row: habit, repair."""
        done, repaired = self.deltas(control)
        return 0.5 + self.printed(control, done) / 2, 0.5 + self.printed(control, repaired) / 2

    def printed(self, n: float, delta: float) -> float:
        """Return the expected number of rows printed in a release."""
        return n * delta

    def limit(self, control: float) -> float:
        """Return what is permitted about one person named before the release: (1 + delta)/2 at delta = 1/n."""
        return accounting.attacker_success(_nothing_but(1 / control))

    def release(self, control: float, delta: float, seed: int) -> tuple[int, np.ndarray] | None:
        """Make one run on simulated rows, uniform on the cube [-1, 1]^3: (number of the row, the row), or None."""
        rng = stream(seed, "OneOverN", "release", f"{control:g}")
        if rng.random() >= self.printed(control, delta):
            return None
        number = int(rng.integers(1, int(control) + 1))
        return number, stream(seed, "OneOverN", "row", number).uniform(-1, 1, self.columns)

    def run(self, control: float, count: int, seed: int) -> tuple[AttackResult, AttackResult]:
        """Carry out both ``count`` times."""
        n, sides = int(control), []
        for side, delta, success in zip(("done", "repaired"), self.deltas(control), self.exact(control), strict=True):
            rng, many = stream(seed, "OneOverN", side, n), self.printed(n, delta)
            out = rng.random(count) < many
            hits = int((out | (rng.random(count) < 0.5)).sum())
            shares = np.array([1 - out.mean(), out.mean()])
            histogram = AnswerHistogram("rows printed in a release", np.array([-0.5, 0.5, 1.5]), shares)
            finding = self._finding(n, delta, self.release(control, delta, seed))
            claim, limit = _nothing_but(delta), min(1.0, 0.5 + many / 2)
            sides.append(
                AttackResult(claim, limit, success, True, hits, count, *interval(hits, count), finding, histogram)
            )
        return sides[0], sides[1]

    def _finding(self, n: int, delta: float, came_out: tuple[int, np.ndarray] | None) -> str:
        many = self.printed(n, delta)
        this = "This one prints nobody."
        if came_out is not None:
            number, row = came_out
            this = f"This one prints row {number:,}: ({', '.join(f'{x:.2f}' for x in row)})."
        if many == 1:
            return (
                f"n times delta = 1 row in every release. {this} A person named beforehand runs a risk of {delta:.3g} "
                "only, as claimed; somebody is out for certain."
            )
        return (
            f"At delta = {delta:.2g} it is {many:.2g} rows in a release, even of this worst mechanism: one in "
            f"{1 / many:,.0f} prints somebody. {this} Noise on a covariance never prints a row."
        )


def _nothing_but(delta: float) -> ApproxDP:
    """Return (0, delta): the smallest epsilon that the type has."""
    return ApproxDP(1e-300, delta)
