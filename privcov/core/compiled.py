"""Compile Python functions to machine code with numba, cached on disk where that is possible."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable

from numba import njit
from numba.core import event


class _Announced(event.Listener):
    """Says to a person who waits at a prompt or a terminal that the next seconds go into compiling."""

    def on_start(self, event: event.Event) -> None:
        # Anybody's code is announced here, also loops that numba lifts, which have no function of their own.
        function = getattr(event.data["dispatcher"], "py_func", None)
        ours = str(getattr(function, "__module__", "")).startswith("privcov.")
        if ours and (hasattr(sys, "ps1") or sys.stderr.isatty()):
            _say()

    def on_end(self, event: event.Event) -> None:
        pass


@functools.cache
def _say() -> None:
    """Print it, once in a process."""
    print("privcov compiles a loop, once for this computer: some ten seconds.", file=sys.stderr)


event.register("numba:compile", _Announced())


def compiled(function: Callable) -> Callable:
    """Return ``function`` compiled at its first call, running without Python's global lock.

    Numba keeps the code for the next process; where it may write to no folder, every process takes seconds to compile.
    """
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba looks for a folder when it decorates, and there is none
        return njit(nogil=True)(function)
