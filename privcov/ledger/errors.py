"""The errors of the ledger."""

from __future__ import annotations


class LedgerError(ValueError):
    """Raised where the ledger refuses or cannot be used; the message says why, and what helps."""


class LedgerUnusable(LedgerError):
    """Raised where the files cannot be read or written; a cost may have been entered already, and then counts."""
