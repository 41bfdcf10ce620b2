"""The record of what was spent on each private table: exact, and on disk before any noise is drawn."""

from privcov.ledger.access import LedgerError
from privcov.ledger.account import Account, Cost, cost_of
from privcov.ledger.file import default_path
from privcov.ledger.ledger import Entry, Ledger

__all__ = ["Account", "Cost", "Entry", "Ledger", "LedgerError", "cost_of", "default_path"]
