"""The record of what has been spent on which private table: durable, exact, and written before anything is drawn."""

from privcov.ledger.book import Entry, Ledger
from privcov.ledger.errors import LedgerError
from privcov.ledger.file import default_path
from privcov.ledger.repeats import VersionChanged
from privcov.ledger.sums import Account, Cost, cost_of

__all__ = ["Account", "Cost", "Entry", "Ledger", "LedgerError", "VersionChanged", "cost_of", "default_path"]
