"""A scheduler and two workers on the loopback address, under TLS, started once per file of tests and ended with it."""

import contextlib
import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from privcov.engine import cluster as cluster_module
from tests.engine_work import computing
from tests.patience import patient, until

ROOT = Path(__file__).parents[2]
START_SECONDS = 40


def pytest_collection_modifyitems(items):
    if importlib.util.find_spec("distributed") is None:
        for item in items:
            if Path(__file__).parent in item.path.parents:
                item.add_marker(pytest.mark.skip(reason="dask.distributed is not installed (requirements-cluster.txt)"))


@dataclass
class Cluster:
    address: str
    scheduler: subprocess.Popen
    workers: subprocess.Popen

    def worker_processes(self) -> list[psutil.Process]:
        """The two that compute; a nanny starts each again when it dies."""
        return computing(self.workers.pid)


@functools.cache
def certificate() -> tuple[str, str]:
    """The files of a certificate that vouches for itself, and of its key: whoever has both belongs to the clusters."""
    folder = Path(tempfile.mkdtemp())
    found = str(folder / "cluster.pem"), str(folder / "cluster.key")
    told = ["-subj", "/CN=cluster", "-days", "2", "-out", found[0], "-keyout", found[1]]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *told],
        check=True, capture_output=True, timeout=patient(20),
    )  # fmt: skip
    return found


@contextlib.contextmanager
def started(folder: Path) -> Iterator[Cluster]:
    file = folder / "scheduler.json"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "default", "OPENBLAS_NUM_THREADS": "1"}
    env.pop("PRIVCOV_SCHEDULER", None)
    tls = certificate()
    begun = []

    def start(name: str, *words: str) -> subprocess.Popen:
        with (folder / f"{name}.log").open("w") as log:
            words = (*words, "--no-dashboard", "--tls-ca-file", tls[0], "--tls-cert", tls[0], "--tls-key", tls[1])
            command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *words]
            begun.append(subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log))
        return begun[-1]

    def wait_for(ready, process: subprocess.Popen, log: Path) -> None:
        until(lambda: ready() or process.poll() is not None, START_SECONDS, every=0.1, what=f"{log.name} says so")
        if process.poll() is not None:
            pytest.fail(f"it did not start: {log.read_text()}")

    try:
        scheduler = start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--protocol", "tls", "--scheduler-file", str(file)
        )
        wait_for(file.exists, scheduler, folder / "scheduler.log")
        address = json.loads(file.read_text())["address"]
        assert address.startswith("tls://127.0.0.1:")
        workers = start(
            "worker", address, "--nworkers", "2", "--nthreads", "1", "--host", "127.0.0.1",
            "--death-timeout", str(patient(20)), "--local-directory", str(folder),
        )  # fmt: skip
        log = folder / "worker.log"
        wait_for(lambda: log.read_text().count("Registered to") >= 2, workers, log)
        import dask
        import distributed  # noqa: F401 # first, or what it adds to the configuration goes when ours does

        ours = {"ca-file": tls[0], "client.cert": tls[0], "client.key": tls[1]}
        with dask.config.set({f"distributed.comm.tls.{name}": value for name, value in ours.items()}):
            yield Cluster(address, scheduler, workers)
    finally:
        family = [child for one in begun for child in _children(one)]
        for process in (*reversed(begun), *family):
            with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
                process.send_signal(signal.SIGKILL)
        for one in begun:
            one.wait(patient(10))
        psutil.wait_procs(family, timeout=patient(10))


def _children(process: subprocess.Popen) -> list[psutil.Process]:
    with contextlib.suppress(psutil.NoSuchProcess):
        return psutil.Process(process.pid).children(recursive=True)
    return []


@pytest.fixture(autouse=True)
def slow_answers(monkeypatch) -> None:
    """What the engine allows a scheduler to answer in, on a machine as slow as this one."""
    for name in ("CONNECT_SECONDS", "NO_WORKER_SECONDS"):
        monkeypatch.setattr(cluster_module, name, patient(getattr(cluster_module, name)))


@pytest.fixture(scope="module")
def shared(tmp_path_factory) -> Iterator[Cluster]:
    with started(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared, monkeypatch) -> Cluster:
    """The setting is in place; whoever kills a worker finds two again."""
    until(lambda: len(shared.worker_processes()) >= 2, START_SECONDS, every=0.1, what="two workers")
    monkeypatch.setenv("PRIVCOV_SCHEDULER", shared.address)
    return shared


@pytest.fixture
def own_cluster(tmp_path, monkeypatch) -> Iterator[Cluster]:
    """One that a test may destroy."""
    with started(tmp_path) as cluster:
        monkeypatch.setenv("PRIVCOV_SCHEDULER", cluster.address)
        yield cluster
