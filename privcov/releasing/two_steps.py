"""What is measured of private rows: the matrix alone, or the numbers of rows by length before it.

The second step is calibrated for the row bound that follows from the first, with what the first left of the guarantee.
Its sensitivity is in steps of R^2, so its noise is planned before R is known.
"""

from __future__ import annotations

import dataclasses

from privcov.estimators.base import Request
from privcov.measurements.exact_moment import NoisySum, measure_exactly, planned_event
from privcov.measurements.lengths.exact_norms import measure_norms_exactly, planned_norms, split
from privcov.privacy import Event, Guarantee
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import PublicFacts


def planned(facts: PublicFacts, guarantee: Guarantee, request: Request, budget: float | None) -> tuple[Event, ...]:
    """Return the events of `measure`, in order, from public facts alone; that of the matrix under the declared R."""
    first: tuple[Event, ...] = ()
    if budget is not None:
        of_norms, request = _shared(guarantee, request, budget)
        first = (planned_norms(facts, of_norms),)
    return (*first, planned_event(facts, **vars(request)))


def measure(private: PrivateDataset, guarantee: Guarantee, request: Request, budget: float | None) -> NoisySum:
    """Measure the matrix; with a budget, under the row bound that follows from noisy numbers of rows by length.

    Reference
    ---------
    The proofs in measurements/lengths/exact_norms.py and measurements/exact_moment.py.
    """
    norms = None
    if budget is not None:
        of_norms, request = _shared(guarantee, request, budget)
        norms = measure_norms_exactly(private, of_norms, budget)
        private = dataclasses.replace(private, facts=norms.chosen)
    return dataclasses.replace(measure_exactly(private, **vars(request)), norms=norms)


def _shared(guarantee: Guarantee, request: Request, budget: float) -> tuple:
    """Return the share of the norms, and the request of the matrix for the rest."""
    if request.share != guarantee:
        raise ValueError(f"The method asks for {request.share} of {guarantee}. Leave norm_budget out.")
    of_norms, of_matrix = split(guarantee, budget)
    return of_norms, dataclasses.replace(request, share=of_matrix)
