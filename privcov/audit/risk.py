"""What a release of a method leaves an attacker, before any table is at hand: for advice and for plans."""

from __future__ import annotations

from functools import lru_cache

from privcov.data_sources.base import SOURCES, make_dataset
from privcov.parameters import build
from privcov.privacy import GaussianDP, Guarantee
from privcov.releasing.run import build_method, run_method

_TINY = {"n": 60, "d": 3}


@lru_cache(maxsize=256)
def trade_off_of_method(method: str, guarantee: Guarantee) -> Guarantee | GaussianDP | None:
    """Return the tightest known claim about a method, from a run on few rows: it spends the same at every n and d."""
    source = build(SOURCES.get("ar1-covariance").cls, "Source 'ar1-covariance'", _TINY)
    return run_method(build_method(method, {}), make_dataset(source, seed=0), guarantee, seed=0).trade_off
