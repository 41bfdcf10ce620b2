"""An analyst who only gets a zip, with a real mouse: the check in words, a regression, and one that is refused."""

import pytest

import privcov
from tests.browser.test_own_data import step
from tests.browser.test_own_facts import at_every_width, choose, mouse
from tests.pages.test_read_bundle import bundle
from tests.serving import serving

ON = ("age", "pulse", "glucose", "sleep")


@pytest.fixture(scope="module")
def zips(tmp_path_factory) -> dict[str, bytes]:
    """One with hardly any noise, and one whose noise is many times as large as the variances."""
    return {name: bundle(tmp_path_factory.mktemp(name), rho) for name, rho in (("clear", 5.0), ("noisy", 1e-7))}


def drop(page, settle, raw: bytes) -> None:
    page.locator("input[type=file]").set_input_files({"name": "b.zip", "mimeType": "application/zip", "buffer": raw})
    settle(page)


def words(page) -> str:
    return page.get_by_test_id("stMain").inner_text().replace("\u00a0", " ")


def test_a_regression_and_a_refused_one_from_a_zip_alone(zips, visit, settle, tmp_path):
    """On a server for everybody: one column on four others has the numbers of Python, at three widths."""
    with serving(tmp_path, PRIVCOV_HOSTED="1") as server:
        page = visit("/Your_data", base=server.address)
        assert page.locator("input[type=file]").count() == 0
        step(page, settle, "Read a bundle")
        assert "door=bundle" in page.url
        drop(page, settle, zips["clear"])
        assert "The bundle is consistent" in words(page)
        step(page, settle, "Regression")
        choose(page, settle, "Explain", "weight")
        box = page.get_by_test_id("stMultiSelect").locator("input")
        mouse(page, settle, page.get_by_role("button", name="Remove height", exact=True))
        mouse(page, settle, box)
        mouse(page, settle, page.get_by_role("option", name="sleep", exact=True))
        page.keyboard.press("Escape")
        settle(page)
        (tmp_path / "b.zip").write_bytes(zips["clear"])
        found = privcov.answers(privcov.open_bundle(tmp_path / "b.zip")).regress("weight", list(ON))
        r = found.attrs["r_squared"]
        assert f"R squared {r['estimate']:.2f}, from {r['ci_low']:.2f} to {r['ci_high']:.2f}" in words(page)
        assert found.attrs["coverage"] in words(page)
        at_every_width(page, settle, "Regression")
        with page.expect_download() as download:
            mouse(page, settle, page.get_by_role("button", name="This answer as CSV"))
        lines = download.value.path().read_text().splitlines()
        assert [line.split(",")[0] for line in lines[1:]] == list(ON)
        assert [float(line.split(",")[1]) for line in lines[1:]] == found["estimate"].tolist()

        drop(page, settle, zips["noisy"])
        step(page, settle, "Regression")
        assert "Not identified: 4 of 4." in words(page)
        assert "No slope can be given under this noise" in words(page)
        assert page.locator(".st-key-own-regression").count() == 0

        drop(page, settle, zips["clear"][:-40])
        assert "No answer is given from this bundle" in words(page)
        assert page.get_by_role("radio", name="Regression").count() == 0
        assert not list(tmp_path.glob("ledger*"))
        page.close()
