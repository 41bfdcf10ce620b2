"""A colour is written once, in privcov/plots/palette.py; the theme of the pages is written from it."""

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from privcov.plots.palette import THEME, with_theme

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "privcov" / "plots" / "palette.py"
CONFIG = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
HEX = r"#(?:[0-9a-fA-F]{8}|[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b"
NAMES = "white|black|gr[ae]y|red|green|blue"
NAMED = rf"(?:color|background|fill|stroke|border[a-z-]*)\W{{1,4}}(?:[\w.]+ solid )?(?:{NAMES})\b"
COLOUR = re.compile(rf"(?<!&){HEX}|\b(?:rgb|hsl)a?\(\s*[\d.]|\b(?:hwb|oklch|oklab|lab|lch)\(\s*[\d.]|{NAMED}")


def test_the_theme_is_what_the_command_writes():
    assert with_theme(CONFIG) == CONFIG, "run python -m privcov.plots.palette"


def test_the_command_keeps_the_settings_and_writes_every_colour(tmp_path):
    """On a copy, whose colours are lost, with nothing but Python's own library."""
    (tmp_path / ".streamlit").mkdir()
    (tmp_path / "privcov" / "plots").mkdir(parents=True)
    settings = CONFIG[: CONFIG.index("[theme.light]")]
    config = tmp_path / ".streamlit" / "config.toml"
    config.write_text(settings, encoding="utf-8")
    copy = shutil.copy(FILE, tmp_path / "privcov" / "plots")
    subprocess.run([sys.executable, "-I", "-S", copy], check=True)
    assert config.read_text(encoding="utf-8") == CONFIG
    assert "[server]" in settings
    assert not COLOUR.search(settings)


def test_a_colour_changed_in_the_palette_changes_the_theme_and_nothing_else(monkeypatch):
    monkeypatch.setitem(THEME["dark"], "linkColor", "#ABCDEF")
    changed = [
        (old, new) for old, new in zip(CONFIG.splitlines(), with_theme(CONFIG).splitlines(), strict=True) if old != new
    ]
    assert changed == [('linkColor = "#6FD0C6"', 'linkColor = "#ABCDEF"')]


def test_settings_without_the_mark_are_left_alone():
    with pytest.raises(ValueError, match="has no line"):
        with_theme("[server]\n")


def test_no_colour_is_written_twice():
    assert {c: n for c, n in Counter(re.findall(HEX, FILE.read_text(encoding="utf-8"))).items() if n > 1} == {}


def test_no_other_file_holds_a_colour():
    files = [ROOT / "app.py", *(p for room in ("privcov", "pages") for p in (ROOT / room).rglob("*"))]
    texts = [p for p in files if p.suffix in {".py", ".css", ".html", ".js", ".j2", ".svg"} and p != FILE]
    assert len(texts) > 200
    found = {p.relative_to(ROOT).as_posix(): COLOUR.findall(p.read_text(encoding="utf-8")) for p in texts}
    assert {name: colours for name, colours in found.items() if colours} == {}


@pytest.mark.parametrize(
    "text",
    [
        '"#0F6E6E"',
        "color: #fff;",
        "background:#0f6e6e80",
        "rgba(128,128,128,.4)",
        "hsl(120deg 10% 10%)",
        '"color": "white"',
        "border: 1px solid grey",
    ],
)
def test_the_search_sees_a_colour(text):
    assert COLOUR.search(text)


@pytest.mark.parametrize(
    "text", ["#figure {width: 1px}", "&#8203;", "an issue, #12", "rgba({red},", ":green-badge[holds]"]
)
def test_the_search_passes_what_is_no_colour(text):
    assert not COLOUR.search(text)
