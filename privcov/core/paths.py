"""Where files are: those that come with the project, and those of the user.

In a checkout `data/`, `app.py` and `pages/` lie beside the package; a wheel has them inside, as `_data/` and `_app/`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_DATA, _APP = _PACKAGE / "_data", _PACKAGE / "_app" / "app.py"


def shipped() -> Path:
    """Return the folder of the data files that come with the project. Nothing is written there when it is installed."""
    return _DATA if _DATA.is_dir() else _PACKAGE.parent / "data"


def app_file() -> Path:
    """Return the script that `streamlit run` starts; its pages and its configuration lie beside it."""
    return _APP if _APP.is_file() else _PACKAGE.parent / "app.py"


def command() -> str:
    """Return what starts the shell here: the script of an installation, or the module in a checkout."""
    return "privcov" if _DATA.is_dir() else "python -m privcov"


def results(name: str) -> Path:
    """Return the folder of stored results, such as "replication" (the papers' verdicts).

    An installed package has a copy, which `own_results` carries over to the user's data folder before adding to it.
    """
    own = data_folder() / name
    return own if _DATA.is_dir() and own.is_dir() else shipped() / name


def own_results(name: str) -> Path:
    """Return the folder of stored results to write to; it begins with those that were shipped."""
    own = data_folder() / name
    if not _DATA.is_dir() or own.is_dir():
        return results(name)
    own.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{name}-", dir=own.parent) as folder:
        draft = shutil.copytree(shipped() / name, Path(folder) / name)
        with contextlib.suppress(OSError):  # another process was first
            draft.rename(own)
    return own


LESSONS = "PRIVCOV_LESSONS"  # address of the lessons as files, which `privcov app --class` sets


def cache_folder() -> Path:
    """PRIVCOV_CACHE_DIR, else the user's own cache folder. It need not exist."""
    value = os.environ.get("PRIVCOV_CACHE_DIR")
    if value:
        return Path(value)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "privcov"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privcov"


def data_folder() -> Path:
    """PRIVCOV_DATA_DIR, else the folder "data" of the cache folder. It need not exist."""
    value = os.environ.get("PRIVCOV_DATA_DIR")
    return Path(value).expanduser() if value else cache_folder() / "data"
