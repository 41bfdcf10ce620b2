"""Covariance and precision matrices under differential privacy.

The packages, in the order in which data move:

    core           guarantees, checks, many cores         tables        rows, and what is publicly declared of them
    data_sources   rows: simulated, public                 measurements  the only package that spends a guarantee
    postprocess    matrix to matrix, spends nothing        estimators    one file per method
    ledger         what was spent on private tables        releases      from a method to a release
    inference      estimates with total intervals          metrics       release and reference to a number
    studies        plans, stored cells, searches           steward       what to expect; checks for the data owner
    attacks        claims, live audits, disclosure         plots         table or matrix to figure
    bundle         a private release in one zip            cli           the command line

Start with::

    ds = privcov.source("ar1-covariance", n=50_000, d=20, random_state=0)
    rel = privcov.release(ds, privcov.ZCDP(rho=0.1), "auto-cov", random_state=1)
    print(rel.statement)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privcov.bundle.read import open_bundle
    from privcov.core.guarantees import ApproxDP, NoPrivacy, PureDP, ZCDP
    from privcov.core.randomness import RandomState
    from privcov.data_sources.base import SourceCard
    from privcov.estimators.base import MethodCard
    from privcov.inference.answers import answers
    from privcov.ledger import Ledger
    from privcov.metrics.errors import error
    from privcov.metrics.graphs import graph_recovery
    from privcov.releases.private import release_private
    from privcov.releases.public import release
    from privcov.releases.release import Release
    from privcov.releases.scikit_learn import PrivateCovariance
    from privcov.steward.check import check
    from privcov.steward.expect import expect
    from privcov.studies.plan import Plan, run
    from privcov.tables.dataset import Dataset, RowsClippedWarning, Truth
    from privcov.tables.declaration.declaration import Declaration
    from privcov.tables.private_dataset import PrivateDataset
    from privcov.tables.readers.dialect import Dialect
    from privcov.tables.readers.kinds import Kind

# Public name -> its module, imported at first use, so that a menu does not wait for scikit-learn and pandas, nor the
# command line for numpy.
_MODULES = {
    "ApproxDP": "privcov.core.guarantees",
    "NoPrivacy": "privcov.core.guarantees",
    "PureDP": "privcov.core.guarantees",
    "ZCDP": "privcov.core.guarantees",
    "Dataset": "privcov.tables.dataset",
    "Dialect": "privcov.tables.readers.dialect",
    "Declaration": "privcov.tables.declaration.declaration",
    "RowsClippedWarning": "privcov.tables.dataset",
    "Truth": "privcov.tables.dataset",
    "Release": "privcov.releases.release",
    "release": "privcov.releases.public",
    "PrivateDataset": "privcov.tables.private_dataset",
    "Kind": "privcov.tables.readers.kinds",
    "Ledger": "privcov.ledger",
    "release_private": "privcov.releases.private",
    "Plan": "privcov.studies.plan",
    "run": "privcov.studies.plan",
    "check": "privcov.steward.check",
    "expect": "privcov.steward.expect",
    "error": "privcov.metrics.errors",
    "graph_recovery": "privcov.metrics.graphs",
    "PrivateCovariance": "privcov.releases.scikit_learn",
    "answers": "privcov.inference.answers",
    "open_bundle": "privcov.bundle.read",
}

__version__ = "1.0.0"

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Dataset",
    "Declaration",
    "Dialect",
    "Kind",
    "Ledger",
    "NoPrivacy",
    "Plan",
    "PrivateCovariance",
    "PrivateDataset",
    "PureDP",
    "Release",
    "RowsClippedWarning",
    "Truth",
    "answers",
    "check",
    "error",
    "expect",
    "graph_recovery",
    "methods",
    "open_bundle",
    "release",
    "release_private",
    "run",
    "source",
    "sources",
]


def sources() -> list[SourceCard]:
    """Return the card of every data source, with its key, label, group, parameters and reference.

    Returns
    -------
    list of SourceCard
        In the order of the menus.

    Examples
    --------
    >>> import privcov
    >>> "ar1-covariance" in [card.key for card in privcov.sources()]
    True
    """
    from privcov.data_sources.base import SOURCES

    return SOURCES.all()


def source(key: str, *, random_state: RandomState = None, row_bound: float | None = None, **parameters: Any) -> Dataset:
    """Return the rows of a registered source.

    Parameters
    ----------
    key : str
        A key from `privcov.sources()`.
    random_state : int, RandomState, Generator or None
        None draws fresh rows; an int, at least 0, the same rows at every call.
    row_bound : float or None
        R > 0, the norm beyond which a row is scaled down; the default follows from public parameters.
    **parameters : object
        The source's own parameters.

    Returns
    -------
    Dataset
        Simulated or public rows.

    Raises
    ------
    ValueError
        For an unknown key, an unknown parameter or a value that is not allowed.

    Examples
    --------
    >>> import privcov
    >>> ds = privcov.source("ar1-covariance", n=5000, d=3, random_state=0)
    >>> ds.n, ds.d, ds.provenance
    (5000, 3, 'simulated')
    """
    from privcov.core.parameters import build
    from privcov.core.randomness import seed_of
    from privcov.data_sources.base import SOURCES, make_dataset

    generator = build(SOURCES.get(key).cls, f"Source {key!r}", parameters)
    return make_dataset(generator, seed=seed_of(random_state), row_bound=row_bound)


def methods() -> list[MethodCard]:
    """Return the card of every method, with its target, guarantees, parameters and reference.

    A card also says whom the people trust (``trust``), whether the guarantee is proved (``standing``), and which
    calibrations the method has.

    Returns
    -------
    list of MethodCard
        In the order of the menus.

    Examples
    --------
    >>> import privcov
    >>> "auto-cov" in [card.key for card in privcov.methods()]
    True
    """
    from privcov.estimators.base import METHODS

    return METHODS.all()


def __dir__() -> list[str]:
    """Return the public names, loaded or not, for completion and ``help``."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


if not TYPE_CHECKING:  # a type checker would take any name, also a misspelt one, for one that this function knows

    def __getattr__(name: str) -> Any:
        """Import a public name at its first use."""
        import importlib
        import importlib.util

        if name not in _MODULES:
            if importlib.util.find_spec(f"{__name__}.{name}"):  # it is imported next, and needs no advice
                raise AttributeError(name)
            from privcov.core.checks import suggest

            raise AttributeError(f"module 'privcov' has no attribute {name!r}.{suggest(name, __all__)}")
        value = getattr(importlib.import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
