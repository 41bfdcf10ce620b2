"""The two commands, as somebody on a new machine meets them, and what the configuration promises."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SH = shutil.which("sh")
CONFIG_TEXT = (ROOT / ".streamlit" / "config.toml").read_text()
CONFIG = tomllib.loads(CONFIG_TEXT)

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
    for name in ("Makefile", "requirements.txt", "requirements-cluster.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def set_up(checkout):
    """Run setup.sh where the only Pythons on PATH are the stand-ins given as name=version."""
    tools = checkout.parent / "bin"
    tools.mkdir()
    for tool in ("rm", "mkdir", "touch"):
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
            timeout=30,
        )

    return run


def one_sentence(result: subprocess.CompletedProcess) -> str:
    """The only line of a refusal, which must not be a traceback."""
    assert result.returncode != 0
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    assert line.startswith("PrivCov: ")
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
    later = (checkout / ".venv" / f".stamp-{stamp}").stat().st_mtime + 10
    os.utime(checkout / "requirements.txt", (later, later))
    assert f"setup.sh {stamp}" in plan()


def port_check(port: object) -> subprocess.CompletedProcess:
    command = [sys.executable, ROOT / ".ci" / "port.py", str(port)]
    return subprocess.run(command, capture_output=True, text=True, timeout=30)


def test_a_busy_port_is_named_with_the_way_out():
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        sentence = one_sentence(port_check(port))
    assert f"port {port} is in use" in sentence
    assert "make run PORT=8600" in sentence
    assert port_check(port).returncode == 0  # and free again at once


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", ""])
def test_a_port_that_is_none_is_refused(port):
    assert f"got PORT={port}" in one_sentence(port_check(port))


def test_a_browser_that_does_not_start_is_no_browser():
    command = [sys.executable, ROOT / ".ci" / "chromium.py", "--install"]
    env = {**os.environ, "CHROMIUM": "/nowhere/chromium"}
    result = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert result.stderr == "CHROMIUM=/nowhere/chromium is not a browser that starts\n"


def test_ci_requires_the_browser_and_takes_no_input():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert re.search(r"^REQUIRE_BROWSER=1 exec make test </dev/null$", script.read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "on_top_of"),
    [
        ("requirements.txt", []),
        ("requirements-cluster.txt", ["-r requirements.txt"]),
        ("requirements-dev.txt", ["-r requirements-cluster.txt"]),
    ],
)
def test_requirements_are_exact_pins(name, on_top_of):
    pin = re.compile(r"[A-Za-z0-9-]+==[0-9][0-9a-z.]*")
    loose = [line for line in requirement_lines(name) if not pin.fullmatch(line)]
    assert loose == on_top_of


def test_running_needs_no_test_tools():
    tools = {line.split("==")[0] for line in requirement_lines("requirements-dev.txt")}
    assert not tools & {line.split("==")[0] for line in requirement_lines("requirements.txt")}
    assert {"pytest", "playwright", "ruff"} <= tools


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


def luminance(colour: str) -> float:
    """Relative luminance of "#rrggbb". Reference: WCAG 2.2, "relative luminance"."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """From 1 to 21. Reference: WCAG 2.2, "contrast ratio"."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def mixed(ink: str, ground: str, share: float) -> str:
    """`ink` laid over `ground` with opacity `share`."""
    pairs = [(int(ink[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(f"{round(share * over + (1 - share) * under):02x}" for over, under in pairs)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_can_be_read(mode):
    theme = CONFIG["theme"][mode]
    grounds = [
        (part[key], where)
        for part, where in ((theme, "page"), (theme["sidebar"], "sidebar"))
        for key in ("backgroundColor", "secondaryBackgroundColor")
    ]
    for ground, where in grounds:
        assert contrast(theme["textColor"], ground) >= 7, where
        # Captions are the text at 60 per cent.
        assert contrast(mixed(theme["textColor"], ground, 0.6), ground) >= 4.5, where
        assert contrast(theme["linkColor"], ground) >= 4.5, where
        # Sliders, ticks and the mark under an open tab: WCAG asks 3 of what is not text.
        assert contrast(theme["primaryColor"], ground) >= 3, where
    assert contrast("#ffffff", theme["primaryColor"]) >= 4.5  # a button's label
    assert contrast(theme["blueTextColor"], theme["blueBackgroundColor"]) >= 4.5
