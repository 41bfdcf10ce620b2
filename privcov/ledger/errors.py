"""The errors of the ledger."""

from __future__ import annotations


class LedgerError(ValueError):
    """Why nothing was released; one sentence with what helps."""


class LedgerUnusable(LedgerError):
    """The files could not be read or written: a step may be half done, and what it entered counts."""
