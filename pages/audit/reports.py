"""What the tabs of Privacy audit take home: the first side of each report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from pages.shell import take_home
from privcov import accounting
from privcov.audit import catalogue, disclosure
from privcov.audit.live import Audit
from privcov.figures.look import Picture
from privcov.figures.palette import LIGHT, Palette
from privcov.figures.words import percent, raised
from privcov.privacy import ApproxDP, ZCDP

if TYPE_CHECKING:
    from privcov.bundle.front import Front

_NO_DATA = ("Rows", "none: computed from the claim")
_HARDLY = 0.9  # an attacker's chance above which the recommendation is another guarantee


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


def of_claims(whole: pd.DataFrame, rows: pd.DataFrame, asked: ApproxDP, n: int, d: int, script: str) -> None:
    """Show what the claims take home: ``whole`` is the table, and ``rows`` its lines on the page."""
    bad = [catalogue.FALSE, catalogue.NONE]
    false = int(whole["Verdict"].isin(bad).sum())

    def front() -> Front:
        from privcov.bundle import front as fronts

        return fronts.Front(
            f"{false} of {len(whole)} published claims do not hold at these parameters.",
            "Use sound calibrations only; an as-published one is for comparison with its paper.",
            f"Where a claim holds. {fronts.odds([asked])}",
            [
                ("Rows and columns", f"n = {n:,}, d = {d}"),
                ("Bounds", "those of each paper"),
                ("Guarantee", raised(str(asked))),
                _NO_DATA,
                ("Seed", "none, nothing is drawn"),
            ],
        )

    columns = ["Paper", "Where", "Mechanism", "Verdict", "True epsilon at delta", "Noise / needed"]
    take_home.result(
        "claims",
        "Published claims",
        front,
        provenance="Simulated",
        subject=f"{raised(str(asked))}, n = {n:,}, d = {d}; no data are used",
        behind=lambda: rows[columns],
        script=script,
        notes=[],
    )


def of_belief(
    claim: disclosure.Claim, prior: float, chance: float, picture: Callable[[Palette], Picture], caption: str
) -> None:
    """Show what the tab What an attacker learns takes home."""
    success = float(accounting.attacker_success(claim))

    def front() -> Front:
        from privcov.bundle.front import Front

        advised = (
            "Choose a stronger guarantee: this one protects hardly anybody."
            if success > _HARDLY
            else f"Accept it where a right guess in {percent(success, 'at most')} of cases does no harm; a coin toss "
            "has 50 %."
        )
        return Front(
            disclosure.sentences(claim, prior, chance)[0],
            advised,
            disclosure.suspicion(claim, prior),
            [
                ("Rows and columns", "any; the attacker knows all rows but one"),
                ("Bounds", "any"),
                ("Guarantee", raised(str(claim))),
                _NO_DATA,
                ("Seed", "none, nothing is drawn"),
            ],
            picture(LIGHT),
            caption,
        )

    script = "\n".join(
        [
            "from privcov import accounting",
            "from privcov.audit import disclosure",
            f"from privcov.privacy import {type(claim).__name__}",
            "",
            f"claim = {claim!r}",
            f"for line in disclosure.sentences(claim, {prior!r}, {chance!r}):",
            "    print(line)",
        ]
    )
    take_home.result(
        "learn",
        "What an attacker learns",
        front,
        provenance="Simulated",
        subject=f"{raised(str(claim))}; no data are used",
        behind=lambda: pd.DataFrame({"what the guarantee means": disclosure.sentences(claim, prior, chance)}),
        script=script,
        notes=[],
    )
