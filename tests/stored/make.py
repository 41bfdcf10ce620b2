"""Makes the files beside it: what people have stored with the commit that this was run with. No test runs it.

    cd CHECKOUT && PYTHONPATH=. python FOLDER/make.py FOLDER

CHECKOUT is a checkout of the commit whose formats are to be kept, FOLDER the place for the files. The noise of private
releases comes from the operating system, so another run makes other numbers; what they must stay is in expected.json.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from streamlit.testing.v1 import AppTest

import privcov
from privcov import _private
from privcov._private import read_measurement
from privcov.bundle.opened import bundle_of, open_answer
from privcov.data_sources.private_file import Column, Declaration
from privcov.estimators.base import METHODS
from privcov.experiments import studies
from privcov.experiments.store import Store
from privcov.ledger import Ledger
from privcov.ledger import book as ledger_book
from privcov.measurements.exact_reading import read_sum

CHECKOUT = Path.cwd()
NAMES = ("age", "weight", "dose")
RHO, PURE, APPROX = privcov.ZCDP(0.05), privcov.PureDP(0.5), privcov.ApproxDP(0.5, 1e-6)
GUARANTEE = {"pure": privcov.PureDP(1.0), "approx": privcov.ApproxDP(1.0, 1e-6), "zcdp": privcov.ZCDP(0.5)}


def table(seed: int, n: int = 300) -> np.ndarray:
    """Invented rows between the bounds of `declaration`."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=n)
    cells = np.column_stack([50 + 12 * common, 75 + 9 * common + 5 * rng.normal(size=n), rng.uniform(0, 10, n)])
    return np.round(cells, 2)


def declaration(name: str, **changes) -> Declaration:
    columns = (
        Column("age", 0.0, 120.0, 50.0, "human lifetimes"),
        Column("weight", 30.0, 200.0, None, "the scale ends there"),
        Column("dose", 0.0, 10.0, None, "dosing protocol"),
    )
    return Declaration(**({"name": name, "row_stands_for": "one patient", "columns": columns} | changes))


# --- the ledger ---------------------------------------------------------------------------------------------


def ledger(folder: Path, expected: dict) -> None:
    """ledger.sqlite with its key: a limit of each kind, an answer of each kind of noise, and rows without an answer."""
    ledger_book._worker = lambda: "invented:1"  # no machine's name in a file that everybody reads
    book = Ledger(folder / "ledger.sqlite")
    book.limit("rho", privcov.ZCDP(2.0))
    book.limit("pure", privcov.PureDP(20.0))
    book.limit("approx", privcov.ApproxDP(6.0, 1e-5))
    book.limit("approx", privcov.ApproxDP(8.0, 1e-5))
    asked = {"rho": RHO, "pure": PURE, "approx": APPROX}
    rows = {"rho": table(1), "pure": table(2), "approx": table(3)}
    labels = {name: np.where(cells[:, 0] > 50, "old", "young") for name, cells in rows.items()}
    one = {"columns": (Column("dose", 0.0, 10.0, None, "dosing protocol"),)}
    classes = {"label": "group", "classes": ("young", "old")}
    wishart = "wishart-difference"
    requests = {
        "free-trace": ("rho", "gaussian-cov", {}, {}),
        "free-trace, second draw": ("rho", "gaussian-cov", {}, {"draw": 2}),
        "isotropic, hidden n": ("rho", "auto-cov", {"n_public": False}, {}),
        "isotropic, one column": ("rho", "gaussian-cov", one, {}),
        "free-trace, classes": ("rho", "auto-cov", classes, {}),
        "isotropic, classes, hidden n": ("rho", "auto-cov", {**classes, "n_public": False}, {}),
        "free-trace, graph": ("rho", "auto-precision", {}, {}),
        "laplace": ("pure", "laplace-cov", {}, {}),
        "laplace, hidden n": ("pure", "laplace-cov", {"n_public": False}, {}),
        "laplace, classes": ("pure", "laplace-cov", classes, {}),
        "laplace, one column": ("pure", "laplace-cov", one, {"centre": "none"}),
        "wishart": ("pure", wishart, {}, {}),
        "wishart, hidden n": ("pure", wishart, {"n_public": False}, {}),
        "wishart, classes": ("pure", wishart, {**classes, "rows_per_person": 3}, {}),
        "wishart, one column": ("pure", wishart, one, {}),
        "wishart, one column, no mean": ("pure", wishart, one, {"centre": "none"}),
        "wishart, auto": ("pure", "auto-cov", {"rows_per_person": 2}, {}),
        "free-trace, approx": ("approx", "gaussian-cov", {}, {}),
        "isotropic, hidden n, approx": ("approx", "auto-cov", {"n_public": False}, {}),
    }
    kept: dict[str, dict] = {}
    for what, (name, method, said, more) in requests.items():
        declared = declaration(name, **said)
        cells = rows[name][:, 2:] if said.get("columns") else rows[name]
        private = declared.on_rows(cells, labels[name] if declared.label else None)
        others = tuple(n for n in rows if n != name)
        made = privcov.release_private(method, private, asked[name], ledger=book, different_from=others, **more)
        entry = book.entries()[-1]
        answer = book.answer(entry.token)
        noisy, opened = read_measurement(answer), open_answer(answer)
        kept[what] = {
            "token": entry.token,
            "name": name,
            "entry": entry.to_dict(),
            "said": json.loads(declared.to_json()),
            "more": {"method": method, **more},
            "shape": noisy.shape,
            "measurement": noisy.to_dict(),
            "law": made.events[0].law,
            "statement": [list(line) for line in made.statement.lines],
            "covariance": None if made.covariance is None else made.covariance.tolist(),
            "precision": None if made.precision is None else made.precision.tolist(),
            "moment": read_sum(noisy, "joint" if noisy.anchors else "none").matrix.tolist(),
            "correlation": opened.answers.correlation.tolist(),
        }
        if what in ("free-trace", "wishart"):
            record = json.loads(declared.to_json())
            (folder / f"bundle-{noisy.shape}.zip").write_bytes(bundle_of(opened, entry.to_dict(), record, {}, name))

    private = declaration("rho").on_rows(rows["rho"], None)
    asked_again = {"ledger": book, "different_from": ("pure", "approx")}
    with failing("measure"), contextlib.suppress(_private.MeasurementError):
        privcov.release_private("gaussian-cov", private, RHO, draw=9, **asked_again)
    with failing("read_sum"), contextlib.suppress(ValueError):  # measured, but of no use to the method
        privcov.release_private("gaussian-cov", private, RHO, draw=12, **asked_again)
    unused = book.entries()[-1].token
    request = kept["free-trace"]["entry"]["request"]
    waiting, lost = ({**request, "draw": draw} for draw in (10, 11))
    for unfinished in (waiting, lost):
        book._reserve("rho", RHO, unfinished, book.token_of("rho", unfinished), "", ())
    book._commit(book.token_of("rho", lost))
    expected["answers"] = kept
    expected["tokens"] = {
        "failed": next(e.token for e in book.entries() if e.state == "failed"),
        "unused": unused,
        "reserved": book.token_of("rho", waiting),
        "committed": book.token_of("rho", lost),
    }
    expected["accounts"] = {name: [book.account(name).sentence, book.account(name).left] for name in book.names()}
    expected["states"] = [e.state for e in book.entries()]
    np.savez(folder / "rows.npz", **rows)
    (folder / "declaration.json").write_text(declaration("trial", **classes, n_public=False).to_json())


@contextlib.contextmanager
def failing(step: str) -> Iterator[None]:
    """A step of a private release that raises a ValueError."""
    kept = getattr(_private, step)

    def fails(*_: object, **__: object) -> None:
        raise ValueError("The noisy matrix is of no use here.")

    setattr(_private, step, fails)
    try:
        yield
    finally:
        setattr(_private, step, kept)


# --- studies and cells --------------------------------------------------------------------------------------


def saved_studies(folder: Path, expected: dict) -> None:
    """study.json, one plan; studies.json, a list of them; cells.sqlite, what the first of them computed."""
    one = privcov.Plan(
        source="ar1-covariance",
        source_params={"n": 40, "d": 3},
        methods=["gaussian-cov", ("gaussian-cov", {"repair": "none"})],
        guarantees=[privcov.ZCDP(0.1), privcov.ZCDP(1.0)],
        metrics=["relative-frobenius-to-truth"],
        vary={"n": [40, 60]},
        replicates=2,
        seed=4,
    )
    two = privcov.Plan(
        source="zipf-norms",
        source_params={"n": 50, "d": 3},
        methods=["laplace-cov", "wishart-difference"],
        guarantees=[privcov.PureDP(1.0), privcov.PureDP(4.0)],
        metrics=["max-to-sample"],
        replicates=2,
        seed=5,
        row_bound=1.5,
        noise_seed=6,
    )
    (folder / "study.json").write_text(studies.write([one]))
    (folder / "studies.json").write_text(studies.write([one, two]))
    store = Store(folder / "cells.sqlite")
    found = privcov.run(one, store=store)
    keys = [key for (key,) in store._link.execute("SELECT key FROM cells ORDER BY key")]
    expected["cells"] = [[key.hex(), list(*store.get([key]))] for key in keys]
    store._link.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    expected["study"] = {"values": found["value"].tolist(), "address": studies.compact([one])}
    expected["studies"] = {
        "values": studies.run([one, two])["value"].tolist(),
        "address": studies.compact([one, two]),
        "plans": [repr(one), repr(two)],
    }


# --- releases as JSON ---------------------------------------------------------------------------------------


def releases(folder: Path, expected: dict) -> None:
    """releases.json: the JSON of one simulated release of every method, under every guarantee it offers."""
    ds = privcov.source("ar1-covariance", seed=1, n=60, d=2)
    kept = {}
    for card in METHODS.all():
        for kind in card.guarantees:
            made = privcov.release(card.key, ds, GUARANTEE[kind.kind], seed=3, calibration=card.default_calibration)
            kept[f"{card.key} {kind.kind}"] = json.loads(made.to_json())
    (folder / "releases.json").write_text(json.dumps(kept))


# --- what pages give out ------------------------------------------------------------------------------------

TINY = {"data.n": "40", "data.d": "3"}
GRAPH = {"data.n": "200", "data.d": "4", "roc.replicates": "2"}
ADDRESSES: list[tuple[str, dict[str, str]]] = [
    ("app.py", {}),
    ("app.py", {"kind": "pure", "epsilon": "2"}),
    ("pages/1_Estimate.py", {**TINY, "rho": "0.5", "seed": "7", "rows": "3"}),
    ("pages/1_Estimate.py", {**TINY, "method": "wishart-difference", "kind": "pure", "more": "the-same-in-python"}),
    ("pages/1_Estimate.py", {**TINY, "method": "laplace-cov", "kind": "pure", "bound": "0.5"}),
    ("pages/1_Estimate.py", {**TINY, "kind": "approx", "epsilon": "2", "delta": "1e-05", "neighbours": "add-remove"}),
    ("pages/1_Estimate.py", {"source": "wine", "method": "adaptive-cov", "more": "the-same-in-python"}),
    ("pages/1_Estimate.py", {"source": "zipf-norms", "data.n": "50", "data.d": "3", "data.s": "2"}),
    ("pages/1_Estimate.py", {**TINY, "method": "gaussian-cov", "calibration": "as-published-5"}),
    ("pages/2_Trade_offs.py", {**TINY, "values": "rho:0.1,1", "replicates": "2", "methods": "auto-cov,gaussian-cov"}),
    ("pages/2_Trade_offs.py", {**TINY, "axis": "row_bound", "norm": "max", "replicates": "2"}),
    ("pages/2_Trade_offs.py", {**TINY, "compare": "yes", "kinds": "pure,zcdp", "replicates": "2"}),
    ("pages/2_Trade_offs.py", {**TINY, "tab": "who-wins-where", "who.n": "100,1000", "who.steps": "2"}),
    ("pages/2_Trade_offs.py", {**TINY, "tab": "which-epsilon", "which.asked": "yes"}),
    ("pages/2_Trade_offs.py", {**TINY, "preset": "4-table-5", "replicates": "2"}),
    ("pages/3_Graph_recovery.py", {**GRAPH}),
    ("pages/3_Graph_recovery.py", {**GRAPH, "source": "precision-random", "kind": "pure", "roc.epsilon": "1,4"}),
    ("pages/3_Graph_recovery.py", {**GRAPH, "view": "as-an-owner-sees-it", "roc.rho": "1,0.5"}),
    ("pages/4_Spectra.py", {**TINY, "rho": "0.001"}),
    ("pages/4_Spectra.py", {**TINY, "axis": "asinh", "source": "digits"}),
    ("pages/5_Your_data.py", {}),
    ("pages/6_Lessons.py", {}),
    ("pages/6_Lessons.py", {"lesson": "3"}),
    ("pages/6_Lessons.py", {"part": "demos"}),
    ("pages/7_Methods.py", {"show.kind": "pure"}),
    ("pages/7_Methods.py", {"tab": "convert", "convert.releases": "5"}),
    ("pages/8_Published_results.py", {}),
    ("pages/8_Published_results.py", {"table": "4-table-5"}),
    ("pages/9_Privacy_audit.py", {"live.d": "1", "live.draws": "1000"}),
    ("pages/9_Privacy_audit.py", {"tab": "claims", "claims.search": "Wishart", "claims.n": "500"}),
    ("pages/9_Privacy_audit.py", {"tab": "what-an-attacker-learns", "learn.prior": "25"}),
    ("pages/2_Trade_offs.py", {"plan": ""}),  # the address of studies.json
]
WIDGETS = (
    "selectbox", "select_slider", "multiselect", "number_input", "text_input", "toggle", "button_group", "slider",
)  # fmt: skip


def pages(folder: Path, expected: dict) -> None:
    """addresses.json, what each address opens; scripts/, every script that those pages give out, each once."""
    kept, scripts = [], {}
    for file, asked in ADDRESSES:
        query = {**asked, "plan": expected["studies"]["address"]} if "plan" in asked else asked
        at = opened(file, query)
        told = [w.value for w in at.warning if "left out" in w.value]
        kept.append({"page": file, "query": query, "settled": dict(at.query_params), "values": shown(at)})
        assert not told, told
        for code in at.code:
            if code.language == "python":
                scripts.setdefault(f"{Path(file).stem}-{len(scripts) + 1:02}", code.value)
    unique = {text: stem for stem, text in reversed(scripts.items())}
    (folder / "scripts").mkdir()
    for text, stem in sorted(unique.items(), key=lambda pair: pair[1]):
        (folder / "scripts" / f"{stem}.txt").write_text(text + "\n")
    (folder / "addresses.json").write_text(json.dumps(kept, indent=1, sort_keys=True))


def opened(file: str, query: dict[str, str]) -> AppTest:
    """The page at an address, once no sweep of it runs in the background."""
    at = AppTest.from_file(str(CHECKOUT / "app.py"), default_timeout=300)
    if file != "app.py":
        at.switch_page(file)
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    for _ in range(600):
        assert not at.exception, at.exception
        jobs = [j for kept in ("sweeps", "roc") if kept in at.session_state for j in at.session_state[kept].values()]
        if not any(job.progress.alive for job in jobs):
            break
        time.sleep(0.2)
    return at.run()


def shown(at: AppTest) -> dict[str, object]:
    """What every widget with a key shows; the keys of a lambda and of a file depend on the visit."""
    found = {w.key.split("-")[0] if w.key.startswith("lambda-") else w.key: w.value
             for kind in WIDGETS for w in getattr(at, kind) if w.key}  # fmt: skip
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


def session(folder: Path, expected: dict) -> None:
    """session.csv: a public file as visitors bring it, with what the page makes of it."""
    cells = table(4, 60)
    text = "id,age,weight,dose\n" + "".join(f"p{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(cells))
    (folder / "session.csv").write_text(text)


def main(folder: Path) -> None:
    """Everything, into a folder of which only this script is kept."""
    for old in folder.iterdir():
        if old.name != Path(__file__).name:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    expected: dict = {}
    commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True, cwd=CHECKOUT)
    expected["made_with"] = commit.stdout.strip()
    ledger(folder, expected)
    saved_studies(folder, expected)
    releases(folder, expected)
    session(folder, expected)
    pages(folder, expected)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1, sort_keys=True, allow_nan=False))


if __name__ == "__main__":
    os.environ["PRIVCOV_CACHE_DIR"] = tempfile.mkdtemp()
    os.environ["PRIVCOV_LEDGER"] = str(Path(tempfile.mkdtemp()) / "ledger.sqlite")
    assert Path(privcov.__file__).is_relative_to(CHECKOUT), "run it in the checkout, with PYTHONPATH=."
    main(Path(sys.argv[1]).resolve())
