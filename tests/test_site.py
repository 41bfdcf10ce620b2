"""`privcov app site`: the lessons as files, whole, with one script of their own that fetches nothing."""

import contextlib
import http.client
import json
import socket
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pages.common import study_results
from pages.common.study import Study
from pages.lessons import demos, player, site
from pages.lessons.catalogue import LESSONS, NUMBERS
from pages.lessons.simulated import SEED
from privcov.cli import site as command
from privcov.core.words import percent
from privcov.metrics.errors import error
from privcov.plots.palette import LIGHT
from tests.exhaustive import some_of
from tests.patience import patient

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The folder as the command writes it."""
    out = tmp_path_factory.mktemp("site") / "a new folder"
    done = subprocess.run(
        [sys.executable, "-m", "privcov", "app", "site", out], cwd=ROOT, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=patient(240),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(out / "index.html")
    assert done.stderr == "", "no warnings of a page that is not there"
    return out


class Read(HTMLParser):
    """The elements of a page that the tests ask about."""

    def __init__(self, text: str):
        super().__init__()
        self.tags, self.links, self.controls, self.fetched = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.append(tag)
        if tag == "a":
            self.links.append(named["href"])
        elif tag == "input":
            self.controls.append(named)
        elif not all(named.get(place, "data:").startswith("data:") for place in ("src", "href")):
            self.fetched.append(named)


def test_every_lesson_has_its_file_and_every_link_a_target(folder):
    names = {path.name for path in folder.iterdir()}
    assert names == {"index.html", "words.html", *map(site.name, (*NUMBERS, *demos.BY_KEY))}
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3e6
    for path in folder.iterdir():
        page = Read(path.read_text(encoding="utf-8"))
        others = {site.name(key) for key in demos.BY_KEY}
        assert set(page.links) - others == names - others
        assert others & set(page.links)
        assert page.tags.count("script") == (path.name != "words.html")
        assert page.fetched == []


def played(path: Path) -> dict:
    text = path.read_text(encoding="utf-8")
    return json.JSONDecoder().raw_decode(text, text.index("mount({data: ") + len("mount({data: "))[0]


@pytest.mark.parametrize("number", some_of(NUMBERS, 0, 4, 9))
def test_a_file_plays_what_the_page_plays(folder, number):
    given = played(folder / site.name(number))
    assert given == json.loads(json.dumps(player.lesson_content(number, dark=False, draws=player.DRAWS)))
    assert len(given["shows"]) == (player.DRAWS if LESSONS[number].draws else 1)


@pytest.mark.parametrize("key", demos.BY_KEY)
def test_a_demonstration_is_that_of_the_page(folder, key):
    assert played(folder / site.name(key)) == json.loads(json.dumps(demos.demonstration_content(key, False, SEED)))


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_demonstration_is_that_of_home(epsilon):
    """The very matrices and numbers that the page computes for its own study."""
    demo = Study(data=(("n", 2000),), kind="approx", epsilon=epsilon)
    data, rel = study_results.dataset(demo), study_results.release(demo, method="gaussian-cov")
    found = site.at_home(epsilon)
    released = found.pictures[0][2].figure.data[1]
    assert released.z == pytest.approx(rel.matrix, rel=1e-5, abs=1e-6)
    assert released.colorscale[0][1] == LIGHT.diverging[0][1]
    assert found.sentence == (
        f"Error of the release: **{percent(error(rel, data, relative=True))}**. "
        f"Attacker's best chance: **{percent(rel.attacker_success, 'at most')}**."
    )


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "out").write_text("mine")
    done = subprocess.run(
        [sys.executable, "-m", "privcov", "app", "site", tmp_path / "out"], cwd=ROOT, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=patient(60),
    )  # fmt: skip
    assert done.returncode
    assert "is a file. Name a folder." in done.stderr
    assert (tmp_path / "out").read_text() == "mine"


def test_a_class_is_served_the_files_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVCOV_CACHE_DIR", str(tmp_path))
    (tmp_path / "secret.txt").write_text("4711")
    written = []
    monkeypatch.setattr(command.subprocess, "Popen", lambda words, **_: written.append(words[-1]))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command.serve(port)
    assert written == [str(tmp_path / "lessons")]

    def status(path: str) -> int:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=patient(10))) as caller:
            caller.request("GET", path)
            return caller.getresponse().status

    assert status("/") in (404, 503)
    (tmp_path / "lessons").mkdir()
    assert status("/") == 503, "no list of what there is"
    (tmp_path / "lessons" / "index.html").write_text("<h1>Lessons</h1>")
    assert status("/") == status("/index.html?lever=2") == 200
    for path in ("/lesson-1.html", "/../secret.txt", "/%2e%2e/secret.txt", "//secret.txt", "/none%00.html"):
        assert status(path) == 404
