"""One row of the ledger, as it is read."""

from __future__ import annotations

from dataclasses import dataclass

from privcov.ledger.sums import Cost


@dataclass(frozen=True)
class Entry:
    """One transaction. amount: exact cost, epsilon for kind "pure" and rho for "zcdp". request: what was asked for."""

    number: int
    token: str
    name: str
    state: str
    cost: Cost
    request: dict
    reserved_at: str

    def to_dict(self) -> dict:
        """As JSON can hold it; fractions as text."""
        return {
            "number": self.number,
            "name": self.name,
            "state": self.state,
            "kind": self.cost.kind,
            "amount": str(self.cost.amount),
            "request": self.request,
            "reserved_at": self.reserved_at,
        }
