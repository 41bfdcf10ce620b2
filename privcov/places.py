"""Where files live that are not part of the project: finished cells, and data sets that are brought or downloaded."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """PRIVCOV_CACHE_DIR, else the user's own cache folder. It need not exist."""
    given = os.environ.get("PRIVCOV_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "privcov"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "privcov"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privcov"


def data_folder() -> Path:
    """PRIVCOV_DATA_DIR, else the folder "data" of the cache folder. It need not exist."""
    given = os.environ.get("PRIVCOV_DATA_DIR")
    return Path(given).expanduser() if given else cache_folder() / "data"
