"""One way to write a percentage and one to write a small number, in every page and figure."""

import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from privcov.attacks import disclosure
from privcov.core import accounting
from privcov.core.guarantees import GaussianDP, PureDP, ZCDP
from privcov.core.words import chance, percent, plain, powers

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")), *sorted((ROOT / "privcov/plots").glob("*.py"))]
MAX_RAISED = "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"


def number(text: str) -> Decimal:
    return Decimal(text.removesuffix("\u00a0%").replace(",", ""))


@pytest.mark.parametrize(
    "value", [*np.random.default_rng(0).uniform(-1.5, 25, 100).tolist(), 0, 1, 0.1, 1e-07, 0.99999]
)
def test_a_percentage_is_the_nearest_and_a_bound_stays_on_its_side(value):
    """Half of the last shown digit at most; a bound within one digit, on its own side."""
    exact = Decimal(f"{100 * value:.12g}")
    near, most, least = (number(percent(value, bound)) for bound in ("", "at most", "at least"))
    step = Decimal(1) if abs(exact) >= 1000 else Decimal("0.1")
    assert abs(near - exact) <= step / 2
    assert least <= exact <= most
    assert most - least <= step


def test_only_nothing_is_0_percent_and_only_all_is_100():
    assert (percent(0), percent(-0.0), percent(1), percent(0.1)) == ("0\u00a0%", "0\u00a0%", "100\u00a0%", "10\u00a0%")
    for away in 10.0 ** -np.arange(2, 9):
        assert number(percent(away)) > 0
        assert number(percent(1 - away)) < 100
    assert percent(1e-9 / 2) != "0\u00a0%"
    assert percent(25.678) == "2,568\u00a0%"
    assert percent(float("nan")) == percent(float("inf")) == "undefined"


@pytest.mark.parametrize("value", [1e-6, 2.5e-7, 1e-300, -3e-9, 1e8, 4.56e12, 0.25, 1e-4])
def test_a_power_of_ten_is_the_number(value):
    text = powers(value)
    assert "e" not in text
    found = re.fullmatch(rf"(?:(-?[\d.]+) × )?10([{MAX_RAISED}]+)", text)
    power = found[2].translate(str.maketrans(MAX_RAISED, "-0123456789")) if found else "0"
    assert float(f"{(found[1] or 1) if found else text}e{power}") == pytest.approx(value, rel=1e-2)
    assert (
        float(plain(value).replace(",", "")) == pytest.approx(value) if not found else plain(value).startswith(text[:1])
    )


def test_a_chance_is_rounded_up_and_one_word_where_it_is_nearly_certain():
    """Both ways of writing it agree: the pages', and that of the sentences of the audit."""
    for success in (0.5, 0.73105, 0.9998, 0.9999):
        assert number(chance(success)) >= Decimal(f"{100 * success:.12g}")
        assert chance(success, most=True) == f"at most {chance(success)}"
    for nearly in (0.99991, 0.99999994, 1 - 1e-12):
        assert (chance(nearly), chance(nearly, most=True)) == ("over 99.99\u00a0%", "a bound over 99.99\u00a0%")
    assert (chance(1.0), chance(1.0, most=True)) == ("100\u00a0%", "at most 100\u00a0%")
    for claim in (PureDP(1.0), PureDP(12.0), GaussianDP(9.0), ZCDP(0.1)):
        assert chance(accounting.attacker_success(claim)) in disclosure.sentences(claim, 0.1, 0.001)[0]
