"""Sweeps on a cluster of dask: workers on other machines compute the tasks of a plan, which hold no private rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from privcov.core import extras


class ClusterError(RuntimeError):
    """The cluster cannot be used; the message says why and what to do."""


@contextlib.contextmanager
def dask_scheduler(address: str) -> Iterator[None]:
    """Compute the sweeps inside on the cluster whose scheduler has this address, such as "tcp://10.0.0.1:8786".

    Raises
    ------
    ClusterError
        Where no scheduler answers, or where it has no worker that can import this package.
    """
    extras.require("distributed", "Sweeps on a cluster")
    import joblib
    from distributed import Client, KilledWorker

    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as problem:
        raise ClusterError(f"No scheduler answers at {address} ({problem}). Start one: dask scheduler.") from None
    with client, joblib.parallel_config(backend="dask"):
        try:
            ready = client.run(_ready)
        except Exception as problem:  # that of a worker, of any kind
            raise ClusterError(
                f"A worker of {address} cannot import privcov ({problem}). Install the same version on every worker."
            ) from problem
        if not ready:
            raise ClusterError(f"The scheduler at {address} has no workers. Start some: dask worker {address}.")
        try:
            yield
        except KilledWorker as problem:
            raise ClusterError(f"Workers of {address} ended again and again. Give them more memory.") from problem


def _ready() -> bool:
    """Return True in a worker that has this module."""
    return True
