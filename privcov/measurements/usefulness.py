"""Whether a private release would be more than noise, judged from public facts alone before anything is spent."""

from __future__ import annotations

from privcov.core.guarantees import Event
from privcov.measurements.exact.moment import PURE, norm_of
from privcov.measurements.exact.reading import noise_of
from privcov.measurements.noise import FREE_GROUPS
from privcov.tables.public_facts import PublicFacts


def reason_useless(facts: PublicFacts, event: Event, rows: float, source: str) -> str:
    """Return in one sentence why the release of this event would say nothing; "" when it may say something.

    It says nothing where the noise on an entry is larger than the number of rows, its bound in units of R^2.
    """
    gaussian = FREE_GROUPS if event.norm == norm_of(FREE_GROUPS) else "isotropic"
    shape = event.mechanism if event.mechanism in PURE else gaussian
    distribution = noise_of(facts, shape, event.scale, facts.n_anchors, facts.n_anchors, 1)
    std = distribution.diagonal_std if facts.width == 1 else distribution.off_diagonal_std
    if std <= rows:
        return ""
    return (
        f"This release would say nothing: the noise on an entry has a standard deviation of {std:.3g} R^2, and "
        f"{rows:,.0f} rows ({source}) add up to {rows:,.0f} R^2 at most. Nothing was spent. Ask for a weaker guarantee"
        + (", or declare fewer rows per person." if facts.rows_per_person > 1 else ".")
    )
