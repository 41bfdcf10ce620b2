"""Compile Python functions to machine code with numba, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit


def compiled(function: Callable) -> Callable:
    """Return ``function`` compiled at its first call, running without Python's global lock.

    The code is kept in numba's cache for the next process. Where numba may not write to any folder, as in a read-only
    installation, every process compiles for itself: seconds more at the first call, the same numbers.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba looks for a folder when it decorates, and there is none
        return njit(nogil=True)(function)
