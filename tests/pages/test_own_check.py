"""The owner's check on the step Release: seen before anything is spent, and in nothing that is kept or handed on."""

import json

from privcov.ledger import Ledger
from tests.pages.sent import everything, plain
from tests.pages.test_own_data import (
    declaration,
    declared,
    fill,
    given,
    go,
    ledger,  # noqa: F401 - every ledger here is a temporary one
    limited,
    press,
    table,
)

MARK = "never hand it on"


def odd() -> bytes:
    """The weights with a decimal comma, all but a whole number among them."""
    first, *lines = table().decode().splitlines()
    cells = [line.split(",") for line in lines]
    return "\n".join([first, *(f'{p},{a},"{b.replace(".", ",")}",{c}' for p, a, b, c in cells), ""]).encode()


def at_release(raw: bytes):
    return limited(press(fill(given(raw), declaration()), "Declare"))


def labels(at) -> list[str]:
    return [b.label for b in at.button]


def test_the_file_is_checked_when_asked_and_the_verdict_is_marked():
    at = limited(declared())
    assert MARK not in everything(at)
    press(at, "Check the file")
    assert everything(at).count(MARK) == 1
    (tag,) = (h.proto.body for h in at.get("html") if MARK in h.proto.body)
    assert tag.count("Owner") == 1
    assert any("All fine: every cell is a value of its column or missing" in plain(m.value) for m in at.markdown)
    assert not at.checkbox
    press(at, "Release ...")
    assert "Confirm and release" in labels(at)


def test_release_checks_first_and_the_dialog_repeats_the_verdict():
    at = press(limited(declared()), "Release ...")
    assert "Confirm and release" in labels(at)
    assert any("All fine" in plain(m.value) for m in at.markdown)


def test_a_column_without_a_number_is_ticked_or_left_out_before_anything_is_paid(ledger):  # noqa: F811
    at = press(at_release(odd()), "Release ...")
    assert "Confirm and release" not in labels(at)
    assert any("hardly a readable number in 'weight'" in plain(m.value) for m in at.markdown)
    press(at, "Release ...")
    assert "Confirm and release" not in labels(at)
    assert any("tick each of them above" in e.value for e in at.error)
    assert Ledger(ledger).entries() == ()
    at.checkbox[0].check().run()
    press(at, "Release ...")
    press(at, "Confirm and release")
    (entry,) = Ledger(ledger).entries()
    assert entry.state == "stored"
    kept = json.dumps(entry.request) + str(Ledger(ledger).stored(entry.token))
    assert "readable" not in kept
    assert "comma" not in kept
    assert MARK not in everything(at)
    assert at.session_state["own"].checked is None


def test_what_was_found_goes_with_the_step_and_is_not_in_the_address():
    at = press(at_release(odd()), "Check the file")
    assert at.session_state["own"].checked is not None
    assert "readable" not in str(at.query_params)
    go(at, "plan")
    assert at.session_state["own"].checked is None
    go(at, "release")
    assert "Check the file" in labels(at)
    assert not at.checkbox
