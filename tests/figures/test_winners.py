"""The map names every winner in words, colours are those of the registry, and text stays readable; the curve shows
the answer it was given."""

import numpy as np
import pandas as pd
import pytest

from privcov.figures.look import pen
from privcov.figures.palette import DARK, LIGHT, wash
from privcov.figures.winners import FULL, PALE, STRONG, winner_map

ORDER = ["auto-cov", "gaussian-cov", "laplace-cov"]
LABELS = {"auto-cov": "Auto (shrinkage)", "gaussian-cov": "Gaussian <b>", "zero": "Zero matrix"}


def cell(n, d, winner="auto-cov", ratio=1.5, clear=True, rivals=(), **more) -> dict:
    return {"n": n, "d": d, "winner": winner, "error": 0.1, "runner_up": "gaussian-cov", "second": 0.3,
            "ratio": ratio, "clear": clear, "rivals": rivals, "absent": (), "oracle": np.nan, **more}  # fmt: skip


CELLS = pd.DataFrame(
    [
        cell(100, 5),
        cell(100, 10, "zero", FULL),
        cell(1000, 5, clear=False, rivals=("gaussian-cov",)),
        cell(1000, 10, "gaussian-cov", np.inf),
        cell(10_000, 5, clear=False, rivals=("gaussian-cov", "zero")),
        cell(10_000, 10, "", np.nan, clear=False, runner_up="", absent=("auto-cov",)),
    ]
)


def picture(palette=LIGHT, cells=CELLS):
    return winner_map(cells, palette, x="n", y="d", x_label="n (rows)", y_label="d (columns)", order=ORDER,
                      labels=LABELS, trivial=("zero",), story="Of 6 cells: the story.")  # fmt: skip


def test_a_cell_tells_the_oracle_where_there_is_room_and_the_pointer_everywhere():
    one = pd.DataFrame([cell(100, 5, oracle=0.0612)])
    assert "0.1, oracle 0.0612" in picture(cells=one).figure.data[0].text[0][0]
    many = pd.DataFrame([cell(100 * k, 5, oracle=0.0612) for k in range(1, 9)])
    drawn = picture(cells=many).figure.data[0]
    assert "oracle" not in str(drawn.text)
    assert str(drawn.customdata).count("oracle of the eigenvalues: error 0.0612") == 8
    assert "oracle" not in str(picture().figure.data[0].text)


def test_every_cell_says_in_words_what_its_colour_says():
    words = picture().figure.data[0].text
    assert words.shape == (2, 3)
    assert words[0, 0] == "Auto (shrinkage)<br>1.50 ×"
    assert words[1, 0] == "Zero matrix<br>2.00 ×"
    assert words[0, 1].startswith("no clear winner<br>Auto (shrinkage)<br>Gaussian")
    assert words[1, 1].endswith("no error")
    assert words[0, 2] == "no clear winner<br>among 3"
    assert words[1, 2] == "no matrix"
    assert "<b>" not in "".join(words.ravel())


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_are_those_of_the_registry_and_deepen_with_the_margin(palette):
    shapes = picture(palette).figure.layout.shapes
    fills = [s.fillcolor for s in shapes if s.type == "rect"]
    strength = PALE + (STRONG - PALE) * np.log(1.5) / np.log(FULL)
    assert fills[0] == wash(pen(0, palette).colour, strength)
    assert fills[1] == wash(palette.quiet, STRONG)
    assert fills[3] == wash(pen(1, palette).colour, STRONG)
    # Hatched, and without a colour, exactly where nobody clearly wins.
    assert [s.type for s in shapes].count("path") == 3
    assert [f == "rgba(0,0,0,0)" for f in fills] == [False, False, True, False, True, True]


def test_the_legend_names_the_winners_only():
    names = [t.name for t in picture().figure.data[1:]]
    assert names == ["Auto (shrinkage)", "Gaussian <b>".replace("<", "&lt;").replace(">", "&gt;"), "Zero matrix"]


def test_the_text_alternative_carries_the_story():
    assert picture().alt == "Map of the best method over n (rows) and d (columns). Of 6 cells: the story."


def _luminance(rgb) -> float:
    c = np.asarray(rgb) / 255
    return float(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=float)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("index", range(8))
def test_text_on_the_strongest_colour_keeps_the_contrast_of_wcag(palette, index):
    colour = pen(index, palette).colour if index < 8 else palette.quiet
    ground = STRONG * _rgb(colour) + (1 - STRONG) * _rgb(palette.ground)
    light, dark = sorted((_luminance(ground), _luminance(_rgb(palette.ink))), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_method_with_settings_is_drawn_like_its_key():
    cells = pd.DataFrame([cell(100, 5, "gaussian-cov repair=none")])
    assert picture(cells=cells).figure.layout.shapes[0].fillcolor.startswith(wash(pen(1, LIGHT).colour, 0)[:-2])
