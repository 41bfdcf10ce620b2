"""Packages that only some uses need, and the sentence that names the missing one."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable

# Package: the extra of pyproject.toml that brings it.
EXTRAS = {"opendp": "private", "pyarrow": "files", "openpyxl": "files", "streamlit": "app", "distributed": "cluster"}


class MissingExtra(ImportError):
    """A package that is not installed; the text is one sentence with the command that installs it."""


def require(package: str, feature: str) -> None:
    """Raise `MissingExtra` where an optional package is not installed."""
    if importlib.util.find_spec(package) is None:
        # The name alone would fetch a package of somebody else: this one is installed from its folder.
        name = f'".[{EXTRAS[package]}]" (in the project folder)' if package in EXTRAS else package.replace("_", "-")
        raise MissingExtra(f"{feature} need the package {package}. Install it with: pip install {name}", name=package)


def compiled(function: Callable) -> Callable:
    """Return ``function`` compiled at its first call, running without Python's global lock.

    Numba keeps the code for the next process; where it may write to no folder, every process takes seconds to compile.
    """
    from numba import njit

    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba looks for a folder when it decorates, and there is none
        return njit(nogil=True)(function)
