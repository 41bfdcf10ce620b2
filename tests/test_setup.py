"""The two commands, as somebody on a new machine meets them, and what the configuration promises."""

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]
SH = shutil.which("sh")
CONFIG_TEXT = (ROOT / ".streamlit" / "config.toml").read_text()
CONFIG = tomllib.loads(CONFIG_TEXT)

_spec = importlib.util.spec_from_file_location("tools", ROOT / ".ci" / "tools.py")
tools = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tools)

# A Python as setup.sh meets it: it tells its version, and has no venv module.
STAND_IN = """#!{sh}
case $2 in
*version_info*) echo {version} ;;
*) exit 1 ;;
esac
"""


@pytest.fixture
def checkout(tmp_path):
    """A folder with a space in its name holding what set-up needs, and nothing that can install anything."""
    folder = tmp_path / "my checkout"
    folder.mkdir()
    shutil.copytree(ROOT / ".ci", folder / ".ci")
    for path in (ROOT / "Makefile", *ROOT.glob("requirements*.*")):
        shutil.copy(path, folder)
    return folder


@pytest.fixture
def set_up(checkout):
    """Run setup.sh where the only Pythons on PATH are the stand-ins given as name=version."""
    tools = checkout.parent / "bin"
    tools.mkdir()
    for tool in ("grep", "rm", "mkdir", "touch"):
        (tools / tool).symlink_to(shutil.which(tool))

    def run(pythons: dict[str, int], **settings: str) -> subprocess.CompletedProcess:
        for name, version in pythons.items():
            (tools / name).write_text(STAND_IN.format(sh=SH, version=version))
            (tools / name).chmod(0o755)
        return subprocess.run(
            [SH, ".ci/setup.sh", "run"],
            cwd=checkout,
            env={"PATH": str(tools), **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=patient(30),
        )

    return run


def one_sentence(result: subprocess.CompletedProcess) -> str:
    """The only line of a refusal, which must not be a traceback."""
    assert result.returncode != 0
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.lower().startswith("privcov: ")
    return line


@pytest.mark.parametrize(
    ("pythons", "settings", "told"),
    [
        ({"python3": 309}, {}, "Python 3.11 or newer is needed, and python3 is 3.9"),
        ({"python3": 311, "old": 310}, {"PY": "old"}, "Python 3.11 or newer is needed, and old is 3.10"),
        ({}, {}, "no Python was found"),
        ({}, {"PY": "python9"}, "PY=python9 does not start"),
    ],
)
def test_a_python_that_will_not_do_is_refused_in_a_sentence(set_up, checkout, pythons, settings, told):
    sentence = one_sentence(set_up(pythons, **settings))
    assert told in sentence
    assert "3.12" in sentence  # the remedy
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize(
    ("pythons", "chosen"),
    [
        ({"python3": 309, "python3.12": 312, "python3.11": 311}, "python3.12"),
        ({"python3": 312, "python3.13": 313}, "python3 "),
        ({"python3": 314, "python3.13": 313}, "python3.13"),
        ({"python3": 314}, "python3 "),
    ],
)
def test_a_suitable_python_is_found_and_a_missing_venv_module_named(set_up, pythons, chosen):
    sentence = one_sentence(set_up(pythons))
    assert sentence.startswith(f"PrivCov: {chosen}".rstrip() + " has no venv module")
    assert "apt-get install python3-venv" in sentence


def test_an_interrupted_set_up_is_not_taken_for_a_finished_one(set_up, checkout):
    """Its Python starts and has pip: only the marker says that its packages may be half there."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!{SH}\ncase $* in *version_info*) echo 311 ;; esac\n")
    python.chmod(0o755)
    kept = set_up({"python3": 311})
    assert kept.returncode == 0, kept.stderr
    (checkout / ".venv" / ".unfinished").touch()
    assert "has no venv module" in one_sentence(set_up({}))  # so it set out to rebuild


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize(("target", "stamp"), [("run", "run"), ("test", "dev")])
def test_set_up_happens_once_and_again_when_a_pin_changes(checkout, target, stamp):
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}

    def plan() -> str:
        command = ["make", "--dry-run", target]
        return subprocess.check_output(command, cwd=checkout, env=env, text=True)

    assert f"setup.sh {stamp}" in plan()
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (checkout / ".venv" / f".stamp-{stamp}").touch()
    assert "setup.sh" not in plan()
    later = (checkout / ".venv" / f".stamp-{stamp}").stat().st_mtime
    lock = {"run": "requirements.lock", "dev": "requirements-dev.lock"}[stamp]
    for name in ("requirements.txt", lock, ".ci/uv.lock"):
        os.utime(checkout / name, (later + 10, later + 10))
        assert f"setup.sh {stamp}" in plan(), name
        os.utime(checkout / name, (later - 10, later - 10))
        assert "setup.sh" not in plan()


def test_a_changed_pin_is_told_before_anything_is_built(set_up, checkout):
    path = checkout / "requirements.txt"
    path.write_text(path.read_text().replace("numpy==", "numpy==9."))
    sentence = one_sentence(set_up({"python3": 311}))
    assert "requirements.txt asks for numpy==9." in sentence
    assert "make lock" in sentence
    assert not (checkout / ".venv").exists()


PIP = """#!{sh}
case $* in *version_info*) echo 311 ;; *) echo "$*" >>told ;; esac
case $* in *"{fails}"*) exit 1 ;; esac
"""


@pytest.mark.parametrize("fails", ["uv pip install", "-r .ci/uv.lock", "nothing"])
def test_nothing_is_installed_without_its_hash(set_up, checkout, fails):
    """With uv, and with pip where uv fails or cannot be had."""
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PIP.format(sh=SH, fails=fails))
    python.chmod(0o755)
    done = set_up({"python3": 311})
    assert done.returncode == 0, done.stderr
    installs = [line for line in (checkout / "told").read_text().splitlines() if " install " in line]
    assert len(installs) >= 2
    assert all(re.search(r"--require-hashes -r (requirements|\.ci/uv)\.lock$", line) for line in installs), installs
    assert installs[-1].endswith("requirements.lock")


# --- the audit ----------------------------------------------------------------------------------------------


# --- the port, the browser, CI ------------------------------------------------------------------------------


# The command with a server that ends at once.
PORT_ALONE = """
import sys, types
import streamlit.web
streamlit.web.cli = sys.modules["streamlit.web.cli"] = types.SimpleNamespace(main=lambda *_, **__: None)
from privcov.cli.entry import main
sys.exit(main(["app", *sys.argv[1:]]))
"""


def port_check(port: object) -> subprocess.CompletedProcess:
    command = [sys.executable, "-c", PORT_ALONE, f"--port={port}"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(30))


def test_a_busy_port_is_named_with_the_way_out():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        sentence = one_sentence(port_check(port))
    assert f"Port {port} is in use" in sentence
    assert "make run PORT=8600" in sentence
    assert port_check(port).returncode == 0  # and free again at once


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", ""])
def test_a_port_that_is_none_is_refused(port):
    assert f"got {port!r}" in one_sentence(port_check(port))


def test_a_class_is_let_in_with_its_address_and_your_data_shut():
    """The settings that Streamlit is given, and what is printed before it starts."""
    code = PORT_ALONE.replace("lambda *_, **__: None", "lambda given, **_: print(given, os.environ['PRIVCOV_HOSTED'])")
    # Nobody waits here for the lessons that a process of its own writes.
    quiet = "from privcov.cli import site\nsite.subprocess.Popen = lambda *_, **__: None\n"
    code = code.replace("import sys", "import os, sys", 1).replace(
        "from privcov.cli.entry", f"{quiet}from privcov.cli.entry"
    )
    command = [sys.executable, "-c", code, "--class", "--port=8613"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(30))
    if done.returncode:  # a machine without a network
        assert "is in no network" in done.stderr
        pytest.skip("this machine is in no network")
    address = re.search(r"^The class opens http://([\d.]+):8614", done.stdout, re.M)
    assert f"http://{address[1]}:8613/Lessons" in done.stdout
    assert "Your data is shut" in done.stdout
    assert "--server.address=0.0.0.0" in done.stdout
    assert f"--browser.serverAddress={address[1]}" in done.stdout
    assert done.stdout.rstrip().endswith("] class"), "PRIVCOV_HOSTED"


def test_nothing_is_reported_and_nobody_outside_is_served():
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert set(CONFIG["server"]["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert not CONFIG["server"].get("enableAgentApi", False)
    assert CONFIG["client"]["showErrorDetails"] == "none"
    assert CONFIG["client"]["showErrorLinks"] is False


def settings_of(table: dict, prefix: str = "") -> list[str]:
    names = []
    for key, value in table.items():
        names += settings_of(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]
    return names


def test_streamlit_knows_every_setting():
    """An unknown one is only warned about at the start, and the promise it was to keep is then not kept."""
    from streamlit import config

    unknown = set(settings_of(CONFIG)) - set(config.get_config_options())
    assert not unknown
