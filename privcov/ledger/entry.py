"""One row of the ledger, as it is read."""

from __future__ import annotations

from dataclasses import dataclass

from privcov.ledger.sums import Cost


@dataclass(frozen=True)
class Entry:
    """One transaction of the ledger.

    Attributes
    ----------
    number : int
        Its number in the ledger.
    token : str
        Its token.
    name : str
        The table.
    state : {"reserved", "committed", "stored", "failed"}
        How far it came.
    cost : Cost
        Exact: epsilon for kind "pure" and rho for "zcdp".
    request : dict
        What was asked for.
    reserved_at : str
        Time in UTC.
    """

    number: int
    token: str
    name: str
    state: str
    cost: Cost
    request: dict
    reserved_at: str

    def to_dict(self) -> dict:
        """Return the entry as JSON can hold it; fractions as text."""
        return {
            "number": self.number,
            "name": self.name,
            "state": self.state,
            "kind": self.cost.kind,
            "amount": str(self.cost.amount),
            "request": self.request,
            "reserved_at": self.reserved_at,
        }
