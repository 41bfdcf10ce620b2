"""A floating-point sampler of pure-DP noise compared with the exact one, at given parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from privcov import checks
from privcov.audit.broken import floating_wishart
from privcov.audit.lattice import Evenness, Sampler, draw, examine, private_samplers
from privcov.audit.reachable import Attack, tell_apart
from privcov.measurements.integer_gram import UNIT

KEY = "floating-point-sampler"
LABEL = "A floating-point sampler (pure DP)"
COLUMNS, RELEASES = 20, 60
MOST_PER_PERSON = 1_000  # the attack makes as many rows as a person has


@dataclass(frozen=True, eq=False)
class Trial:
    """Results of the lattice test and the attack for both samplers, in RELEASES draws of COLUMNS x COLUMNS each."""

    epsilon: float
    rows_per_person: int
    scale: float
    old: tuple[Evenness, Attack]
    exact: tuple[Evenness, Attack]

    @property
    def caught(self) -> bool:
        """Whether the floating-point sampler is uneven, or its attacker right too often."""
        return bool(self.old[0].faults) or self.old[1].caught

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        even, attack = self.old
        if even.faults:
            return f"Caught: {even.faults[0]}."
        if attack.caught:
            return f"Caught: its attacker is right in {attack.right} of {attack.releases} releases."
        return (
            f"Not caught: with so little noise its lattice is finer than {RELEASES} releases show. Raise the rows per "
            "person, or lower epsilon."
        )

    @property
    def meaning(self) -> str:
        """The consequence for a person in the table."""
        (_, old), (_, exact) = self.old, self.exact
        return (
            f"Counting reachable residues tells two neighbouring tables apart in {old.right} of {old.releases} "
            f"releases of the floating-point sampler and in {exact.right} of the exact one; {self.epsilon:g}-DP allows "
            f"{old.most:.1f} on average, and a coin gets half."
        )


def trial(epsilon: float, rows_per_person: int) -> Trial:
    """Test both samplers at the scale of a pure epsilon release of the second moment of COLUMNS columns, replace-one.

    rows_per_person: up to MOST_PER_PERSON. The noise comes from the operating system: no two trials are alike.
    """
    epsilon = checks.positive("epsilon", epsilon)
    k = checks.whole("rows_per_person", rows_per_person, 1, MOST_PER_PERSON)
    scale = k * 2 * UNIT**2 / epsilon
    results = []
    for sampler in (floating_wishart, private_samplers()["add_wishart_difference"]):
        drawn = draw(sampler, COLUMNS, scale, RELEASES)
        attack = tell_apart(_again(iter(drawn)), d=COLUMNS, epsilon=epsilon, rows_per_person=k, releases=RELEASES)
        results.append((examine(drawn, scale), attack))
    return Trial(epsilon, k, scale, *results)


def _again(drawn: Iterator[np.ndarray]) -> Sampler:
    """Return a sampler that gives the draws that were made already, one after another."""
    return lambda p, scale: next(drawn)
