"""Contrast by WCAG 2.2, colours as colour-blind people see them, and one pen per method in every figure."""

import itertools
import re
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import privcov
from pages.common.style import STYLE
from privcov.plots import look, published
from privcov.plots.errors import curves
from privcov.plots.look import DASHES, SYMBOLS, pen, pen_of, pens_of
from privcov.plots.palette import CHOSEN, DARK, LIGHT, Palette, readable, shades
from privcov.plots.palette import contrast as our_contrast

ROOT = Path(__file__).resolve().parents[2]
THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]
TEXT, GRAPHIC = 4.5, 3.0  # WCAG 2.2, success criteria 1.4.3 and 1.4.11
# Least CIE 1976 distance between any two line colours, seen with normal vision or any of the three dichromacies.
# About 2.3 can just be told apart side by side; ten times that is told apart across a chart.
APART = 18

# Machado, Oliveira and Fernandes (2009), "A physiologically-based model for simulation of color vision deficiency",
# IEEE TVCG 15(6), severity 1; they act on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}  # fmt: skip
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
LISTED = [card for card in privcov.methods() if card.key in look._METHODS]  # others get a pen by their name
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> np.ndarray:
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def contrast(a: str, b: str) -> float:
    high, low = sorted((float(XYZ[1] @ linear(c)) for c in (a, b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def seen_through(front: str, ground: str, opacity: float) -> str:
    pairs = ((int(front[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(opacity * f + (1 - opacity) * g):02X}" for f, g in pairs)


def lab(colour: str, vision: str) -> np.ndarray:
    xyz = XYZ @ np.clip(np.asarray(VISION[vision]) @ linear(colour), 0, 1) / WHITE
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def distance(a: str, b: str, vision: str) -> float:
    return float(np.linalg.norm(lab(a, vision) - lab(b, vision)))


def grounds(mode: str) -> list[str]:
    """What text stands on: page and sidebar, and the fields on each."""
    theme = THEME[mode]
    return [
        part[name] for part in (theme, theme["sidebar"]) for name in ("backgroundColor", "secondaryBackgroundColor")
    ]


def test_the_formulas_agree_with_their_sources():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#767676", "#FFFFFF") == pytest.approx(4.54, abs=0.01)  # the grey of WCAG's own examples
    assert lab("#FFFFFF", "normal") == pytest.approx([100, 0, 0], abs=0.02)
    for matrix in VISION.values():  # grey stays grey
        assert np.asarray(matrix).sum(axis=1) == pytest.approx([1, 1, 1], abs=1e-5)


@pytest.mark.parametrize(("mode", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_widgets_and_pictures_share_their_colours(mode, palette):
    theme = THEME[mode]
    assert (theme["backgroundColor"], theme["textColor"]) == (palette.ground, palette.ink)
    assert theme["chartCategoricalColors"] == list(palette.lines)
    assert theme["linkColor"] == CHOSEN[palette.dark]


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_of_the_theme_can_be_read(mode):
    theme = THEME[mode]
    for ground in grounds(mode):
        for name in ("textColor", "linkColor", "codeTextColor"):
            assert contrast(theme[name], ground) >= TEXT, (name, ground)
    assert contrast("#FFFFFF", theme["primaryColor"]) >= TEXT  # labels of buttons and chosen entries
    assert contrast(theme["blueTextColor"], theme["blueBackgroundColor"]) >= TEXT
    for ground in (theme["backgroundColor"], theme["sidebar"]["backgroundColor"]):
        assert contrast(theme["primaryColor"], ground) >= GRAPHIC  # tracks, ticks in boxes, the line under a tab


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_what_the_pages_fade_can_still_be_read(mode):
    """Every opacity of the shared style, on every ground; captions and chosen entries in their two colours."""
    theme, style = THEME[mode], STYLE
    faded = [float(v) for rule in re.findall(r"{([^}]*)}", style) for v in re.findall(r"opacity: ([\d.]+)", rule)]
    assert min(faded) < 1
    for opacity, ground in itertools.product(faded, grounds(mode)):
        assert contrast(seen_through(theme["textColor"], ground, opacity), ground) >= TEXT, (opacity, ground)
    pairs = re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", style)
    ring, strip, chosen, pointed, caption, banner, words = (pair[mode == "dark"] for pair in pairs)
    assert strip == theme["backgroundColor"]
    assert contrast(words, banner) >= TEXT
    assert contrast(ring, theme["sidebar"]["backgroundColor"]) >= GRAPHIC
    for colour, ground in itertools.product((pointed, caption), grounds(mode)):
        assert contrast(colour, ground) >= TEXT, (colour, ground)
    for ground in (theme["backgroundColor"], theme["sidebar"]["backgroundColor"]):
        tint = seen_through(theme["primaryColor"], ground, 0.1)  # the ground of a chosen segment
        assert contrast(chosen, ground) >= TEXT
        assert contrast(chosen, tint) >= TEXT


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_figures_can_be_read(palette):
    assert contrast(palette.ink, palette.ground) >= 7
    for colour in (palette.quiet, palette.good, palette.bad):  # all three are written in as well as drawn
        assert contrast(colour, palette.ground) >= TEXT
    for key in [c.key for c in privcov.methods()]:
        for line in range(3):
            assert contrast(pen_of(key, palette, line).colour, palette.ground) >= GRAPHIC
    assert contrast(palette.ink, dict(palette.diverging)[0.5]) >= 7


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_line_colours_stay_apart_without_colour_vision(palette, vision):
    pairs = {(a, b): distance(a, b, vision) for a, b in itertools.combinations(palette.lines, 2)}
    worst = min(pairs, key=pairs.get)
    assert pairs[worst] >= APART, worst
    assert distance(palette.good, palette.bad, vision) >= 2 * APART  # found against false, right against wrong
    ends = [colour for _, colour in palette.diverging]
    assert distance(ends[0], ends[-1], vision) >= 30  # negative against positive


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_shades_of_one_colour_stay_apart_without_colour_vision(palette, vision):
    """The lines of one method; half of the distance between methods, because dash, symbol and name differ as well."""
    for colour in range(len(palette.lines)):
        own = shades(colour, palette)
        assert own[0] == palette.lines[colour]
        for a, b in itertools.combinations(own, 2):
            assert distance(a, b, vision) >= APART / 2, (colour, a, b)


def test_black_or_white_can_be_read_on_every_grey_and_colour():
    for red, green, blue in itertools.product(range(0, 256, 17), repeat=3):
        ground = f"#{red:02X}{green:02X}{blue:02X}"
        assert our_contrast(readable(ground), ground) == pytest.approx(contrast(readable(ground), ground), rel=1e-3)
        assert contrast(readable(ground), ground) >= TEXT


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_methods_that_share_a_symbol_have_colours_far_apart(palette):
    """Twice the distance of any two lines, seen with normal vision: no two greens with one marker."""
    for a, b in itertools.combinations(LISTED, 2):
        one, other = pen_of(a.key, palette), pen_of(b.key, palette)
        if a.target == b.target and one.symbol == other.symbol:
            assert distance(one.colour, other.colour, "normal") >= 2 * APART, (a.key, b.key)
            assert one.dash != other.dash, (a.key, b.key)


@pytest.mark.parametrize("seed", range(20))
def test_no_two_lines_of_a_chart_share_colour_and_symbol(seed):
    """Any methods, each with any number of lines up to the 27 that shades and symbols allow."""
    rng = np.random.default_rng(seed)
    keys = rng.choice([c.key for c in privcov.methods()], size=rng.integers(1, 6), replace=False)
    lines = rng.permutation([key for key in keys for _ in range(rng.integers(1, 6))]).tolist()
    pens = pens_of(lines, LIGHT)
    assert len({(p.colour, p.symbol) for p in pens}) == len(lines)
    for key in keys:
        assert pens[lines.index(key)] == pen_of(key, LIGHT)
    assert len({(p.colour, p.symbol) for p in pens_of(["auto-cov"] * 27, LIGHT)}) == 27


@pytest.mark.parametrize("vision", VISION)
@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_used_together_in_one_chart_stay_apart(palette, vision):
    """By the distance of any two lines; grey and ink, whose lines are broken as well, by two thirds of it."""
    ink = palette.ink
    assert contrast(palette.faint, palette.ground) >= GRAPHIC
    own = pens_of(["auto-precision"] * 3, palette)
    charts = {
        "network": (palette.good, palette.bad, palette.faint),
        "roc": (own[0].colour, ink, palette.faint),
        "spectrum": tuple(pen(k, palette).colour for k in range(4)),
        "demonstration": (palette.bad, palette.good, ink),
        "published": tuple(published.colours(palette).values()),
    }
    for name, used in charts.items():
        for a, b in itertools.combinations(used, 2):
            assert distance(a, b, vision) >= (2 / 3 if {a, b} & {ink, palette.faint} else 1) * APART, (name, a, b)
    assert distance(own[0].colour, own[1].colour, vision) >= APART / 2


def test_every_method_has_a_pen_of_its_own():
    for target in ("covariance", "precision"):
        keys = [c.key for c in LISTED if c.target == target]
        pens = [pen_of(key, LIGHT) for key in keys]
        assert len({(p.dash, p.symbol) for p in pens}) == len(keys)  # without colour at all
    for a, b in itertools.combinations(LISTED, 2):
        one, other = pen_of(a.key, LIGHT), pen_of(b.key, LIGHT)
        if one.colour == other.colour:
            assert one.dash != other.dash, (a.key, b.key)
            assert one.symbol != other.symbol, (a.key, b.key)


@pytest.mark.parametrize("family", [
    ["auto-cov", "gaussian-cov", "wishart-difference", "laplace-cov", "wishart-approx"],
    ["auto-cov", "gaussian-cov", "separate-cov", "adaptive-cov", "em-cov", "coinpress", "projection"],
    ["dp-thresholding", "modified-dp-thresholding", "ldp-thresholding", "modified-ldp-thresholding"],
    ["auto-precision", "glasso-gaussian", "ridge-precision", "glasso-laplace", "glasso-wishart-approx",
     "glasso-wishart-pure", "glasso-sulq", "output-perturbation"],
])  # fmt: skip
@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_methods_drawn_together_differ_in_colour(family, palette):
    assert len({pen_of(key, palette).colour for key in family}) == len(family)


def test_a_method_nobody_listed_has_a_pen_that_moves_no_other():
    new = pen_of("a-method-of-next-year", LIGHT)
    assert new == pen_of("a-method-of-next-year", LIGHT)
    assert new.colour in LIGHT.lines
    assert new.dash in DASHES
    assert new.symbol in SYMBOLS


def test_lines_of_one_method_keep_its_hue_and_can_be_told_apart():
    pens = pens_of(["auto-cov", "gaussian-cov", "auto-cov lambda=0.1", "auto-cov"], LIGHT)
    assert pens[0] == pen_of("auto-cov", LIGHT)
    assert pens[1] == pen_of("gaussian-cov", LIGHT)
    mine = [pens[0], pens[2], pens[3]]
    for name in ("colour", "dash", "symbol"):
        assert len({getattr(p, name) for p in mine}) == 3


def _curve_pens(keys: list[str], palette: Palette) -> dict[str, tuple]:
    table = pd.DataFrame(
        [{"method": f"Label of {k}", "key": k, "x": x, "mean": 1 / x, "low": 0.5 / x, "high": 2 / x}
         for k in keys for x in (1.0, 2.0)]
    )  # fmt: skip
    picture = curves(
        table, palette, x="x", x_label="x", y_label="y", order=list(table["method"].unique()), labels={}, references=[]
    )
    lines = [t for t in picture.figure.data if t.mode == "lines+markers"]
    return {k: (t.line.color, t.line.dash, t.marker.symbol) for k, t in zip(keys, lines, strict=True)}


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_a_method_looks_the_same_in_every_figure(palette):
    """Whoever else is drawn, and in whatever order."""
    keys = [c.key for c in privcov.methods()]
    wanted = {k: pen_of(k, palette) for k in keys}
    for chosen in (keys, keys[::-1], keys[3:9]):
        for key, drawn in _curve_pens(chosen, palette).items():
            assert drawn == (wanted[key].colour, wanted[key].dash, wanted[key].symbol)
