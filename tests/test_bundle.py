"""The bundle: checked without the data, by a script that needs only numpy, and undone by one changed byte."""

import io
import json
import math
import random
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcov._private import release_private
from privcov.bundle import make, paper, safe, verify
from privcov.bundle.opened import Opened, bundle_of, declared_facts, open_answer
from privcov.figures.look import LIGHT
from privcov.figures.matrices import heatmap
from privcov.ledger import Ledger
from privcov.privacy import ApproxDP, PureDP, ZCDP
from privcov.private_dataset import PrivateDataset
from tests.patience import patient
from tests.privacy.checkers import replayed

NAMES = ["=cmd|'/c calc'!A0", "<script>alert(1)</script>", "weight", "height"]
ROWS = 1234
KINDS = {
    "zcdp": ("gaussian-cov", ZCDP(0.5), {}),
    "approx, hidden n": ("gaussian-cov", ApproxDP(1.0, 1e-6), {"n_public": False}),
    "laplace": ("laplace-cov", PureDP(1.0), {}),
    "wishart, a person with rows": ("wishart-difference", PureDP(1.0), {"rows_per_person": 3}),
    "classes": ("gaussian-cov", ZCDP(0.5), {"labels": ["a", "b"] * (ROWS // 2), "classes": ["a", "b"]}),
    "classes, hidden n": (
        "wishart-difference",
        PureDP(2.0),
        {"labels": ["a", "b"] * (ROWS // 2), "classes": ["a", "b"], "n_public": False},
    ),
}


def made(folder: Path, kind: str) -> tuple[Opened, bytes]:
    method, guarantee, facts = KINDS[kind]
    x = np.random.default_rng(3).multivariate_normal([50] * 4, 60 + 100 * np.eye(4), ROWS)
    private = PrivateDataset.from_rows(x, bounds=[(0, 100)] * 4, columns=NAMES, name="t", **facts)
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.limit("t", guarantee)
    release_private(method, private, guarantee, ledger=ledger)
    (entry,) = ledger.entries("t")
    opened = open_answer(ledger.answer(entry.token))
    pictures = {"correlation": ("Correlation", heatmap(opened.answers.correlation, tuple(NAMES), 1.0, LIGHT, what="r"))}
    return opened, bundle_of(opened, entry.to_dict(), declared_facts(opened), pictures, "t")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory) -> Path:
    """One unpacked bundle; a test that changes a file puts it back."""
    folder = tmp_path_factory.mktemp("bundle")
    _, raw = made(folder, "zcdp")
    return unpacked(raw, folder / "unpacked")


def unpacked(raw: bytes, folder: Path) -> Path:
    zipfile.ZipFile(io.BytesIO(raw)).extractall(folder)
    return folder


def checked(folder: Path) -> subprocess.CompletedProcess:
    """As at home: another folder, no privcov on the path, no user site."""
    return subprocess.run(
        [sys.executable, "-I", "verify.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_bundle_holds_without_the_data(tmp_path, kind):
    opened, raw = made(tmp_path, kind)
    found = checked(unpacked(raw, tmp_path / "out"))
    assert (found.returncode, found.stderr) == (0, "")
    assert "Everything holds." in found.stdout
    stored = np.load(tmp_path / "out" / "matrices.npz")
    assert np.array_equal(stored["covariance"], opened.answers.covariance)


def test_the_same_release_gives_the_same_bytes(tmp_path):
    made(tmp_path, "zcdp")
    ledger = Ledger(tmp_path / "ledger.sqlite")
    (entry,) = ledger.entries("t")
    twice = [
        bundle_of(o, entry.to_dict(), declared_facts(o), {}, "t")
        for o in (open_answer(ledger.answer(entry.token)) for _ in range(2))
    ]
    assert twice[0] == twice[1]


def test_one_changed_byte_in_any_file_is_found(bundle):
    """Three places in every file: its first byte, its last, and one between."""
    rng = random.Random(0)
    files = sorted(p for p in bundle.rglob("*") if p.is_file())
    assert len(files) > 30
    for path in files:
        before = path.read_bytes()
        for at in (0, len(before) - 1, rng.randrange(len(before))):
            changed = bytearray(before)
            changed[at] ^= 1 << rng.randrange(8)
            path.write_bytes(bytes(changed))
            try:
                if path.name == "verify.py":  # it can only be judged by a verifier that was not changed
                    with pytest.raises(verify.Wrong, match="changed"):
                        verify.check_files(bundle)
                else:
                    assert verify.main(bundle) == 1, (path.name, at)
            finally:
                path.write_bytes(before)
    assert checked(bundle).returncode == 0


def test_a_missing_file_is_found(bundle):
    path = bundle / "statement.txt"
    before = path.read_bytes()
    path.unlink()
    try:
        assert "statement.txt is missing" in checked(bundle).stdout
    finally:
        path.write_bytes(before)


def rewritten(bundle: Path, tmp_path: Path, name: str, change) -> Path:
    """A bundle whose file was changed by somebody who also mends the manifest."""
    files = {p.relative_to(bundle).as_posix(): p.read_bytes() for p in bundle.rglob("*") if p.is_file()}
    files[name] = change(files[name])
    manifest = json.loads(files["manifest.json"])
    manifest["files"][name] = verify.hashlib.sha256(files[name]).hexdigest()
    files["manifest.json"] = verify.written(manifest)
    for path, raw in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(raw)
    return tmp_path


def _measured(change):
    def apply(raw: bytes) -> bytes:
        fields = json.loads(raw)
        change(fields)
        return verify.written(fields)

    return apply


@pytest.mark.parametrize(
    ("name", "change", "complaint"),
    [
        ("guarantee.json", lambda raw: verify.written({"kind": "zcdp", "rho": 0.1}), "does not give the stated rho"),
        ("guarantee.json", lambda raw: verify.written({"kind": "pure", "epsilon": 9.0}), "stated epsilon"),
        (
            "measurement.json",
            _measured(lambda m: m["event"].update(sensitivity=m["event"]["sensitivity"] / 2)),
            "below what the declared facts require",
        ),
        ("measurement.json", _measured(lambda m: m["facts"].update(rows_per_person=2)), "below what"),
        ("measurement.json", _measured(lambda m: m.update(scale=m["scale"] * 2)), "different noise"),
        ("measurement.json", _measured(lambda m: m["total"][0].__setitem__(0, m["total"][0][0] + 1)), "moment"),
        ("measurement.json", _measured(lambda m: m["event"].update(mechanism="laplace")), "not what the event names"),
        ("measurement.json", _measured(lambda m: m["facts"].update(n=None)), "needs a public number of rows"),
        ("measurement.json", _measured(lambda m: m.update(trace=None)), "second trace"),
        ("measurement.json", _measured(lambda m: m.update(anchors=2)), "without their classes"),
        ("measurement.json", _measured(lambda m: m.update(anchors=0)), "not of the declared columns"),
        ("measurement.json", _measured(lambda m: m["total"].pop()), "not of the declared columns"),
        ("matrices/covariance.csv", lambda raw: raw.rsplit(b",", 1)[0] + b",0.5\n", "does not follow"),
    ],
)
def test_what_was_made_up_consistently_is_found_by_arithmetic(bundle, tmp_path, name, change, complaint):
    found = checked(rewritten(bundle, tmp_path, name, change))
    assert found.returncode == 1
    assert complaint in found.stdout


@pytest.mark.parametrize(
    ("method", "asked", "stated", "complaint"),
    [
        ("laplace-cov", PureDP(1.0), {"kind": "pure", "epsilon": 1.0}, ""),
        ("laplace-cov", PureDP(1.0), {"kind": "pure", "epsilon": 0.999}, "stated epsilon"),
        ("wishart-difference", PureDP(1.0), {"kind": "pure", "epsilon": 0.999}, "stated epsilon"),
        ("gaussian-cov", ZCDP(0.1), {"kind": "zcdp", "rho": 0.0999}, "stated rho"),
        ("gaussian-cov", ApproxDP(1.0, 1e-6), {"kind": "approx", "epsilon": 1.0, "delta": 1e-6}, ""),
        ("gaussian-cov", ApproxDP(1.0, 1e-6), {"kind": "approx", "epsilon": 0.999, "delta": 1e-6}, "epsilon and delta"),
        ("gaussian-cov", ApproxDP(1.0, 1e-6), {"kind": "approx", "epsilon": 1.0, "delta": 0.99e-6}, "and delta"),
    ],
)
def test_a_statement_a_thousandth_too_strong_is_found(tmp_path, method, asked, stated, complaint):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.limit("t", asked)
    private = PrivateDataset.from_rows(np.zeros((50, 3)), row_bound=1.0, name="t")
    release_private(method, private, asked, ledger=ledger)
    measured = json.loads(ledger.answer(ledger.entries()[0].token))["measurement"]
    if complaint:
        with pytest.raises(verify.Wrong, match=complaint):
            verify.check_guarantee(measured, stated)
    else:
        verify.check_guarantee(measured, stated)


def _packed(change):
    def apply(raw: bytes) -> bytes:
        out, held = io.BytesIO(), dict(np.load(io.BytesIO(raw)))
        change(held)
        np.savez(out, **held)
        return out.getvalue()

    return apply


def test_a_matrix_too_many_and_another_way_of_writing_the_list_are_found(bundle, tmp_path):
    for number, (change, complaint) in enumerate(
        [
            (lambda held: held.update(extra=np.eye(2)), "extra matrices"),
            (lambda held: held.update(covariance=held["covariance"] * 2), "covariance in matrices.npz"),
        ]
    ):
        folder = tmp_path / str(number)
        assert complaint in checked(rewritten(bundle, folder, "matrices.npz", _packed(change))).stdout
    lacking = checked(rewritten(bundle, tmp_path / "event", "measurement.json", _measured(lambda m: m.pop("event"))))
    assert (lacking.returncode, "KeyError" in lacking.stdout) == (1, True)
    short = rewritten(bundle, tmp_path / "short", "statement.txt", lambda raw: raw)
    listed = json.loads((short / "manifest.json").read_bytes())
    del listed["files"]["measurement.json"]
    (short / "manifest.json").write_bytes(verify.written(listed))
    assert "what every bundle has" in checked(short).stdout
    manifest = bundle / "manifest.json"
    before = manifest.read_bytes()
    manifest.write_bytes(before.replace(b"\n ", b"\n\t", 1))  # the same JSON
    try:
        assert "not as it was written" in checked(bundle).stdout
    finally:
        manifest.write_bytes(before)


@pytest.mark.parametrize(
    ("change", "facts", "complaint"),
    [({"shape": "free-trace", "trace": 1}, {"n": None}, "free-trace noise needs a public number"),
     ({"shape": "isotropic", "trace": 1}, {}, "second trace"), ({"shape": "free-trace"}, {}, "second trace"),
     ({"anchors": 2}, {}, "anchors without"), ({"anchors": 1}, {"classes": ["a", "b"]}, "anchors without"),
     ({}, {"n": None}, "anchors carry the count"), ({"total": [[1, 0]]}, {}, "not of the declared"),
     ({"total": [[1, 0], [0, 1, 2]]}, {}, "not of the declared"), ({"anchors": 1}, {}, "not of the declared"),
     ({"shape": "laplace"}, {}, "laplace noise is not what")],
)  # fmt: skip
def test_numbers_that_the_named_noise_cannot_have_are_refused(change, facts, complaint):
    """Each rule by itself: what is changed breaks that one alone, or breaks it first."""
    whole = {
        "shape": "isotropic", "anchors": 0, "trace": None, "total": [[1, 0], [0, 1]],
        "event": {"mechanism": "discrete-gaussian"}, "facts": {"n": 5, "classes": [], "columns": ["x", "y"]},
    }  # fmt: skip
    verify.check_kind(whole)
    with pytest.raises(verify.Wrong, match=complaint):
        verify.check_kind(whole | change | {"facts": whole["facts"] | facts})


def test_the_largest_change_is_that_of_the_measurement():
    """Two derivations in two files: for every noise, relation and number of classes."""
    from privcov.measurements.exact_moment import norm_bound

    for d in (1, 2, 7):
        for n_public in (True, False):
            for people in (1, 4):
                data = PrivateDataset.from_rows(
                    np.zeros((3, d)), row_bound=1.0, n_public=n_public, rows_per_person=people
                )
                shapes = ["laplace", "wishart-difference", "isotropic"] + (["free-trace"] if n_public and d > 1 else [])
                for shape in shapes:
                    for anchors in (0, 1, 3) if n_public else (1, 3):
                        facts = data.facts.to_dict()
                        assert verify.largest_change(facts, shape, anchors) == norm_bound(data.facts, shape, anchors)


@pytest.mark.parametrize("centre", ["none", "joint"])
@pytest.mark.parametrize("anchors", [0, 1, 3])
@pytest.mark.parametrize("shape", ["isotropic", "laplace", "wishart-difference"])
def test_the_script_knows_the_noise_of_what_it_reads(shape, anchors, centre):
    """Beside variances written down from the laws themselves, in steps of the grid: Wishart entries have m C^2 each."""
    joint, scale, d = int(anchors > 0 and centre == "joint"), 3e9, 4
    kept = {"facts": {"columns": ["x"] * d}, "shape": shape, "scale": scale, "anchors": anchors}
    off = {
        "isotropic": scale**2 / 2,
        "laplace": 2 * scale**2,
        "wishart-difference": 2 * (d + anchors + 1) * (scale / 2) ** 2,
    }[shape]
    on = {"isotropic": scale**2, "laplace": off, "wishart-difference": 2 * off}[shape]
    expected = [math.sqrt(v) / 2**40 / 50 for v in (off, on, off)]
    assert verify.deviations(kept, joint, 50) == pytest.approx(expected, rel=1e-12)


def test_epsilon_of_the_script_is_that_of_the_accountant():
    from privcov.accounting import zcdp_to_approx

    for rho in (1e-4, 0.01, 0.5, 8.0):
        for delta in (1e-9, 1e-5):
            assert verify.epsilon_of(rho, delta) == pytest.approx(zcdp_to_approx(rho, delta), rel=1e-7)


# --- what must not be in it ---------------------------------------------------------------------------------


def test_an_undeclared_number_of_rows_a_seed_or_a_hash_is_nowhere(bundle, tmp_path, monkeypatch):
    # fixed noise of a few rows: drawn noise could leave the count at the true one by chance
    with replayed([], monkeypatch, noise=12_345 * 10**8):
        _, raw = made(tmp_path, "approx, hidden n")
    archive, as_printed = zipfile.ZipFile(io.BytesIO(raw)), rf"(?<![\d.]){ROWS:,}(?!\d)".replace(",", ",?")
    assert re.search(as_printed, (bundle / "report.html").read_text()), "a public number of rows would be found"
    for name in archive.namelist():
        if name.startswith(("derivation/", "figures/plotly")) or name in ("verify.py", "README.txt", "matrices.npz"):
            continue
        text = archive.read(name).decode()
        assert not re.search(as_printed, text), name
        assert "seed" not in text.lower().replace("no seed", ""), name
        assert "fingerprint" not in text, name
    assert json.loads(archive.read("measurement.json"))["facts"]["n"] is None


def test_names_are_text_everywhere(bundle):
    for path in bundle.rglob("*.csv"):
        header = path.read_text().splitlines()[0]
        if NAMES[2] in header:
            assert "'=cmd" in header, path
            assert not re.search(r'(^|,)"?=', header), path
    report = (bundle / "report.html").read_text()
    figure = (bundle / "figures" / "correlation.html").read_text()
    for page in (report, figure):
        assert "<script>alert" not in page
    assert "http://" not in report
    assert 'src="plotly.min.js"' in figure


def test_lines_of_a_bundle_are_text_and_its_axes_are_no_columns(bundle):
    """The eigenvalues and loadings stand over axes, every other matrix over the columns."""
    for path in (bundle / "matrices").glob("*.csv"):
        header = path.read_text().splitlines()[0].split(",")[1:]
        assert header == ([f"axis {k}" for k in range(1, 5)] if path.stem in ("eigenvalues", "loadings") else
                          [safe.cell(name) for name in NAMES]), path  # fmt: skip
    assert make._lines((("=title", "@text"), ("plain", "words"))) == b"'=title: '@text\nplain: words\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [("=1", "'=1"), ("  =1", "'  =1"), ("\u00a0-1", "'\u00a0-1"), ("\uff1d1", "'\uff1d1"), ("%1", "'%1"), ("|1", "'|1"),
     ("\t1", "'\t1"), ("\u200b=1", "'=1"), ("a\u202eb\x00c", "abc"), ("a=b", "a=b"), ("", "")],
)  # fmt: skip
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(text, told):
    assert safe.cell(text) == told


def test_names_that_only_invisible_letters_told_apart_stay_apart():
    assert safe.cells(["a", "a\u200b", "a\u200c", "a (2)"]) == ["a", "a (2)", "a (3)", "a (2) (2)"]


@given(st.text(max_size=12))
def test_no_text_cell_starts_a_formula(text):
    found = safe.cell(text)
    assert not found.lstrip(" \u00a0\u3000").startswith(("=", "+", "-", "@", "\t", "\r"))
    assert "\u202e" not in found
    assert "\x00" not in found


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=4, max_size=4))
def test_a_csv_holds_the_same_doubles(numbers):
    matrix = np.array(numbers).reshape(2, 2)
    read = verify.numbers(safe.table(matrix, ("a", "b"), ("a", "b")))
    assert verify.same(read, matrix)


@given(st.text(max_size=20))
def test_the_record_shows_names_as_text(name):
    page = paper.officer_record(name, [name], [(name, 0.0, 1.0, 0.5, name)], [(name,) * 6], name, name)
    inside = page.split("</style></head>")[1]
    allowed = {"body", "h1", "h2", "bdi", "ul", "li", "table", "tr", "th", "td", "p", "div", "html"}
    assert set(re.findall(r"</?([a-zA-Z][^\s/>]*)", inside)) <= allowed
