"""Absurd values in an address or a saved plan: each gets one sentence, and the page draws with the default.

The table is fixed, and every name that an address or a study knows meets every value of it.
"""

import json
from collections.abc import Callable

import pytest

import privcov
from pages.common import address
from pages.common.study import from_query
from privcov.data_sources.base import SOURCES
from privcov.estimators.base import METHODS

TEXTS = (
    "1e999", "-1e999", "inf", "-inf", "nan", "1e308", "-1e308", "-1", "0", "5e-324", "1" + 18 * "0", 400 * "9",
    5000 * "9", "", " ", "x" * 5000, "0x10", "1_000", "1,5", "None", "True", "[]", "{}", "<b>x</b>", "\u0661", "1e5e5",
    "--1", "%00", "\0",
)  # fmt: skip
LONGEST = 800  # letters of a sentence: that of the metrics lists all of them
PYTHON = ("cannot convert", "invalid literal", "could not", "Exceeds the limit", "NoneType")


def is_a_sentence(text: str) -> bool:
    return (
        text.endswith((".", "?"))
        and "\n" not in text
        and len(text) < LONGEST
        and not any(word in text for word in PYTHON)
    )


def sentence(read: Callable[[str], object], text: str) -> str:
    """What ``read`` says of the text; "" where it reads a value. Anything but a ValueError goes through."""
    try:
        read(text)
    except ValueError as problem:
        return str(problem)
    return ""


def names() -> list[tuple[str, dict[str, str]]]:
    """Everything an address of a study can say, with what else it takes to say it."""
    plain = (
        "source",
        "method",
        "kind",
        "rho",
        "epsilon",
        "delta",
        "bound",
        "seed",
        "rows",
        "calibration",
        "neighbours",
    )
    found: list[tuple[str, dict[str, str]]] = [(name, {}) for name in plain]
    for part, cards in (("data", SOURCES.all()), ("method", METHODS.all())):
        for card in cards:
            own = {"source" if part == "data" else "method": card.key}
            found += [(f"{part}.{spec.name}", own) for spec in card.parameters]
    return found


def test_every_name_of_an_address_meets_every_absurd_value():
    left_out = 0
    for name, own in names():
        for text in TEXTS:
            study, problems = from_query(own | {name: text})
            assert study.method_key() in [card.key for card in METHODS.all()]
            assert len(problems) <= 2, (name, text, problems)
            assert all(is_a_sentence(problem) for problem in problems), (name, text[:40], problems)
            left_out += len(problems)
    assert left_out > 20 * len(names())


@pytest.mark.parametrize("code", [
    address.number(0, 10, whole=True), address.number(-1e6, 1e6, whole=False),
    address.switch(),
    address.one_of(["a", "b"]), address.several_of(["a", "b"]), address.free_text(),
])  # fmt: skip
def test_every_kind_of_widget_reads_a_value_or_says_a_sentence(code):
    for text in (*TEXTS, ",".join(TEXTS), ",", ",,", "1,"):
        said = sentence(code.read, text)
        assert not said or is_a_sentence(said), text[:40]
        assert said or code.read(code.write(code.read(text))) == code.read(text)


# --- studies ------------------------------------------------------------------------------------------------

PLAN = privcov.Plan(
    source="ar1-covariance", source_params={"n": 30, "d": 2}, guarantees=[privcov.ZCDP(0.1), privcov.ApproxDP(1, 1e-6)],
    methods=["auto-cov", ("gaussian-cov", {"repair": "none"})], vary={"d": [2, 3], "row_bound": [1.0]}, replicates=2,
)  # fmt: skip
VALUES = (
    "1e999", "-1e999", "NaN", "Infinity", "1e308", "-1e308", "-1", "0", "1.5", "5e-324", "1" + 18 * "0", 300 * "9",
    5000 * "9", "null", "true", '""', '"' + "x" * 5000 + '"', '"1"', "[]", "{}", "[[]]", "[null]", '[1, "a"]',
    '{"a": 1}',
    "[1e999]", "[" + 18 * "9" + "]", '{"n": 1e999}', '{"d": [1e999]}', '{"row_bound": [1e308]}',
)  # fmt: skip


def leaves(found: object, path: tuple = ()) -> list[tuple]:
    """Where a value stands in a plan: fields, entries of lists, and what is in them."""
    inside = found.items() if isinstance(found, dict) else enumerate(found) if isinstance(found, list) else ()
    return [path, *(place for name, value in inside for place in leaves(value, (*path, name)))]


def with_value(found: object, path: tuple) -> object:
    """The plan with a mark in one place."""
    if not path:
        return "@here"
    copied = dict(found) if isinstance(found, dict) else list(found)
    copied[path[0]] = with_value(copied[path[0]], path[1:])
    return copied


def test_every_place_of_a_study_meets_every_absurd_value():
    plain = json.loads(PLAN.to_json()) | {"row_bound": 1.0, "training": None}
    places = leaves(plain)
    assert len(places) > 24
    refused = 0
    for path in places:
        for value in VALUES:
            text = json.dumps(with_value(plain, path)).replace('"@here"', value)
            if said := sentence(privcov.Plan.from_json, text):
                refused += 1
                assert is_a_sentence(said), (path, value[:40])
                continue
            plan = privcov.Plan.from_json(text)
            assert 1 <= plan.steps <= 10**9, (path, value[:40])
            assert isinstance(plan.seed, int)
            assert privcov.Plan.from_json(plan.to_json()) == plan
    assert refused > 0.7 * len(places) * len(VALUES)
