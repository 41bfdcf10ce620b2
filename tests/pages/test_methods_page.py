"""The gallery shows what the registry holds; the converter says what the accountant says."""

import math
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

import privcov
from pages.methods import converter
from pages.methods.converter import shown
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, GaussianDP, PureDP, ZCDP
from privcov.plots.words import chance
from tests.patience import patient

APP = str(Path(__file__).resolve().parents[2] / "app.py")
CARDS = privcov.methods()


def open_page(page: str = "pages/7_Methods.py", **query: str) -> AppTest:
    at = AppTest.from_file(APP, default_timeout=patient(30))
    at.switch_page(page)
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def told(at: AppTest) -> str:
    return "\n".join(e.value for e in (*at.markdown, *at.caption))


def listed(at: AppTest) -> list[str]:
    """The names of the cards: those that open, and inside the historical ones those that stand there."""
    names = []
    for box in at.main.expander:
        if box.label.startswith("**"):
            names.append(box.label.split("**")[1])
        else:
            names += [m.value.split("\n")[0].removeprefix("### ") for m in box.markdown if m.value.startswith("### ")]
    return names


def doors(at: AppTest) -> list[dict]:
    """The query of every card's link, in the order of the cards."""
    return [dict(parse_qsl(link.proto.query_string)) for link in at.main.get("page_link")]


# --- gallery ------------------------------------------------------------------------------------------------


def test_every_registered_method_has_its_card():
    at = open_page()
    assert sorted(listed(at)) == sorted(c.label for c in CARDS)
    words = told(at)
    formulas = [element.value for element in at.latex]
    for card in CARDS:
        for text in (card.summary, card.avoid, card.reference, card.differs):
            assert text in words
        assert any(card.formula in formula for formula in formulas)


def test_every_parameter_stands_in_a_table():
    at = open_page()
    tables = [table.value for table in at.table]
    assert len(tables) == sum(bool(c.parameters) for c in CARDS)
    labels = [label for table in tables for label in table["Setting"]]
    assert sorted(labels) == sorted(spec.label for c in CARDS for spec in c.parameters)


def test_references_come_last():
    at = open_page()
    standing = {c.label: c.standing for c in CARDS}
    order = [standing[label] == "reference" for label in listed(at)]
    assert order == sorted(order)


def test_historical_methods_are_folded():
    at = open_page()
    labels = [c.label for c in CARDS if c.standing == "historical"]
    (box,) = [box for box in at.main.expander if box.label.startswith("Historical")]
    folded = [m.value.split("\n")[0] for m in box.markdown if m.value.startswith("### ")]
    assert folded == [f"### {label}" for label in labels]


def test_every_card_is_closed_until_it_is_opened_or_is_the_only_one():
    at = open_page()
    assert not any(box.proto.expanded for box in at.main.expander)
    standing = {c.label: c.standing for c in CARDS}
    shown = [box.label for box in at.main.expander if box.label.startswith("**")]
    assert all(f"[{standing[label.split('**')[1]]}]" in label for label in shown)


@pytest.mark.parametrize("kind", ["zcdp", "approx", "pure"])
def test_each_link_opens_its_method_under_a_guarantee_it_can_give(kind):
    at = open_page(kind=kind, seed="7", **{"data.d": "5", "data.n": "300"})
    by_label = {c.label: c for c in CARDS}
    for label, query in zip(listed(at), doors(at), strict=True):
        card = by_label[label]
        assert query["method"] == card.key
        assert query["seed"] == "7"  # the rest of the study is kept
        assert query["data.d"] == "5"
        there = open_page("pages/1_Estimate.py", **query)
        study = there.session_state["study"]
        assert study.method == card.key
        assert not card.refuses(study.kind)
        assert card.refuses(kind) or study.kind == kind
        assert not there.error


def test_the_filters_keep_what_they_say():
    at = open_page()
    at.button_group(key="methods-kind").set_value("pure").run()
    assert sorted(listed(at)) == sorted(c.label for c in CARDS if not c.refuses("pure"))
    family = CARDS[0].family
    at.button_group(key="methods-family").set_value(family).run()
    assert listed(at) == [c.label for c in CARDS if c.family == family and not c.refuses("pure")]
    at.button_group(key="methods-kind").set_value("All").run()
    assert listed(at) == [c.label for c in CARDS if c.family == family]
    assert not at.exception


def test_a_filter_that_keeps_nothing_says_so():
    at = open_page()
    combinations = [
        (f, k)
        for f in {c.family for c in CARDS}
        for k in ("pure", "approx", "zcdp")
        if all(c.family != f or c.refuses(k) for c in CARDS)
    ]
    if not combinations:
        pytest.skip("every family gives every guarantee")
    family, kind = combinations[0]
    at.button_group(key="methods-family").set_value(family)
    at.button_group(key="methods-kind").set_value(kind).run()
    assert listed(at) == []
    assert any("No such method" in box.value for box in at.info)


# --- converter, through the page ----------------------------------------------------------------------------


def convert(kind: str, value: float, k: int = 1, g: int = 1, delta: float = 1e-6, own: float = 1e-6) -> AppTest:
    at = open_page(tab="convert")
    at.button_group(key="convert-kind").set_value(kind).run()
    at.number_input(key=f"convert-{kind}-{converter.LEVEL_NAMES[kind]}").set_value(value)
    at.number_input(key="convert-releases").set_value(k)
    at.number_input(key="convert-rows").set_value(g)
    at.select_slider(key="convert-delta").set_value(delta)
    if kind == "approx":
        at.select_slider(key="convert-own-delta").set_value(own)
    at.run()
    assert not at.exception
    return at


def numbers(at: AppTest) -> dict[str, str]:
    return {m.label: m.value for m in at.metric}


def test_zcdp_adds_rho_and_squares_the_rows():
    at = convert("zcdp", 0.1, k=10, g=3)
    found = numbers(at)
    assert found["Releases: 10, rows per person: 3"] == "9-zCDP"  # 10 * 3^2 * 0.1
    assert found["Rho"] == "9"
    assert found["Epsilon, tight"] == shown(accounting.zcdp_to_approx(9.0, 1e-6))
    simple = 9 + 2 * math.sqrt(9 * math.log(1e6))
    assert f"Simple: **{shown(simple)}**" in told(at)
    assert float(found["Epsilon, tight"]) < simple


def test_pure_epsilon_adds_but_zcdp_can_be_smaller():
    found = numbers(convert("pure", 1.0, k=2))
    assert found["Releases: 2, rows per person: 1"] == "2-DP"
    assert found["Epsilon, basic"] == "2"
    assert found["Rho"] == "1"  # 2 * 1^2 / 2
    many = convert("pure", 0.1, k=400)
    # 400 * 0.1 = 40, but rho = 400 * 0.005 = 2
    assert numbers(many)["Epsilon, through zcdp"] == shown(accounting.zcdp_to_approx(2.0, 1e-6))
    assert float(numbers(many)["Epsilon, through zcdp"]) < 40
    assert "Basic: **40**" in told(many)
    assert numbers(many)["Rho"] == "2"


def test_gaussian_mu_grows_with_the_root_of_the_releases():
    at = convert("gdp", 0.5, k=4, g=2)
    found = numbers(at)
    assert found["Releases: 4, rows per person: 2"] == "2-GDP"  # 0.5 * 2 * sqrt(4)
    assert found["Rho"] == "2"  # mu^2 / 2
    assert found["Epsilon, exact"] == shown(accounting.epsilon_of_gaussian(1e-6, 2.0))
    assert f"Through zCDP: **{shown(accounting.zcdp_to_approx(2.0, 1e-6))}**" in told(at)
    assert [m.value for m in at.metric if m.label == "Right guesses"] == [
        chance(0.59871),
        chance(0.84135),
    ]  # Phi(.25), Phi(1)


def test_a_pair_adds_epsilon_and_delta():
    at = convert("approx", 1.0, k=5, own=1e-8, delta=1e-6)
    found = numbers(at)
    assert found["Releases: 5, rows per person: 1"] == "(5, 5 × 10⁻⁸)-DP"
    assert found["Epsilon, basic"] == "5"
    assert any("No zCDP follows" in box.value and "Choose zCDP" in box.value for box in at.info)


def test_a_pair_says_nothing_at_a_smaller_delta_and_names_the_remedy():
    at = convert("approx", 1.0, k=5, own=1e-6, delta=1e-8)
    assert any("Nothing follows at delta = 10⁻⁸" in box.value and "5 × 10⁻⁶ or more" in box.value for box in at.info)
    assert not at.error
    assert "Rho" not in numbers(at)


@pytest.mark.parametrize(("k", "g", "said"), [(1, 100, "No guarantee|no guarantee"), (1000, 1, "add up to")])
def test_a_delta_that_reaches_one_is_an_error_with_a_remedy(k, g, said):
    at = convert("approx", 1.0, k=k, g=g, own=0.1)
    assert len(at.error) == 1
    assert any(part in at.error[0].value for part in said.split("|"))
    assert "zCDP" in at.error[0].value.replace("ZCDP", "zCDP")
    assert at.number_input(key="convert-releases").value == k  # the rest of the page stays


def test_before_is_one_release_and_one_row():
    at = convert("pure", 1.0, k=3, g=2)
    before, after = (m.value for m in at.metric if m.label == "Right guesses")
    assert before == chance(1 / (1 + math.exp(-1)))
    assert after == chance(1 / (1 + math.exp(-6)))
    meters = [element.proto.body for element in at.get("html") if 'role="meter"' in element.proto.body]
    assert len(meters) == 2


@pytest.mark.parametrize("kind", list(converter.NAMES))
@pytest.mark.parametrize("value", [1e-6, 100.0])
@pytest.mark.parametrize(("k", "g"), [(1, 1), (1000, 100)])
def test_the_ends_of_the_controls_give_numbers_or_a_sentence(kind, value, k, g):
    for delta in (1e-12, 0.1):
        at = convert(kind, value, k, g, delta=delta, own=delta)
        assert at.metric or at.error


@pytest.mark.parametrize(
    "query",
    [{"rho": "1000"}, {"kind": "pure", "epsilon": "1000"}, {"kind": "approx", "delta": "0.5"}, {"delta": "1e-15"}],
)
def test_it_starts_at_the_study_whatever_that_is(query):
    at = open_page(**query, tab="convert")
    assert at.session_state["convert-kind"] == query.get("kind", "zcdp" if "rho" in query else "approx")
    assert not at.error


# --- converter, the functions -------------------------------------------------------------------------------


def test_repeating_is_composing_events():
    """The sums against the accountant's own, where it has one: Laplace events and Gaussian events."""
    from privcov.core.guarantees import Event

    laplace = (Event("a", "b", "laplace", "l1", 0.1, 1.0, "p"),) * 7
    gauss = (Event("a", "b", "gaussian", "l2", 0.1, 1.0, "p"),) * 7
    assert accounting.self_compose(PureDP(0.1), 7) == accounting.compose(laplace, PureDP(1.0))
    mu = accounting.self_compose(GaussianDP(0.1), 7).mu
    assert mu == pytest.approx(0.1 * math.sqrt(7), rel=1e-15)
    assert accounting.compose(gauss, ZCDP(1.0)).rho <= mu**2 / 2 * (1 + 1e-15)


@pytest.mark.parametrize("k", [1, 2, 3, 10, 999])
def test_repeating_never_rounds_down(k):
    from fractions import Fraction

    for x in (0.1, 1 / 3, 0.7, 1e-5):
        assert Fraction(accounting.self_compose(PureDP(x), k).epsilon) >= k * Fraction(x)
        assert Fraction(accounting.self_compose(ZCDP(x), k).rho) >= k * Fraction(x)
        assert Fraction(accounting.self_compose(GaussianDP(x), k).mu) ** 2 >= k * Fraction(x) ** 2
        pair = accounting.self_compose(ApproxDP(x, 1e-7), k)
        assert Fraction(pair.epsilon) >= k * Fraction(x)
        assert Fraction(pair.delta) >= k * Fraction(1e-7)


def test_rows_before_releases_gives_the_smaller_delta():
    start = ApproxDP(0.5, 1e-9)
    other = accounting.group(accounting.self_compose(start, 4), 3)
    ours = converter.whole(start, 4, 3)
    assert ours.epsilon == other.epsilon
    assert ours.delta < other.delta
    by_hand = 4 * 1e-9 * (1 + math.exp(0.5) + math.exp(1.0))
    assert ours.delta == pytest.approx(by_hand, rel=1e-9)


def test_the_smallest_route_comes_first():
    for start in (PureDP(0.1), PureDP(3.0), ZCDP(0.2), GaussianDP(0.4)):
        for k in (1, 50):
            values = [r.value for r in converter.as_approx(start, converter.whole(start, k, 1), k, 1, 1e-6)]
            assert len(values) == 2
            assert values == sorted(values)


def test_many_pure_releases_leave_a_smaller_chance_through_zcdp():
    start = PureDP(0.05)
    given = converter.whole(start, 400, 1)  # epsilon 20, rho 0.5
    best = converter.chance(start, given, 400, 1)
    assert best.value == accounting.attacker_success(ZCDP(400 * accounting.pure_to_zcdp(0.05)))
    assert best.value < accounting.attacker_success(given)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (0.30000000000000004, "0.3"),
        (2.14201, "2.143"),
        (9.0, "9"),
        (31.3049, "31.31"),
        (450.0, "450"),
        (5e-8, "5 × 10⁻⁸"),
        (1e-12, "10⁻¹²"),
        (1e-300, "< 10⁻²⁰"),
    ],
)
def test_shown_numbers_never_understate(value, text):
    assert shown(value) == text
