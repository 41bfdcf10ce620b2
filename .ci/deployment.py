"""Does what the Containerfile says, without a container engine, and looks whether the workbench runs.

    .venv/bin/python .ci/deployment.py [PAGE ...]

A clean virtual environment from requirements.lock alone, the files that are copied and the settings that are set, in a
folder that cannot be written, as another user when root runs this. It starts the server on a free loopback port, opens
pages as a visitor without a browser, and prints what it measured. Exit 1 and a sentence for the first thing that is
wrong. It needs the test tools, and takes a minute or two.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOME = "/srv/privcov"
PACKAGES = "/opt/packages"
CACHE = "/var/cache/privcov"
NOBODY = 65534
START_SECONDS = 120
PAGES = ("", "Estimate", "Trade_offs", "Graph_recovery", "Your_data", "Methods")
TOOLS = ("pytest", "hypothesis", "playwright", "ruff", "mypy", "axe_playwright_python", "tests")


@dataclass(frozen=True)
class Recipe:
    """The last stage of a Containerfile. copies: (sources, target) from the project's folder."""

    settings: dict[str, str]
    copies: tuple[tuple[tuple[str, ...], str], ...]
    user: str
    command: tuple[str, ...]
    health: tuple[str, ...]


def recipe(text: str) -> Recipe:
    """Read the instructions of a Containerfile that `start` needs. ValueError for a form it does not know."""
    joined = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE))
    stage = re.split(r"^FROM .*$", joined, flags=re.MULTILINE)[-1]
    settings, copies, found = {}, [], {}
    for line in filter(None, map(str.strip, stage.splitlines())):
        word, rest = line.split(maxsplit=1)
        if word == "ENV":
            settings |= dict(pair.split("=", 1) for pair in shlex.split(rest))
        elif word == "COPY" and not rest.startswith("--from"):
            *sources, target = rest.split()
            copies.append((tuple(sources), target))
        elif word in ("CMD", "HEALTHCHECK"):
            found[word] = tuple(re.findall(r'"([^"]*)"', rest))
        else:
            found[word] = rest
    if found.get("WORKDIR") != HOME:
        raise ValueError(f"The Containerfile works in {found.get('WORKDIR')}, and here {HOME} is expected.")
    return Recipe(settings, tuple(copies), found["USER"], found["CMD"], found["HEALTHCHECK"])


def lay_out(made: Recipe, folder: Path) -> None:
    """Copy what the recipe copies into ``folder``, and let nobody write there."""
    for sources, target in made.copies:
        for name in sources:
            place = folder / target
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                place.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, place)
    subprocess.run(["chmod", "-R", "a-w,a+rX", folder], check=True)


def environment(made: Recipe, python: Path, cache: Path, **more: str) -> dict[str, str]:
    """The recipe's settings for another place: its folders are ``cache`` and that of ``python``; on loopback only."""
    here = {name: value.replace(CACHE, str(cache)) for name, value in made.settings.items()}
    here["PATH"] = here["PATH"].replace(f"{PACKAGES}/bin", str(python.parent)).replace("$PATH", os.defpath)
    return here | {"HOME": str(cache), "TMPDIR": str(cache), "STREAMLIT_SERVER_ADDRESS": "127.0.0.1"} | more


@contextlib.contextmanager
def start(made: Recipe, folder: Path, settings: dict[str, str], log: Path) -> Iterator[subprocess.Popen]:
    """The recipe's command in ``folder``, until the recipe's health check succeeds; ended with the `with`.

    As another user when root runs this. RuntimeError with the server's own words when it does not come up.
    """
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    where = {"cwd": folder, "env": settings, "stdin": subprocess.DEVNULL, **other}
    with log.open("w") as out:
        process = subprocess.Popen(made.command, stdout=out, stderr=subprocess.STDOUT, **where)
    try:
        end = time.monotonic() + START_SECONDS
        while (check := subprocess.run(made.health, capture_output=True, text=True, **where)).returncode:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"no healthy server: {check.stderr}\n{log.read_text()}")
            time.sleep(0.2)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def reachable_python() -> str:
    """A Python that another user may start: root's own may lie in root's home."""
    for python in (os.path.realpath(sys.executable), shutil.which("python3", path="/usr/local/bin:/usr/bin")):
        if python and (os.geteuid() != 0 or everybody_enters(Path(python))):
            return python
    sys.exit("no Python outside root's home: run this as another user, or install the distribution's python3")


def everybody_enters(path: Path) -> bool:
    """Whether another user may start what lies at ``path``."""
    return all(part.stat().st_mode & 0o001 for part in (path, *path.parents))


def install(folder: Path) -> Path:
    """A virtual environment of the run-time requirements; returns its Python."""
    python = folder / "bin" / "python"
    quiet = {"check": True, "stdin": subprocess.DEVNULL}
    locked = ["--require-hashes", "-r", ROOT / "requirements.lock"]
    uv = [sys.executable, "-m", "uv"]
    if subprocess.run([*uv, "--version"], capture_output=True).returncode == 0:
        subprocess.run([*uv, "venv", "-q", "--python", reachable_python(), folder], **quiet)
        subprocess.run([*uv, "pip", "install", "-q", "--python", python, *locked], **quiet)
    else:
        subprocess.run([reachable_python(), "-m", "venv", folder], **quiet)
        subprocess.run([python, "-m", "pip", "install", "-q", *locked], **quiet)
    subprocess.run([python, "-m", "compileall", "-q", folder / "lib"], stdin=subprocess.DEVNULL, capture_output=True)
    return python


async def look(port: int, pages: tuple[str, ...]) -> dict[str, float]:
    """Open pages one after another; seconds each took. RuntimeError for what a page complains of."""
    from tests.load import Visitor

    took = {}
    async with Visitor(port) as visitor:
        for page in pages:
            begun = time.monotonic()
            await visitor.open(page)
            took[page or "Home"] = time.monotonic() - begun
            if visitor.seen.errors:
                raise RuntimeError(f"{page or 'Home'}: {visitor.seen.errors}")
    return took


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.serving import free_port

    made = recipe((ROOT / "Containerfile").read_text())
    with tempfile.TemporaryDirectory(prefix="privcov-deployment-") as name:
        base = Path(name)
        base.chmod(0o755)
        cache, folder, log = base / "cache", base / "srv", base / "log"
        cache.mkdir()
        cache.chmod(0o777)
        begun = time.monotonic()
        python = install(base / "packages")
        size = int(subprocess.check_output(["du", "-sk", base / "packages"]).split()[0]) / 1024
        print(f"packages: {size:,.0f} MB, installed in {time.monotonic() - begun:.0f} s")
        lay_out(made, folder)
        port = free_port()
        settings = environment(made, python, cache, STREAMLIT_SERVER_PORT=str(port))
        seek = f"import importlib.util as u; print(*[n for n in {TOOLS} if u.find_spec(n)])"
        found = subprocess.check_output([python, "-c", seek], cwd=folder, env=settings, text=True).split()
        if found:
            sys.exit(f"test tools among the run-time packages: {', '.join(found)}")
        before = {path for path in base.rglob("*") if cache not in path.parents} | {log}
        begun = time.monotonic()
        with start(made, folder, settings, log) as process:
            print(f"healthy after {time.monotonic() - begun:.1f} s")
            for page, seconds in asyncio.run(look(port, tuple(sys.argv[1:]) or PAGES)).items():
                print(f"{page}: {seconds:.1f} s")
            memory = int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(process.pid)])) / 1024
            print(f"memory of the server: {memory:,.0f} MB")
        strange = [str(path) for path in base.rglob("*") if cache not in path.parents and path not in before]
        if strange:
            sys.exit(f"written outside the cache folder: {', '.join(strange[:5])}")
        if list(base.rglob("*ledger*.sqlite*")):
            sys.exit("a hosted server made a ledger")
        print(
            f"ended with {process.returncode}; the cache folder holds {len(list(cache.rglob('*')))} files and folders"
        )
        subprocess.run(["chmod", "-R", "u+w", folder], check=True)


if __name__ == "__main__":
    main()
