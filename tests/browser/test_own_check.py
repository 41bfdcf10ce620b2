"""The owner's check with a real mouse: a column with decimal commas is ticked, or left out, before anything is paid."""

from privcov.ledger import Ledger
from tests.browser.test_own_data import bring, declared, plan_and_ask, press, rows_of
from tests.serving import serving


def test_a_column_with_decimal_commas_is_asked_about_before_it_is_paid(visit, settle, tmp_path):
    first, *lines = rows_of(300).decode().splitlines()
    cells = (line.split(",") for line in lines)
    raw = "\n".join([first, *(f'{p},{a},"{b.replace(".", ",")}",{c}' for p, a, b, c in cells), ""]).encode()
    with serving(tmp_path) as server:
        page = visit("/Your_data", base=server.address, height=1500)
        bring(page, settle, raw, declared())
        press(page, settle, "Declare")
        plan_and_ask(page, settle, limit="0.15")
        panel = page.locator(".st-key-own-checked")
        panel.get_by_text("hardly a readable number in 'weight'").wait_for()
        assert "never hand it on" in panel.inner_text()
        assert page.get_by_role("dialog").count() == 0
        panel.get_by_text("Column by column").click()
        settle(page)
        assert "declare the decimal mark of the file" in panel.inner_text()
        assert "A release needs about" in panel.inner_text()
        assert "weight" not in page.url

        panel.get_by_text("Release 'weight' as it is").click()
        settle(page)
        press(page, settle, "Release ...")
        dialog = page.get_by_role("dialog")
        assert "hardly a readable number" in dialog.inner_text()
        page.keyboard.press("Escape")
        settle(page)
        assert Ledger(tmp_path / "ledger.sqlite").entries() == ()

        press(page, settle, "Leave them out")
        press(page, settle, "Declare")
        page.get_by_text("Declared: 2 columns").wait_for()
        plan_and_ask(page, settle)
        page.get_by_role("dialog").get_by_text("All fine: ").wait_for()
        page.get_by_role("button", name="Confirm and release").click()
        page.get_by_text("one noisy measurement. Looking at it").wait_for()
        settle(page)
        (entry,) = Ledger(tmp_path / "ledger.sqlite").entries()
        assert entry.request["facts"]["columns"] == ["age", "marrow_quotient"]
        page.close()
