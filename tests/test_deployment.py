"""A server that other people reach: the private path is shut, and the Containerfile is as docs/deployment.md says."""

import ast
import asyncio
import importlib.util
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from pages.common import hosted, visitor_files
from pages.your_data import state
from pages.your_data.declare import practice
from pages.your_data.declare.file_format import UploadedTable
from tests.patience import patient
from tests.serving import free_port

ROOT = Path(__file__).resolve().parents[1]
APP = str(ROOT / "app.py")
TEXT = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
HEALTH = [sys.executable, str(ROOT / ".ci" / "health.py")]


def _script(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


deployment = _script("deployment")
RECIPE = deployment.recipe((ROOT / "Containerfile").read_text())


@pytest.fixture(autouse=True)
def ledger(tmp_path, monkeypatch) -> Path:
    path = tmp_path / "ledger.sqlite"
    monkeypatch.setenv("PRIVCOV_LEDGER", str(path))
    monkeypatch.delenv(hosted.HOSTED, raising=False)
    return path


@pytest.fixture
def address(monkeypatch):
    """`address("0.0.0.0")`: what the server listens on, as Streamlit's configuration says it."""
    real = st.get_option

    def listen(on: str | None) -> None:
        monkeypatch.setattr(st, "get_option", lambda name: on if name == "server.address" else real(name))

    return listen


@pytest.fixture
def headers(monkeypatch):
    """`headers(Host="...")`: what the visit came with."""

    def come(**given: str) -> None:
        told = {name.replace("_", "-"): value for name, value in given.items()}
        monkeypatch.setattr(hosted.st, "context", types.SimpleNamespace(headers=told))

    return come


def page(file: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(60))
    at.switch_page(file).run()
    assert not at.exception, at.exception
    return at


# --- who reaches this server --------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["1", "true", "yes", "on", "hosted", " 1 "])
def test_told_so_it_is_hosted(word, monkeypatch):
    monkeypatch.setenv(hosted.HOSTED, word)
    assert "your own machine" in hosted.refusal()


@pytest.mark.parametrize("word", [None, "", "0", "no", "False"])
@pytest.mark.parametrize(
    ("on", "reached"),
    [
        ("127.0.0.1", False),
        ("127.8.0.1", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("::", True),
        ("10.0.0.7", True),
        ("workbench.example", True),
        ("unix:///run/privcov.sock", True),
        ("", True),
        (None, True),
    ],
)
def test_the_address_decides_where_nobody_said_anything(word, on, reached, address, monkeypatch):
    """Also where somebody said no: a word does not make an open address private."""
    if word is not None:
        monkeypatch.setenv(hosted.HOSTED, word)
    address(on)
    assert hosted.is_reachable() is reached
    assert bool(hosted.refusal()) is reached


@pytest.mark.parametrize(
    ("given", "reached"),
    [
        ({}, False),
        ({"Host": "127.0.0.1:8501", "Origin": "http://localhost:8501"}, False),
        ({"Host": "[::1]:8501"}, False),
        ({"Host": "workbench.example"}, True),
        ({"Host": "127.0.0.1:8501", "Origin": "https://workbench.example"}, True),
        ({"Host": "127.0.0.1", "X_Forwarded_For": "10.0.0.7"}, True),
        ({"host": "127.0.0.1", "x_forwarded_proto": "https"}, True),
        ({"Host": "127.0.0.1", "Forwarded": "for=10.0.0.7"}, True),
        ({"Host": "127.0.0.1", "Via": "1.1 gate"}, True),
        ({"Host": "127.0.0.1", "X_Real_IP": "127.0.0.1"}, True),
        ({"Host": "127.0.0.1", "Origin": "null"}, True),
        ({"Host": "[::1"}, True),
    ],
)
def test_a_visit_through_a_proxy_counts_as_reached(given, reached, headers):
    headers(**given)
    assert hosted.is_reachable() is reached


# --- what is shut there -------------------------------------------------------------------------------------


def test_your_data_says_why_and_where(monkeypatch, ledger):
    at = page("pages/5_Your_data.py")
    assert at.file_uploader
    monkeypatch.setenv(hosted.HOSTED, "1")
    at.run()
    assert not at.exception
    assert not at.file_uploader
    assert [b.label for b in at.button if b.label != "Export a figure"] == ["Security and limits"]
    assert "other machines" in at.info[0].value
    assert any("make run" in m.value for m in at.markdown)
    assert not ledger.exists()


@pytest.mark.parametrize("step", ["view", "release", "answers"])
def test_no_step_is_reached_by_another_way(step, monkeypatch, ledger):
    """The session holds a table and a plan from before; the setting still shuts every step."""
    at = page("pages/5_Your_data.py")
    next(b for b in at.button if b.label == "Use the practice table").click().run()
    assert at.session_state["own"].raw
    monkeypatch.setenv(hosted.HOSTED, "1")
    at.session_state["own-next"] = step
    at.session_state["own-agreed"] = ("gaussian-cov", None, 1, ())
    at.run()
    assert not at.exception
    assert "other machines" in at.info[0].value
    assert "own" not in at.session_state  # the rows are let go as well
    assert not ledger.exists()


@pytest.mark.parametrize(
    "touch",
    [
        state.open_ledger,
        state.rows,
        lambda: state.keep_file("f", "table.csv", UploadedTable(b"a\n1\n")),
        lambda: practice._take(lambda declared: None),
    ],
    ids=["ledger", "rows", "hold", "practice"],
)
def test_the_functions_refuse_and_not_only_the_page(touch, monkeypatch, ledger):
    monkeypatch.setenv(hosted.HOSTED, "1")
    with pytest.raises(hosted.HostedError, match="other machines"):
        touch()
    assert not ledger.exists()


def test_no_page_goes_past_the_guard():
    """Rows are read, held and released, and the ledger is opened, only by the functions that ask first."""
    guarded = dict.fromkeys(("Ledger", "read_private", "check_upload"), "your_data/state.py")
    calls = []
    for path in [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                calls.append((called, "/".join(path.parts[-2:])))
    for name, home in guarded.items():
        assert {file for called, file in calls if called == name} == {home}
    # What releases gets its ledger and its rows from there.
    assert {file for called, file in calls if called == "release_private"} == {"release/release_step.py"}


def test_estimate_takes_no_confidential_file_and_a_public_one_also_where_others_reach_the_server(monkeypatch):
    monkeypatch.setenv(hosted.HOSTED, "1")
    at = page("pages/1_Estimate.py")
    at.selectbox(key="w.source").set_value("csv").run()
    at.radio(key="upload-public").set_value("no").run()
    assert not at.exception
    assert not at.file_uploader
    at.radio(key="upload-public").set_value("yes").run()
    assert at.file_uploader  # a public one may come


# --- the container ------------------------------------------------------------------------------------------


def test_the_container_is_hosted_and_not_root():
    assert RECIPE.user.isdigit()
    assert int(RECIPE.user) > 0
    assert RECIPE.settings[hosted.HOSTED] == "1"
    assert "PRIVCOV_LEDGER" not in RECIPE.settings
    for name in ("PRIVCOV_CACHE_DIR", "NUMBA_CACHE_DIR"):
        assert RECIPE.settings[name].startswith(deployment.CACHE)


def test_its_base_is_pinned_and_nothing_but_the_workbench_goes_in():
    text = (ROOT / "Containerfile").read_text()
    (base,) = re.findall(r"^ARG BASE=(\S+)$", text, re.MULTILINE)
    assert re.fullmatch(r"python:3\.\d+(\.\d+)?-slim-[a-z]+", base)
    assert set(re.findall(r"^FROM (\S+)", text, re.MULTILINE)) == {"${BASE}"}
    sources = {name for names, _ in RECIPE.copies for name in names}
    assert all((ROOT / name).exists() for name in sources)
    assert sources == {"app.py", "SECURITY.md", ".streamlit/config.toml", ".ci/health.py", "pages", "privcov", "data"}
    left_out = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", "tests", "docs", "**/__pycache__", ".streamlit/secrets.toml"} <= set(left_out)
    assert not sources & set(left_out)


@pytest.mark.parametrize("size", [5, 500])
def test_a_lower_limit_of_the_server_holds_for_every_uploader(size, monkeypatch):
    options = {"server.maxUploadSize": size, "server.address": "127.0.0.1"}
    monkeypatch.setattr(st, "get_option", options.__getitem__)
    assert visitor_files.megabytes() == min(size, visitor_files.MEGABYTES)
    options["server.address"] = "0.0.0.0"
    assert visitor_files.megabytes() == min(size, visitor_files.HOSTED_MEGABYTES)


# --- the health check ---------------------------------------------------------------------------------------


@pytest.fixture
def answering():
    """A server that answers one path with 200 and every other with 404; its port."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/privcov/_stcore/health" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join(5)


def checked(port: int, base: str) -> subprocess.CompletedProcess:
    # A proxy named in the environment must not be asked for this machine's own port.
    env = {"STREAMLIT_SERVER_PORT": str(port), "STREAMLIT_SERVER_BASE_URL_PATH": base}
    env |= {"PATH": os.defpath, "http_proxy": "http://127.0.0.1:9"}
    return subprocess.run(HEALTH, env=env, capture_output=True, text=True, timeout=patient(20))


def test_the_health_check_follows_port_and_base_path(answering):
    for base in ("privcov", "/privcov/"):
        assert checked(answering, base).returncode == 0
    wrong = checked(answering, "")
    assert wrong.returncode == 1
    assert "404" in wrong.stderr


def test_the_health_check_fails_where_nobody_answers():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))  # taken, and nobody listens
        found = checked(holder.getsockname()[1], "")
    assert found.returncode == 1
    assert found.stderr.startswith("no answer on port")


# --- and it runs --------------------------------------------------------------------------------------------


@pytest.fixture
def base() -> Iterator[Path]:
    """A folder that every user may enter, which pytest's own are not; a skip where another user has no Python."""
    if os.geteuid() == 0 and not deployment.everybody_enters(Path(os.path.realpath(sys.executable))):
        pytest.skip("root runs the tests, with a Python that no other user can start; .ci/deployment.py finds another")
    with tempfile.TemporaryDirectory(prefix="privcov-deployment-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
        subprocess.run(["chmod", "-R", "u+w", name], check=True)


def test_it_starts_from_a_folder_that_it_cannot_write(base):
    """The files and settings of the Containerfile, another user where root runs the tests; the packages are those of
    the tests (.ci/deployment.py makes clean ones)."""
    cache, folder = base / "cache", base / "srv"
    cache.mkdir()
    cache.chmod(0o777)
    deployment.lay_out(RECIPE, folder)
    port = free_port()
    settings = deployment.environment(RECIPE, Path(sys.executable), cache, STREAMLIT_SERVER_PORT=str(port))
    with deployment.start(RECIPE, folder, settings, base / "log"):
        took = asyncio.run(deployment.look(port, ("", "Estimate", "Your_data")))
    assert list(took) == ["Home", "Estimate", "Your_data"]
    assert not list(base.rglob("*ledger*.sqlite*"))
    assert not list(folder.rglob("__pycache__"))  # nothing could be written there
