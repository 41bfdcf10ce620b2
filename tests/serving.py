"""A server on this machine for the length of a `with`: the workbench, another Streamlit script, or any command."""

from __future__ import annotations

import contextlib
import http.client
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.patience import patient, until

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 60


@dataclass(frozen=True)
class Server:
    """A running Streamlit. port: on the loopback address."""

    port: int
    process: subprocess.Popen

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def memory(self) -> float:
        """Resident memory of the server's own process, MB; processes that it starts to compute do not count."""
        found = subprocess.run(["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, text=True)
        return int(found.stdout) / 1024

    def threads(self) -> int:
        found = subprocess.run(["ps", "-o", "nlwp=", "-p", str(self.process.pid)], capture_output=True, text=True)
        return int(found.stdout)


def free_port() -> int:
    with contextlib.closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def healthy(port: int) -> bool:
    """Whether the server answers. http.client, unlike urllib, never asks a proxy for a loopback address."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=patient(5))
    try:
        connection.request("GET", "/_stcore/health")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


@contextlib.contextmanager
def running(
    command: list, ready: Callable[[], bool], log: Path, terminal: int | None = None, **where
) -> Iterator[subprocess.Popen]:
    """A process until the end of the `with`, begun when ``ready()`` is true. where: as for `subprocess.Popen`.

    terminal: its standard output, in place of ``log``. RuntimeError with its own words from ``log`` where it ends
    before that, AssertionError where it does neither.
    """
    with log.open("ab") as out:
        said = out if terminal is None else terminal
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=out, **where)
    try:
        until(lambda: ready() or process.poll() is not None, START_SECONDS, what=f"{command[0]} answers")
        if process.poll() is not None:
            raise RuntimeError(f"{command[0]} ended with {process.returncode}:\n{log.read_text()}")
        yield process
    finally:
        process.terminate()
        try:
            process.wait(patient(10))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def serving(
    folder: Path,
    script: Path = ROOT / "app.py",
    *,
    port: int | None = None,
    ready: Callable[[], bool] | None = None,
    terminal: int | None = None,
    **settings: str,
) -> Iterator[Server]:
    """A Streamlit script whose log, ledger, cache and temporary files are in ``folder``, from when it answers.

    settings: more environment variables; no token is asked for, unless they say so. ready: what stands for its answer
    where something lies before it.
    """
    port = port or free_port()
    places = {"PRIVCOV_LEDGER": "ledger.sqlite", "PRIVCOV_CACHE_DIR": "cache", "TMPDIR": "tmp"}
    for kind in ("cache", "tmp"):
        (folder / kind).mkdir(exist_ok=True)
    here = {name: str(folder / place) for name, place in places.items()} | {"PRIVCOV_TOKEN": "off"}
    environment = os.environ | here | settings
    command = [sys.executable, "-m", "streamlit", "run", script.name, f"--server.port={port}"]
    options = ["--server.address=127.0.0.1", "--server.fileWatcherType=none"]
    answers = ready or (lambda: healthy(port))
    with running(
        [*command, *options], answers, folder / "log", terminal, cwd=script.parent, env=environment
    ) as process:
        yield Server(port, process)
