"""The wheel, built from this checkout and installed into a folder of its own: what somebody who installs it has."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Installed:
    """An installation. wheel, sdist: the files it came from. site: where packages are. elsewhere: a working folder."""

    wheel: Path
    sdist: Path
    site: Path
    elsewhere: Path

    def environment(self, **settings: str) -> dict[str, str]:
        """The environment in which this installation, and not the checkout, is found."""
        own = {"PRIVCOV_CACHE_DIR": str(self.elsewhere / "cache"), "PRIVCOV_LEDGER": str(self.elsewhere / "ledger")}
        return os.environ | {"PYTHONPATH": str(self.site)} | own | settings

    def run(self, *command: str, **settings: str) -> subprocess.CompletedProcess:
        """Run ``python command...`` in the working folder."""
        return subprocess.run(
            [sys.executable, *command],
            cwd=self.elsewhere,
            env=self.environment(**settings),
            capture_output=True,
            text=True,
            timeout=patient(120),
        )


def build(folder: Path, target: str, source: Path = ROOT) -> Path:
    """Build a "wheel" or an "sdist" of a source tree into a folder, without the network."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=patient(120))
    assert done.returncode == 0, done.stdout + done.stderr
    [path] = folder.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return path


def install(folder: Path) -> Installed:
    """Build both files and install the wheel without its dependencies, which this Python has."""
    wheel, sdist = build(folder / "wheel", "wheel"), build(folder / "sdist", "sdist")
    site, elsewhere = folder / "site", folder / "my folder"
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--target",
        str(site),
        str(wheel),
    ]
    subprocess.run(command, check=True, timeout=patient(120))
    (elsewhere / "cache").mkdir(parents=True)
    # Another package of this name must not be taken for our pages.
    shutil.copytree(site / "privcov" / "cli", site / "pages")
    return Installed(wheel, sdist, site, elsewhere)
