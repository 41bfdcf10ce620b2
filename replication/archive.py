"""The replication archive: everything that was printed, computed and concluded, as CSV in one zip file.

It has a version number, which rises where anything differs from the archive before, and says what differs. The same
numbers give the same bytes.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import pandas as pd

from privcov import places
from replication import claims, reproduce, shown
from replication.base import KEYS, PUBLISHED, REPRODUCED
from replication.catalogue import TABLES
from replication.provenance import made_with
from replication.shown import CHECKS, CLAIMS, CURVES, PARAGRAPHS, READINGS, VERDICTS
from replication.verdicts import survival

ABOUT, DIFFERENCE, SURVIVAL, NOT_RUN = "version.json", "difference.csv", "survival.csv", "not_run.csv"
# The columns that name a line of a file; of the other files is said whether they differ.
_KEYED = {
    CLAIMS: ["key"], PARAGRAPHS: ["paper"], VERDICTS: ["table"], CHECKS: ["table", "check"],
    SURVIVAL: ["table", "method", "metric"],
    CURVES: ["table", "curve"], READINGS: ["reading", "table", "method", "metric"],
    NOT_RUN: ["table", "point", "version"],
}  # fmt: skip
_MOST = 64 * 2**20  # bytes of one file of an earlier archive


@dataclass(frozen=True)
class Archive:
    """The contents of an archive.

    Attributes
    ----------
    version : int
        1 for the first; one more than before where anything differs.
    files : mapping
        Name to text.
    changes : DataFrame
        Columns file, where, what, before and after; empty without an earlier archive.
    before : int
        Version of the earlier archive, 0 without one.
    """

    version: int
    files: Mapping[str, str]
    changes: pd.DataFrame
    before: int = 0

    def table(self, name: str) -> pd.DataFrame:
        """Return a file as a table of text."""
        return _read(self.files[name])

    def zipped(self) -> bytes:
        """Return the zip file; the same contents give the same bytes."""
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in sorted(self.files):
                archive.writestr(zipfile.ZipInfo(name), self.files[name], zipfile.ZIP_DEFLATED)
        return out.getvalue()


def digest(folder: Path = REPRODUCED) -> str:
    """Return the SHA-256 of everything that the conclusions rest on: printed and computed numbers."""
    whole = hashlib.sha256()
    for path in (*sorted(PUBLISHED.glob("*.csv")), *sorted(folder.glob("*.csv"))):
        whole.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return whole.hexdigest()


def make(folder: Path = REPRODUCED, previous: Path | None = None) -> Archive:
    """Decide everything from the stored numbers, and compare with an earlier archive."""
    files = _files(folder)
    before, old = (0, {}) if previous is None else opened(previous)
    changes = difference(old, files) if old else difference({}, {})
    version = before + 1 if not old or len(changes) else before
    about = {"version": version, "digest": digest(folder), "made_with": made_with()}
    files |= {ABOUT: json.dumps(about, indent=1) + "\n", DIFFERENCE: shown.text(changes)}
    return Archive(version, files, changes, before)


def _files(folder: Path) -> dict[str, str]:
    """Return every file but those about the archive itself."""
    left = [
        asdict(one) | {"survives": one.survives}
        for table in TABLES.values()
        if table.file
        for one in survival(table, folder)
    ]
    not_run = [
        {"table": s.table.key, "point": s.point.name, "version": s.variant, "needs": s.table.needs}
        for s in reproduce.not_run(folder)
    ]
    found = shown.files(folder, kept_claims(folder) or claims.rows(folder)) | {
        SURVIVAL: shown.text(pd.DataFrame(left)),
        NOT_RUN: shown.text(pd.DataFrame(not_run, columns=["table", "point", "version", "needs"])),
    }
    for name, where in (("published", PUBLISHED), ("computed", folder)):
        found |= {f"{name}/{path.name}": path.read_text(encoding="utf-8") for path in sorted(where.glob("*.csv"))}
    return found


def _read(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)


def opened(path: Path) -> tuple[int, dict[str, str]]:
    """Return version and files of an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            if max(sizes.values(), default=0) > _MOST:
                raise ValueError
            files = {name: archive.read(name).decode() for name in sizes}
        return int(json.loads(files[ABOUT])["version"]), files
    except (OSError, zipfile.BadZipFile, KeyError, TypeError, ValueError) as problem:
        raise ValueError(
            f"--previous must be the zip file of an earlier report, and {path} is none. Give the .zip that lies beside "
            "that report."
        ) from problem


def difference(before: Mapping[str, str], after: Mapping[str, str]) -> pd.DataFrame:
    """Return what differs between the files of two archives, line by line where a file has names for its lines."""
    found: list[tuple[str, str, str, str, str]] = []
    for name in sorted({*before, *after} - {ABOUT, DIFFERENCE}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        keys = _KEYED.get(name, [*KEYS, "metric"] if name.startswith("tables/") else None)
        if old is None or new is None or keys is None:
            found.append((name, "", "file", "" if old is None else "there", "" if new is None else "there"))
        else:
            found += [(name, *one) for one in _lines(_read(old), _read(new), keys)]
    return pd.DataFrame(found, columns=["file", "where", "what", "before", "after"])


def _lines(old: pd.DataFrame, new: pd.DataFrame, keys: list[str]) -> list[tuple[str, str, str, str]]:
    """Return (where, column, before, after) of every value that differs; a line that is new or gone as a whole."""
    both = [{tuple(line[k] for k in keys): line for line in table.to_dict("records")} for table in (old, new)]
    found = []
    for key in dict.fromkeys([*both[0], *both[1]]):
        where = ", ".join(part for part in key if part)
        first, second = (side.get(key) for side in both)
        if first is None or second is None:
            found.append((where, "line", "" if first is None else "there", "" if second is None else "there"))
            continue
        for column in dict.fromkeys([*first, *second]):
            was, now = first.get(column, ""), second.get(column, "")
            if was != now:
                found.append((where, column, was, now))
    return found


# --- the table of claims as it is kept ------------------------------------------------------------------------


def kept_claims(folder: Path = REPRODUCED) -> list[claims.Row] | None:
    """Return the stored table of claims; None where the numbers it was decided from have changed since."""
    place = places.results("replication")
    about = place / ABOUT
    if not about.is_file() or json.loads(about.read_text(encoding="utf-8"))["digest"] != digest(folder):
        return None
    return read_claims((place / CLAIMS).read_text(encoding="utf-8"))


def read_claims(text: str) -> list[claims.Row]:
    """Return the table of claims from the text of its file, which the same version wrote."""
    known = {claim.key: claim for claim in claims.claims()}
    return [
        claims.Row(
            known[line["key"]], line["verdict"], line["printed"], line["as published"], line["sound"], line["evidence"]
        )
        for line in _read(text).to_dict("records")
    ]


def publish(folder: Path = REPRODUCED) -> Path:
    """Decide everything again and store what the page shows; return the folder."""
    place = places.own_results("replication")
    for name, content in shown.files(folder, claims.rows(folder)).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content, encoding="utf-8")
    (place / ABOUT).write_text(json.dumps({"digest": digest(folder)}, indent=1) + "\n", encoding="utf-8")
    return place
