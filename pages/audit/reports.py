"""What a finished audit takes home: the first side of its report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from pages.shell import take_home
from privcov.audit.live import Audit
from privcov.figures.look import Picture
from privcov.figures.palette import LIGHT, Palette
from privcov.figures.words import raised
from privcov.privacy import ZCDP

if TYPE_CHECKING:
    from privcov.bundle.front import Front


def of_audit(audit: Audit, picture: Callable[[Audit, Palette], Picture], script: str) -> None:
    """Show what a finished audit takes home."""
    asked, name = audit.asked, "rho" if isinstance(audit.claim, ZCDP) else "epsilon"

    def front() -> Front:
        from privcov.bundle import front as fronts

        advised = (
            "Do not rely on this claim: it is refuted."
            if audit.caught
            else "Rely on the proof and not on this audit: it found nothing, which proves nothing."
        )
        start = "The claim is refuted, so this does not hold: " if audit.caught else ""
        return fronts.Front(
            audit.sentence,
            advised,
            f"{start}{fronts.odds([audit.claim])}",
            [
                ("Mechanism", asked.made.label),
                ("Rows and columns", f"n = {asked.made.rows}, d = {asked.d}; two tables that differ in one person"),
                ("Bounds", "rows of length at most 1"),
                ("Guarantee", f"{raised(str(audit.claim))}, as claimed"),
                ("Rows", f"simulated: {audit.pair.label}"),
                ("Seed", "none, the noise is that of a private release" if asked.made.exact else str(asked.seed)),
            ],
            picture(audit, LIGHT),
            f"{audit.histogram.label.capitalize()}, over {audit.draws:,} test draws of either table. Tested set: "
            f"{audit.for_level.words}.",
        )

    def behind() -> pd.DataFrame:
        test = audit.for_level
        return pd.DataFrame(
            [
                (f"Proved: {name} at least", audit.proved),
                ("Proved: apart by at least", audit.difference),
                ("Claimed: apart by at most", audit.permitted),
                ("Draws of the first table in the set", test.hits[0]),
                ("Draws of the second table in the set", test.hits[1]),
            ],
            columns=["number", "value"],
        )

    take_home.result(
        "audit",
        f"Audit: {asked.made.label}",
        front,
        provenance="Simulated",
        subject=f"{asked.made.label}, d = {asked.d}, {audit.draws:,} test draws of either table",
        behind=behind,
        script=script,
        notes=["An audit can refute a claim and never proves one."],
    )
