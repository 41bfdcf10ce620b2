"""Downloads of the papers' sets, through scikit-learn's OpenML fetcher, and only on request.

What is downloaded is checked like a file that is brought, and kept in the data folder as one tidy file.
"""

from __future__ import annotations

import os
import tempfile
from http.client import HTTPException
from pathlib import Path

from privcov.core.paths import data_folder
from privcov.data_sources.base import SOURCES
from replication import sources
from replication.sources.papers import MissingData, PaperData


def fetchable() -> tuple[str, ...]:
    """Return the keys of the sources that `download` can get."""
    return tuple(key for key in sources.__all__ if SOURCES.get(key).cls.openml is not None)


def download(key: str) -> Path:
    """Download a set and keep it in the data folder; a file of that name is replaced."""
    cls = SOURCES.get(key).cls
    if key not in fetchable():
        how = cls.missing() if issubclass(cls, PaperData) else "Its rows need no file."
        raise ValueError(f"{key!r} cannot be downloaded; {', '.join(fetchable())} can. {how}")
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(cls.openml.name, version=cls.openml.version, as_frame=True, cache=False)
        raw = cls.from_openml(bunch.data, bunch.target)
    except (OSError, HTTPException, ValueError, KeyError) as problem:  # a URLError is an OSError
        reason = str(getattr(problem, "reason", problem)).strip().rstrip(".") or type(problem).__name__
        raise MissingData(
            f"The download of the {cls.title} set failed: {reason}. Try again later, or put {cls.names()} into "
            f"{data_folder()} yourself."
        ) from problem
    return _keep(*cls.pack(raw))


def _keep(name: str, content: bytes) -> Path:
    """Write a file and move it into place, so that half a file is never read."""
    path = data_folder() / name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as problem:
        raise MissingData(
            f"{name} was downloaded and cannot be kept in {path.parent}: {problem.strerror or problem}. Set "
            "PRIVCOV_DATA_DIR to a folder that can be written."
        ) from problem
    return path
