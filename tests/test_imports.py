"""What the first page waits for: the libraries that its first picture needs, and no others."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEAVY = ("sklearn", "numba", "opendp", "pandas", "pyarrow", "scipy.stats", "networkx")
TELL = "import sys; print(*sorted(sys.modules))"

# What app.py imports before it draws, and the two registries that reading an address fills.
BEFORE_THE_PICTURE = """
import pages.common.cached, pages.common.strip, pages.home.doors, pages.common.show
import privcov.plots.matrices, privcov.metrics.errors
privcov.methods()
privcov.sources()
"""
# The timer loads the libraries of the other pages; here it must not have come first.
WHOLE_PAGE = """
from streamlit.testing.v1 import AppTest
from pages.common import frame
frame.LOAD_AHEAD_AFTER = 1e6
at = AppTest.from_file("app.py", default_timeout=60).run()
assert not at.exception
assert sum("<img class" in block.proto.body for block in at.get("html")) == 2
"""
FIRST_PICTURE = """
from pages.common import cached
from pages.common.study import Study
from privcov.plots.matrices import colour_limit, still
from privcov.plots.palette import LIGHT
from privcov.metrics.errors import reference_matrix
data = cached.dataset(Study(data=(("n", 2000),), kind="approx"))
sample = reference_matrix(data, "covariance", "sample")
still(sample, data.columns, colour_limit(sample), LIGHT, what="the sample covariance")
"""


def loaded(code: str) -> set[str]:
    """Every module in a new Python after ``code``."""
    done = subprocess.run([sys.executable, "-c", f"{code}\n{TELL}"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_a_heavy_library_is_seen():
    assert "pandas" in loaded("import pages.trade_offs.answer")


@pytest.mark.parametrize("code", [BEFORE_THE_PICTURE, FIRST_PICTURE], ids=["imports", "first picture"])
def test_the_first_picture_waits_for_no_scipy(code):
    there = loaded(code)
    assert "numpy" in there
    assert not there & {*HEAVY, "scipy"}


def test_the_whole_of_home_loads_no_library_of_another_page():
    there = loaded(WHOLE_PAGE)
    assert "scipy.special" in there  # calibrating the noise takes it
    assert not there & set(HEAVY)
