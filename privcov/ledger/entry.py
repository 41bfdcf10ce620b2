"""One transaction of the ledger, as read from it."""

from __future__ import annotations

from dataclasses import dataclass

from privcov.ledger.account import Cost


@dataclass(frozen=True)
class Entry:
    """One transaction of the ledger.

    number: of the releases of the table, from 1. name: the table. state: "reserved", "committed", "stored" or "failed",
    see `privcov.ledger.ledger`. cost: exact. request: the release that was asked for, as JSON values. reserved_at: in
    UTC. raised: every limit set until then that allowed more than the one before, with its day and reason.
    """

    number: int
    token: str
    name: str
    state: str
    cost: Cost
    request: dict
    reserved_at: str
    raised: tuple[str, ...] = ()

    def to_dict(self) -> dict:
        """Return the entry as JSON values, without its token; the amount is a fraction as text."""
        return {
            "number": self.number,
            "name": self.name,
            "state": self.state,
            "kind": self.cost.kind,
            "amount": str(self.cost.amount),
            "request": self.request,
            "reserved_at": self.reserved_at,
            "raised": list(self.raised),
        }
