"""Covariance and precision matrices under differential privacy.

A tour of the rooms, in the order in which data move:

    table_files    files to blocks of cells                engine        many cores, or a cluster
    data_sources   rows, synthetic or declared public      measurements  the only room that sees rows
    postprocess    matrix to matrix, free                  estimators    one file per method
    ledger         what was spent on private tables        releasing     a method runs; the private way to a release
    metrics        release + reference -> number           sweeps        Plan -> tidy table, searches
    papers         published results, computed again       advice        which method, from measured evidence
    owner          previews and checks for the owner       audit         claims, live audits, disclosure
    figures        table -> plotly figure                  cli           the shell
    bundle         a private release to take home, with the script that verifies it

``privacy`` and ``accounting`` hold guarantees and their arithmetic; ``dataset``, ``private_dataset``, ``parameters``,
``registry``, ``places``, ``checks`` and ``randomness`` are small shared files. Start with::

    ds = privcov.source("ar1-covariance", n=50_000, d=20, seed=0)
    rel = privcov.release("auto-cov", ds, privcov.ZCDP(rho=0.1), seed=1)
    print(rel.statement)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privcov.dataset import Dataset, Truth
    from privcov.metrics.errors import error
    from privcov.metrics.graphs import graph_recovery
    from privcov.owner.check import check
    from privcov.privacy import ApproxDP, NoPrivacy, PureDP, ZCDP
    from privcov.releasing.release import Release
    from privcov.releasing.run import release
    from privcov.sklearn_api import PrivateCovariance
    from privcov.sweeps.plan import Plan, run

# Loaded on first use: a page that shows a menu should not wait for scikit-learn and pandas, nor a shell for numpy.
_HOMES = {
    "ApproxDP": "privcov.privacy",
    "NoPrivacy": "privcov.privacy",
    "PureDP": "privcov.privacy",
    "ZCDP": "privcov.privacy",
    "Dataset": "privcov.dataset",
    "Truth": "privcov.dataset",
    "Release": "privcov.releasing.release",
    "release": "privcov.releasing.run",
    "PrivateDataset": "privcov.private_dataset",
    "Ledger": "privcov.ledger",
    "release_private": "privcov.releasing.private",
    "Plan": "privcov.sweeps.plan",
    "run": "privcov.sweeps.plan",
    "check": "privcov.owner.check",
    "error": "privcov.metrics.errors",
    "graph_recovery": "privcov.metrics.graphs",
    "PrivateCovariance": "privcov.sklearn_api",
}

__version__ = "1.0.0"

__all__ = ["methods", "source", "sources", *_HOMES]


def sources() -> list:
    """Cards of every source: key, label, group, parameters, reference."""
    from privcov.data_sources.base import SOURCES

    return SOURCES.all()


def source(key: str, *, seed: int = 0, row_bound: float | None = None, **parameters: Any) -> Dataset:
    """Rows of a registered source. seed: whole number >= 0; row_bound: R > 0, default from public parameters."""
    from privcov.data_sources.base import SOURCES, make_dataset
    from privcov.parameters import build

    made = build(SOURCES.get(key).cls, f"Source {key!r}", parameters)
    return make_dataset(made, seed=seed, row_bound=row_bound)


def methods() -> list:
    """Cards of every method: key, label, target, guarantees, trust, standing, calibrations, parameters, reference."""
    from privcov.estimators.base import METHODS

    return METHODS.all()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'privcov' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
