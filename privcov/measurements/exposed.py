"""Answers whose stated guarantee is not established: drawn by a sampler that has since been replaced.

Wishart noise was once drawn in floating point and then rounded. At large scales its entries ended at +-2^61, where the
exact sum can be read from the noisy one; at ordinary scales its diagonal lies on a lattice by which neighbouring
tables can be distinguished. That holds for every number of columns, one included, with and without the mean. Which
answers were drawn so is seen in the field ``law`` of their event, the only field of a stored answer that depends on its
sampler.
"""

from __future__ import annotations

import json

from privcov.privacy import Event

FLOATING = "rounded to whole numbers, floating-point sampler"
WHY = "the noise was drawn by a floating-point sampler, which may disclose exact sums of the rows (see SECURITY.md)"
REMEDY = (
    "Do not hand it on, withdraw it where that is possible, tell the data protection officer, and count the people in "
    "the table as exposed. A new release has to be paid."
)


def exposed(event: Event) -> str:
    """Return why the guarantee that an event states is not established; "" where nothing is known against it."""
    return _judged(event.mechanism, event.law)


def exposed_answer(answer: str | None) -> str:
    """Return what `exposed` gives for an answer as the ledger stores it."""
    try:
        event = json.loads(answer or "")["measurement"]["event"]
        return _judged(event["mechanism"], event["law"])
    except (ValueError, KeyError, TypeError):
        return ""


def _judged(mechanism: str, distribution: str) -> str:
    """Return the reason for a mechanism and the stored field ``law`` of its event."""
    return WHY if (mechanism, distribution) == ("wishart-difference", FLOATING) else ""
