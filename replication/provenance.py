"""What a computed number was made with: the package, its commit, the libraries, the data files that were brought."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

import privcov

LIBRARIES = ("numpy", "scipy", "scikit-learn")


def made_with(needs: str = "") -> str:
    """Return versions, commit and data hashes in one line."""
    parts = [f"privcov {privcov.__version__}", *_commit(), *(f"{name} {version(name)}" for name in LIBRARIES)]
    return ", ".join([*parts, *_data(needs)])


@cache
def _commit() -> tuple[str, ...]:
    """Return the commit of a checkout, marked where files of the package differ from it; nothing elsewhere."""
    package = Path(privcov.__file__).parent

    def git(*words: str) -> str:
        command = ["git", "-C", str(package), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()

    try:
        if not git("ls-files", "--error-unmatch", "__init__.py"):
            return ()
        changed = git("status", "--porcelain", "--", ".")
        return (f"commit {git('rev-parse', '--short=12', 'HEAD')}{' with changes' if changed else ''}",)
    except (OSError, subprocess.SubprocessError):  # no git, or an installed package
        return ()


def _data(needs: str) -> list[str]:
    from privcov.data_sources.base import SOURCES
    from replication.sources.papers import PaperData

    found = []
    for key in needs.split(" and ") if needs else ():
        source = SOURCES.get(key).cls
        if issubclass(source, PaperData) and source.found():
            found.append(f"{key} {_digest(source.found(), source.state())}")
    return found


@lru_cache(maxsize=8)
def _digest(paths: tuple[Path, ...], state: str) -> str:
    """Return the first twelve digits of the SHA-256 of the files; another ``state`` is another key of the cache."""
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:12]
