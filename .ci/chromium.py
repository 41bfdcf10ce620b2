"""Print the path of a Chromium or Chrome that starts, or say on stderr why there is none and exit with 1.

With --install, root on a machine with apt-get gets the distribution's own package. Playwright's downloader is
not used: it fetches from outside the package registries.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_APPS = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
NONE = "no Chromium or Chrome found; install one (Debian: apt-get install chromium) or set CHROMIUM"


def starts(path: str) -> bool:
    """Whether `path` is a browser that runs; Ubuntu's `chromium-browser` may only be a pointer to a snap."""
    try:
        answer = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0


def find() -> str | None:
    """Return the first browser that starts. $CHROMIUM, when set, is the only one considered."""
    chosen = os.environ.get("CHROMIUM")
    places = [shutil.which(chosen)] if chosen else [*map(shutil.which, NAMES), *MAC_APPS]
    return next((place for place in places if place and starts(place)), None)


def install(*packages: str) -> None:
    """Install Debian's packages where that is possible, and start no service; what goes wrong is shown."""
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    print(f"PrivCov: apt-get installs {' and '.join(packages)} for the tests.", file=sys.stderr)
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            ["apt-get", "-qq", *command],
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"},
        )
        if done.returncode:
            return


def main() -> None:
    chosen = os.environ.get("CHROMIUM")
    path = find()
    if not (path or chosen) and "--install" in sys.argv:
        install("chromium")
        path = find()
    if not path:
        sys.exit(f"CHROMIUM={chosen} is not a browser that starts" if chosen else NONE)
    print(path)


if __name__ == "__main__":
    main()
