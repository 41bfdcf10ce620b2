"""``python -m privcov release`` on files: progress, interruption, full disks, and the same bits with many workers."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privcov import Ledger, ZCDP
from privcov.cli.entry import main
from privcov.cli.progress import Bar
from privcov.tables.declaration.declaration import Column, Declaration
from tests.patience import patient

ROOT = Path(__file__).parents[1]
DECLARED = Declaration("clinic", "one patient", (Column("age", 0, 100), Column("bmi", 10, 60)))
HIDDEN = Declaration("hidden", "one patient", (Column("age", 0, 100), Column("bmi", 10, 60)), n_public=False)
# A pass that waits in the middle of reading, in a process of its own.
# Tests that run in the background of a shell have Ctrl-C switched off, and their children inherit that.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from privcov.measurements.exact.file_pass import table_sums
real = table_sums.SumAccumulator.take
def slow(self, block):
    real(self, block)
    sys.stdout.write("begun\\n")
    sys.stdout.flush()
    time.sleep(3)
table_sums.SumAccumulator.take = slow
from privcov.cli.entry import main
sys.exit(main(sys.argv[1:]))
"""
# No file of this process may grow beyond what the ledger has: a full disk, as the ledger meets it.
FULL = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
from privcov.cli.entry import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def place(tmp_path):
    """A folder with a table in two files, declarations and a ledger with a limit."""
    rng = np.random.default_rng(0)
    table = pa.table({"age": rng.uniform(0, 100, 2_000), "note": ["text"] * 2_000, "bmi": rng.uniform(10, 60, 2_000)})
    pq.write_table(table.slice(0, 700), tmp_path / "a.parquet")
    pq.write_table(table.slice(700), tmp_path / "b.parquet", row_group_size=400)
    (tmp_path / "d.json").write_text(DECLARED.to_json(), encoding="utf-8")
    (tmp_path / "h.json").write_text(HIDDEN.to_json(), encoding="utf-8")
    book = Ledger(tmp_path / "ledger.sqlite")
    for name in ("clinic", "hidden"):
        book.set_limit(name, ZCDP(1.0))
    return tmp_path


def words(place: Path, *more, declaration: str = "d.json") -> list[str]:
    files = [place / "a.parquet", place / "b.parquet"]
    return list(map(str, ["release", *files, "--declaration", place / declaration, "--rho", 0.5, *more]))


def environment(place: Path, **more) -> dict:
    return os.environ | {"PRIVCOV_LEDGER": str(place / "ledger.sqlite")} | more


def run(place: Path, *more, start=("-m", "privcov"), env=None, **how) -> subprocess.CompletedProcess:
    command = [sys.executable, *start, *words(place, *more, **how)]
    return subprocess.run(
        command, cwd=ROOT, env=environment(place, **env or {}), capture_output=True, text=True, timeout=patient(90)
    )


def spent(place: Path) -> int:
    return len(Ledger(place / "ledger.sqlite").entries())


def test_many_files_are_released_with_progress_and_paid_once(place):
    done = run(place, "--out", place / "r.json")
    assert done.returncode == 0, done.stderr
    assert "100%, 2,000 of 2,000 rows" in done.stderr
    assert "rows/s" in done.stderr
    assert json.loads((place / "r.json").read_text(encoding="utf-8"))["method"] == "auto-cov"
    again = run(place)
    assert again.stdout == (place / "r.json").read_text(encoding="utf-8")
    assert spent(place) == 1


def test_a_bundle_is_written_checked_and_refused_before_anything_is_paid(place):
    """With the owner's declaration in it; a place that cannot be written costs nothing."""
    for wrong in (place / "nowhere" / "r.zip", place):
        done = run(place, "--bundle", wrong)
        assert done.returncode != 0
        assert "--bundle must name a file in a folder that exists" in done.stderr
    assert spent(place) == 0
    done = run(place, "--bundle", place / "r.zip", "--out", place / "r.json")
    assert done.returncode == 0, done.stderr
    command = [sys.executable, "-m", "privcov", "verify", str(place / "r.zip")]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(30))
    assert (checked.returncode, checked.stdout.splitlines()[-1]) == (
        0,
        "Consistent: everything that can be checked holds.",
    )
    with zipfile.ZipFile(place / "r.zip") as archive:
        assert json.loads(archive.read("declaration.json")) == json.loads(DECLARED.to_json())
    changed = bytearray((place / "r.zip").read_bytes())
    changed[2000] ^= 1
    (place / "r.zip").write_bytes(changed)
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=patient(30))
    assert (checked.returncode, checked.stdout.startswith("NOT CONSISTENT")) == (1, True)


def test_progress_does_not_show_a_number_of_rows_that_is_not_public(place):
    done = run(place, declaration="h.json")
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("check done in ")
    assert "%" not in done.stderr
    assert "2,000" not in done.stderr.replace("2,000 rows/s", "")
    assert "rows/s" not in done.stderr


def test_an_interruption_in_the_middle_of_the_pass_spends_nothing(place):
    command = [sys.executable, "-c", SLOW, *words(place)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=environment(place), **pipes) as process:
        try:
            begun = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=patient(60))
        finally:
            process.kill()
    assert begun.startswith("begun"), said
    assert process.returncode == 130
    *_, last = said.splitlines()
    assert last == "privcov: Interrupted; nothing was drawn and nothing spent. Begin again when you like."
    assert spent(place) == 0
    assert run(place).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full")
def test_an_answer_that_cannot_be_written_is_in_the_ledger(place):
    done = run(place, "--out", "/dev/full")
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("privcov: /dev/full could not be written (No space left on device). The release is stored")
    assert spent(place) == 1
    assert run(place, "--out", place / "r.json").returncode == 0
    assert spent(place) == 1


@pytest.mark.parametrize("out", ["nowhere/r.json", "."])
def test_a_place_that_cannot_be_written_is_refused_before_anything_is_spent(place, out):
    done = run(place, "--out", place / out)
    assert done.returncode == 2
    assert done.stderr.startswith("privcov: --out must name a file in a folder that exists")
    assert done.stderr.count("\n") == 1
    assert spent(place) == 0


def test_a_ledger_on_a_full_disk_releases_nothing(place):
    done = run(place, start=("-c", FULL))
    assert done.returncode == 1
    assert done.stdout == ""
    last = done.stderr.splitlines()[-1]
    assert last.startswith("privcov: The ledger")
    assert "nothing is released" in last
    assert spent(place) == 0


def test_a_missing_column_names_the_file(place):
    pq.write_table(pa.table({"age": [1.0]}), place / "b.parquet")
    done = run(place)
    assert done.returncode == 1
    assert "b.parquet" in done.stderr
    assert "'bmi'" in done.stderr
    assert spent(place) == 0


# --- the owner's check --------------------------------------------------------------------------------------


def odd(place: Path) -> list[str]:
    """Ways of writing a release of a table in which no cell of "bmi" is a number."""
    lines = "".join(f'{30 + i},"{i},5"\n' for i in range(9))
    (place / "odd.csv").write_text("age,bmi\n" + lines, encoding="utf-8")
    return ["release", str(place / "odd.csv"), "--declaration", str(place / "d.json"), "--rho", "0.5"]


def inside(place: Path, monkeypatch, *words) -> int:
    monkeypatch.setenv("PRIVCOV_LEDGER", str(place / "ledger.sqlite"))
    return main(list(map(str, words)))


def test_a_column_without_a_number_stops_the_release_before_it_is_paid(place, monkeypatch, capsys):
    assert inside(place, monkeypatch, *odd(place)) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert "hardly a readable number, or none, in 'bmi' (numbers with a comma)" in said
    assert "Owner's view, not part of any release" in said
    assert spent(place) == 0
    assert inside(place, monkeypatch, *odd(place), "--accept-unreadable", "weight") == 2
    assert "'weight', which is no declared column" in capsys.readouterr().err
    assert spent(place) == 0


def test_an_accepted_column_is_released_and_nothing_of_the_check_is_kept(place, monkeypatch, capsys):
    assert inside(place, monkeypatch, *odd(place), "--accept-unreadable", "bmi") == 0
    out, said = capsys.readouterr()
    assert json.loads(out)["method"] == "auto-cov"
    assert spent(place) == 1
    kept = b"".join(path.read_bytes() for path in place.glob("ledger*"))
    for words in ("unreadable", "comma", "Owner's view"):
        assert words not in out
        assert words not in said
        assert words.encode() not in kept


def test_a_request_that_cannot_be_paid_is_not_read_first(place, monkeypatch, capsys):
    from privcov.steward import check as owner_check

    monkeypatch.setattr(owner_check, "check_files", None)
    assert inside(place, monkeypatch, *odd(place), "--rho", 5) == 1
    assert "more than is left" in capsys.readouterr().err


def test_check_shows_the_owner_every_column_and_touches_no_ledger(place, monkeypatch, capsys):
    odd(place)
    assert inside(place, monkeypatch, "check", place / "d.json", place / "odd.csv") == 0
    out, said = capsys.readouterr()
    assert out.startswith("Owner's view, not part of any release: never hand it on.\n")
    assert "Look again: no readable number in 'bmi'." in out
    assert re.search(r"^bmi +0 +0.0% +100.0% +0.0%  numbers with a comma 100.0%$", out, re.M)
    assert "declare the decimal mark of the file" in out
    for column in Declaration.from_json((place / "d.json").read_text(encoding="utf-8")).columns:
        assert f"  {column.name}: {column.in_words}\n" in out
    ranged = Column("age", typical_range=(30, 60)).in_words
    assert re.fullmatch(r"from \S+ to \S+, typical 45 \(most people 30 to 60\)(; weight \S+)?", ranged)
    assert out.count("not covered by the guarantee") == 1
    assert "check done in" in said
    assert "%" not in said  # a share of known bytes would tell how many rows there are
    assert '"' not in out  # no cell is repeated
    assert spent(place) == 0
    assert inside(place, monkeypatch, "check", place / "d.json", place / "a.parquet") == 0
    assert "All fine: " in capsys.readouterr().out


def test_check_takes_parquet_text_where_a_release_refuses_it(place, monkeypatch, capsys):
    pq.write_table(pa.table({"age": [1.0, 2.0], "bmi": ["20", "F"]}), place / "text.parquet")
    assert inside(place, monkeypatch, "check", place / "d.json", place / "text.parquet") == 0
    assert "numbers stored as text 50.0%, single letters, such as F and M 50.0%" in capsys.readouterr().out


# --- progress -----------------------------------------------------------------------------------------------


def test_where_the_number_of_rows_is_hidden_the_progress_does_not_tell_it():
    """After a block of a known size its share would: the same blocks of two tables give the same lines."""
    for stream in (io.StringIO, Terminal):
        told = []
        for total in (200, 1_000):
            bar = Bar(made := stream(), show_rows=False)
            for rows in (50, 100, total):
                bar.drawn = 0.0
                bar(rows, total, rows / 50)
                if rows == 100:
                    told.append(made.getvalue())
            bar.end()
            assert "done in" in made.getvalue()
            assert "%" not in made.getvalue()
            assert "#" not in made.getvalue()
        assert told[0] == told[1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True
