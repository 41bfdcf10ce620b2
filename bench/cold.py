"""From the start of the server to the first picture on Home, and from that of Python to the first release: section
"cold" of the bench.

In multiples of a page that holds one tiny chart and nothing else, and of the import of scikit-learn's covariances,
started in turns with it; with BENCH_BEFORE=folder the page also in multiples of another checkout.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from bench.latency import MissingBrowser, stage
from tests.serving import ROOT, serving

STARTS = 5
BEFORE = "BENCH_BEFORE"  # another checkout, to start in turns with this one
PICTURE = ".st-key-sample img, .st-key-square-sample .heatmaplayer image"
TINY_PAGE = "a page with one tiny chart"
TINY = """
import plotly.graph_objects as go
import streamlit as st
st.plotly_chart(go.Figure(go.Heatmap(z=[[1, 2], [3, 4]])), key="square-sample")
"""

PEER = "import sklearn.covariance, time; print(time.process_time())"
FIRST = """
import numpy as np, sys, time
import privcov
rows = np.random.default_rng(0).uniform(0, 1, (5000, 10))
rel = privcov.release(privcov.Dataset.from_rows(rows, bounds=[(0, 1)] * 10), privcov.ApproxDP(1, 1e-6))
str(rel.statement), repr(rel)
print(time.process_time(), *{name.partition(".")[0] for name in sys.modules})
"""
HEAVY = {"numba", "opendp", "pandas", "sklearn", "plotly", "pyarrow"}  # modules that the first release does without


def once(launch: Callable, script: Path, folder: Path) -> tuple[float, float]:
    """Seconds from the start of the server to its first answer, and from there to the first chart in a new browser."""
    browser = launch()
    try:
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        begun = time.perf_counter()
        with serving(folder, script) as server:
            up = time.perf_counter()
            page.goto(server.address, wait_until="commit")
            page.wait_for_selector(PICTURE, timeout=60_000)
            return up - begun, time.perf_counter() - up
    finally:
        browser.close()


@cache
def started() -> dict[str, list[tuple[float, float]]]:
    """`once` for this checkout, a page with one tiny chart and the checkout $BENCH_BEFORE, if any: in turns."""
    with stage(tiny=TINY) as (launch, folder):
        scripts = {"this": ROOT / "app.py", TINY_PAGE: folder / "tiny.py"}
        if BEFORE in os.environ:
            scripts["before"] = Path(os.environ[BEFORE]) / "app.py"
        taken: dict[str, list] = {name: [] for name in scripts}
        for _ in range(STARTS):
            for name, script in scripts.items():
                taken[name].append(once(launch, script, folder))
    return taken


def cold() -> Iterator[tuple[str, Callable[[], str], str]]:
    """From the start of the server to the first picture on Home, and of Python to the first release."""
    yield "start of Python to the first release, processor time", _first_release, "<= 1"
    rivals = {TINY_PAGE: "<= 1.5"} | ({"before": "<= 0.5"} if BEFORE in os.environ else {})
    for rival, goal in rivals.items():
        yield f"start to first picture, over {rival}", lambda r=rival: _over(r), goal


def _over(rival: str) -> str:
    try:
        taken = started()
    except MissingBrowser as missing:
        return f"not measured: {missing}"
    ours, theirs = (statistics.median(up + drawn for up, drawn in taken[name]) for name in ("this", rival))
    up, drawn = (statistics.median(column) for column in zip(*taken["this"], strict=True))
    return f"{ours / theirs:.2f} x {rival} ({ours:.2f} / {theirs:.2f} s; ours: server {up:.2f}, page {drawn:.2f})"


def _first_release() -> str:
    """Processor time, which other work on the machine hardly changes."""
    taken: dict[str, list[float]] = {PEER: [], FIRST: []}
    for _ in range(STARTS):
        for code, seconds in taken.items():
            done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
            seconds.append(float(done.stdout.split()[0]))
    ours, theirs = statistics.median(taken[FIRST]), statistics.median(taken[PEER])
    return f"{ours / theirs:.2f} x the import of sklearn.covariance ({ours:.2f} / {theirs:.2f} s)"
