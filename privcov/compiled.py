"""Machine code from Python functions, by numba; on disk where it can be kept there."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit


def compiled(function: Callable) -> Callable:
    """``function`` compiled at its first call, and without Python's lock while it runs.

    Kept in numba's cache for the next process. Where there is no folder that numba may write to, as in an installation
    that is read only, every process compiles for itself: seconds more at the first call, the same numbers.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba looks for the folder when it decorates, and found none
        return njit(nogil=True)(function)
