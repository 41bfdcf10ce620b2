"""``privcov app`` of an installed wheel, from a folder with a space in its name: pages as in a checkout."""

import contextlib
import re
import socket
import sys
import tomllib

import pytest

from pages.common.frame import HOME
from tests.installed import ROOT, install
from tests.patience import patient
from tests.serving import free_port, healthy, running

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"]["light"]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    here, port = install(tmp_path_factory.mktemp("an installation")), free_port()
    environment = here.environment(PRIVCOV_TOKEN="off")
    command = [sys.executable, here.site / "bin" / "privcov", "app", f"--port={port}"]
    log = here.elsewhere / "log"
    with running(command, lambda: healthy(port), log, cwd=here.elsewhere, env=environment):
        yield f"http://127.0.0.1:{port}"


@pytest.mark.deep
def test_pages_draw_with_the_theme_and_ask_no_other_host(address, visit, settle):
    """Those that read files of the wheel. `visit` fails for an exception, an error in the console and another host."""
    page = visit("/", base=address)
    for label in (HOME, "Estimate", "Lessons", "Published results"):
        page.get_by_test_id("stSidebar").get_by_role("link", name=label, exact=True).click()
        settle(page)
        page.wait_for_url(re.compile("/$" if label == HOME else label.replace(" ", "_").replace("-", ".")))
        page.get_by_role("heading", level=1).wait_for()
        colour = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
        assert colour == f"rgb({', '.join(str(int(THEME['backgroundColor'][i : i + 2], 16)) for i in (1, 3, 5))})"


def test_it_listens_on_one_loopback_address_only(address):
    port = int(address.rpartition(":")[2])
    with contextlib.closing(socket.socket()) as other:
        other.settimeout(patient(2))
        assert other.connect_ex(("127.0.0.2", port)) != 0
