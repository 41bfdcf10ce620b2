"""Compile Python functions to machine code with numba, cached on disk where that is possible."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit


def compiled(function: Callable) -> Callable:
    """Return ``function`` compiled at its first call, running without Python's global lock.

    Numba keeps the code for the next process; where it may write to no folder, every process takes seconds to compile.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba looks for a folder when it decorates, and there is none
        return njit(nogil=True)(function)
