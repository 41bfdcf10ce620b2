"""The papers judged: every claim with its verdict, and how often intervals contain the truth.

This folder computes what the pages and the package only read, in data/replication and data/coverage. It is no part of
the package: see its README.
"""

from replication import sources

__all__ = ["sources"]
