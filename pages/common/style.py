"""The style sheet of every page, on top of the theme in .streamlit/config.toml."""

from pathlib import Path
from string import Template

from privcov.plots.matrices import RIGHT, TOP
from privcov.plots.palette import BORDER, CHOSEN, CHOSEN_UNDER_POINTER, DARK, KEY, LIGHT

_SHEET = Template(Path(__file__).with_suffix(".css").read_text(encoding="utf-8")).substitute(
    key=KEY,
    bar=RIGHT - TOP,
    edge=BORDER,
    ink=f"{LIGHT.ink}, {DARK.ink}",
    ground=f"{DARK.ink}, {LIGHT.ink}",
    paper=f"{LIGHT.ground}, {DARK.ground}",
    chosen=", ".join(CHOSEN),
    pointed=", ".join(CHOSEN_UNDER_POINTER),
    quiet=f"{LIGHT.quiet}, {DARK.quiet}",
)
STYLE = f"\n<style>\n{_SHEET}</style>\n"
