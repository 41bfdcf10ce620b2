"""The two commands, as somebody on a new machine meets them, and what the configuration promises."""

import importlib.util
import json
import os
import re
import shlex
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


def requirement_lines(name: str) -> list[str]:
    lines = ((ROOT / name).read_text()).splitlines()
    return [line for line in lines if line and not line.startswith("#")]


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


# --- the locks ----------------------------------------------------------------------------------------------

LOCKS = [f"{name}.lock" for name in tools.LOCKED]
ENTRY = re.compile(r"([a-z0-9.-]+)==([0-9][0-9a-z.]*)(?: ; (.+))?")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def entries(lock: str) -> dict[tuple[str, str, str], list[str]]:
    """(name, version, marker): hashes. Fails for a line that is neither an entry nor a remark."""
    found, hashes = {}, []
    for line in map(str.strip, (ROOT / lock).read_text().replace(" \\\n", " \n").splitlines()):
        if entry := ENTRY.fullmatch(line):
            hashes = found[entry[1], entry[2], entry[3] or ""] = []
        elif HASH.fullmatch(line):
            hashes.append(line)
        else:
            assert line.startswith("#"), line
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_has_everything_its_requirements_name_with_hashes(lock):
    locked = entries(lock)
    assert all(locked.values())
    assert all(len(set(hashes)) == len(hashes) for hashes in locked.values())
    every = {(name, version) for name, version, _ in locked}

    def asked(name: str) -> list[str]:
        lines = requirement_lines(name)
        more = [pin for line in lines if line.startswith("-r ") for pin in asked(line[3:])]
        return more + [line for line in lines if not line.startswith("-r ")]

    pins = {tuple(pin.split("==")) for pin in asked(lock.replace(".lock", ".txt"))}
    assert pins
    assert pins <= every
    for name, version, marker in locked:  # one version of each, unless markers say where which one is meant
        assert marker or not [v for n, v, _ in locked if n == name and v != version], name
    opened = [marker for *_, marker in locked if marker]
    assert all(
        re.fullmatch(r"(python_full_version|os_name|sys_platform|platform_\w+|implementation_name).*", m)
        for m in opened
    )


def test_what_is_run_is_what_is_tested():
    tested = entries("requirements-dev.lock")
    assert entries("requirements.lock").items() <= tested.items()
    assert not {"pytest", "hypothesis", "ruff", "mypy"} & {name for name, *_ in entries("requirements.lock")}


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host_and_no_folder(lock):
    text = (ROOT / lock).read_text()
    assert "//" not in text
    assert not re.search(r"\b(index|find-links|trusted|file:|home/|tmp/)", text)
    assert text.splitlines()[1].strip() == "#    make lock"


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


def audited(answer: object, problem: str = "", code: int = 1) -> list[str]:
    text = answer if isinstance(answer, str) else json.dumps({"dependencies": answer})
    return tools.verdict(subprocess.CompletedProcess([], code, stdout=text, stderr=problem))


def test_the_audit_says_what_it_found_and_what_it_could_not_ask():
    clean = {"name": "numpy", "version": "2.4.6", "vulns": []}
    hole = {"name": "tornado", "version": "6.6.1", "vulns": [{"id": "CVE-1", "fix_versions": ["6.7"]}]}
    open_hole = {"name": "zict", "version": "3.0.0", "vulns": [{"id": "CVE-2", "fix_versions": []}]}
    unknown = {"name": "opendp", "skip_reason": "not found"}
    assert audited([clean], code=0) == ["No known vulnerability in 1 packages."]
    assert audited([clean, hole, open_hole])[:2] == [
        "tornado 6.6.1: CVE-1, mended in 6.7.",
        "zict 3.0.0: CVE-2, not mended yet.",
    ]
    assert "Known vulnerabilities: 2 in 3 packages" in audited([clean, hole, open_hole])[2]
    assert audited([clean, unknown])[-1].endswith("opendp.")
    assert audited([unknown]) == ["The registry offers no list of known vulnerabilities, so nothing was checked."]
    for broken in ("", "not JSON", "[]", "{}"):
        (line,) = audited(broken, "Traceback\n  File x\nConnectionError: refused")
        assert "could not be asked, so nothing was checked" in line
        assert "ConnectionError: refused" in line


@pytest.mark.skipif(not shutil.which("make"), reason="make is not installed")
@pytest.mark.parametrize("python", ["refusing", "missing"])
def test_the_audit_never_fails_a_build(checkout, python):
    """Where nothing can be installed, and where there is no Python at all."""
    env = {key: value for key, value in os.environ.items() if key not in {"MAKEFLAGS", "MAKELEVEL", "MFLAGS"}}
    env |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"}
    env |= {"PY": sys.executable if python == "refusing" else "/nowhere/python"}
    done = subprocess.run(["make", "audit"], cwd=checkout, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PrivCov: ")
    assert "nothing was checked" in done.stdout


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
    command = [sys.executable, "-c", code.replace("import sys", "import os, sys", 1), "--class", "--port=8613"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(30))
    if done.returncode:  # a machine without a network
        assert "is in no network" in done.stderr
        pytest.skip("this machine is in no network")
    address = re.search(r"^The class opens http://([\d.]+):8613/Lessons$", done.stdout, re.M)
    assert "Your data is shut" in done.stdout
    assert "--server.address=0.0.0.0" in done.stdout
    assert f"--browser.serverAddress={address[1]}" in done.stdout
    assert done.stdout.rstrip().endswith("] class"), "PRIVCOV_HOSTED"


def test_a_browser_that_does_not_start_is_no_browser():
    command = [sys.executable, ROOT / ".ci" / "chromium.py", "--install"]
    env = {**os.environ, "CHROMIUM": "/nowhere/chromium"}
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=patient(60))
    assert result.returncode == 1
    assert result.stderr == "CHROMIUM=/nowhere/chromium is not a browser that starts\n"


@pytest.mark.parametrize(("there", "asked"), [((), ["r-base-core", "nginx"]), (("Rscript",), ["nginx"])])
def test_programs_of_some_tests_are_installed_where_they_are_missing(tmp_path, there, asked):
    """With a stand-in for apt-get that writes down what it was asked for."""
    for name in ("apt-get", *there):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "$@" >>{shlex.quote(str(tmp_path / "log"))}\n')
        (tmp_path / name).chmod(0o755)
    code = (
        "import os, runpy, shutil, sys; sys.path.insert(0, '.ci'); os.geteuid = lambda: 0; real = shutil.which;"
        "shutil.which = lambda name, path=None: real(name, path=os.environ['PATH']);"
        "runpy.run_path('.ci/programs.py', run_name='__main__')"
    )
    env = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    update, install = (tmp_path / "log").read_text().splitlines()
    assert update == "-qq update"
    assert install.split()[-len(asked) :] == asked
    assert len(install.split()) == 4 + len(asked), "and nothing else"


def test_ci_requires_the_browser_and_takes_no_input():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert re.search(r"^REQUIRE_BROWSER=1 exec make test </dev/null$", script.read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "on_top_of"), [("requirements.txt", []), ("requirements-dev.txt", ["-r requirements.txt"])]
)
def test_requirements_are_exact_pins(name, on_top_of):
    pin = re.compile(r"[A-Za-z0-9-]+==[0-9][0-9a-z.]*")
    loose = [line for line in requirement_lines(name) if not pin.fullmatch(line)]
    assert loose == on_top_of


def test_nothing_is_reported_and_nobody_outside_is_served():
    assert CONFIG["browser"]["gatherUsageStats"] is False
    assert CONFIG["server"]["address"] == "127.0.0.1"
    assert set(CONFIG["server"]["allowedHosts"]) == {"localhost", "127.0.0.1"}
    assert not CONFIG["server"].get("enableAgentApi", False)
    assert CONFIG["client"]["showErrorDetails"] == "none"
    assert CONFIG["client"]["showErrorLinks"] is False


def test_the_configuration_names_no_other_host():
    assert "//" not in CONFIG_TEXT


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


def test_the_browser_comes_last_whatever_takes_long(request):
    browser = [item.path.is_relative_to(ROOT / "tests" / "browser") for item in request.session.items]
    assert browser == sorted(browser)
