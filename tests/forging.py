"""Bundles made for tests, and a forger who changes one place, redoes every hash and rewrites what follows from it."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import privcov
from privcov.bundle import derived, verify
from privcov.bundle.archive import BundleError
from privcov.bundle.derived import EXTRAS, Inputs, derived_files, manifest_of
from privcov.bundle.inputs import INPUTS
from privcov.core.guarantees import ApproxDP, PureDP, ZCDP, from_dict
from privcov.ledger import Ledger
from privcov.measurements.exact.private_moment import NoisySum

NAMES = ["=cmd|'/c calc'!A0", "<script>alert(1)</script>", "weight", "height"]
ROWS = 1234
TYPED = {
    NAMES[0]: privcov.Kind("integer", 0, 120, typical=40, weight=2),
    NAMES[1]: privcov.Kind("category", values=("40", "50", "60"), other=True),
    "weight": privcov.Kind("number", 0, 1e4, transform="log1p"),
    "height": privcov.Kind("yes-no", values=("40", "50"), missing_codes=("n.k.",)),
}
_LABELS = {"labels": ["a", "b"] * (ROWS // 2), "classes": ["a", "b"]}
KINDS: dict[str, tuple] = {
    "zcdp": ("gaussian-cov", ZCDP(0.5), {}),
    "approx, hidden n": ("gaussian-cov", ApproxDP(1.0, 1e-6), {"n_public": False}),
    "laplace": ("laplace-cov", PureDP(1.0), {}),
    "wishart, a person with rows": ("wishart-difference", PureDP(1.0), {"rows_per_person": 3}),
    "persons, pure": ("wishart-difference", PureDP(1.0), {"persons": [k // 3 for k in range(ROWS)]}),
    "persons": ("gaussian-cov", ZCDP(0.5), {"persons": [k // 5 for k in range(ROWS)]}),
    "classes": ("gaussian-cov", ZCDP(0.5), _LABELS),
    "classes, hidden n": ("wishart-difference", PureDP(2.0), {**_LABELS, "n_public": False}),
    "missing cells": ("gaussian-cov", ZCDP(0.5), {"missing": "pairs"}),
    "auto": ("auto-cov", ZCDP(0.5), {}),
    "auto, a row bound": ("auto-cov", ZCDP(0.5), {"bounds": None, "row_bound": 200.0}),
    "auto, hidden n": ("auto-cov", ZCDP(0.5), {"n_public": False}),
    "shortened rows": ("gaussian-cov", ZCDP(0.5), {"row_bound_fraction": 0.5, "rows_per_person": 2}),
    "typed columns": (
        "gaussian-cov",
        ZCDP(0.5),
        {"bounds": None, "kinds": TYPED, "missing_codes": ["-9"], "missing": "pairs"},
    ),
    "row bound search": ("auto-cov", ZCDP(0.5), {}),
    "row bound search, pure, persons": ("auto-cov", PureDP(2.0), {"persons": [k // 2 for k in range(ROWS)]}),
    "row bound search, approx": ("auto-cov", ApproxDP(1.0, 1e-6), {"bounds": None, "row_bound": 400.0}),
}


def released(folder: Path, kind: str) -> tuple[privcov.Release, Ledger]:
    """A release of made-up rows, on a ledger of its own."""
    method, guarantee, facts = KINDS[kind]
    searched = "search" in kind
    d = 12 if searched else 4
    x = np.random.default_rng(3).multivariate_normal([50] * d, 60 + 100 * np.eye(d), ROWS)
    declared = {"bounds": [(0, 100)] * d} | facts
    if "missing" in facts:
        x[::5, 0] = x[1::3, 1] = np.nan
    if "kinds" in facts:
        x = np.round(x, -1)
    names = [*NAMES, *(f"x{k}" for k in range(d - 4))]
    private = privcov.PrivateDataset.from_rows(x, columns=names, name="t", **declared)
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.set_limit("t", guarantee)
    how = {"row_bound_search": "auto"} if searched else {}
    return privcov.release_private(private, guarantee, method, ledger=ledger, **how), ledger


def files_of(raw: bytes) -> dict[str, bytes]:
    """Path in the zip -> bytes."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def bundled(folder: Path, kind: str) -> dict[str, bytes]:
    """The files of a bundle of this kind."""
    rel, _ = released(folder, kind)
    rel.save_bundle(folder / "out.zip")
    return files_of((folder / "out.zip").read_bytes())


def redone(files: dict[str, bytes]) -> dict[str, bytes]:
    """With a manifest that fits, as a forger leaves it."""
    kept = {name: raw for name, raw in files.items() if name != "manifest.json"}
    return {**kept, "manifest.json": manifest_of(kept)}


_known: dict[tuple, dict[str, bytes]] = {}


def problem(files: dict[str, bytes], monkeypatch) -> str:
    """What the check says against these files; "" where they pass. Files from the same inputs are derived once."""

    def once(what: Inputs) -> dict[str, bytes]:
        key = tuple(files[name] for name in INPUTS)
        if key not in _known:
            _known[key] = derived_files(what)
        return _known[key]

    with monkeypatch.context() as patch:
        patch.setattr(verify, "derived_files", once)
        try:
            verify.check(files)
        except BundleError as found:
            return str(found)
    return ""


def rewritten(files: dict[str, bytes], name: str, value: object) -> dict[str, bytes]:
    """An input exchanged, and everything else made to follow from it where the library can; else its hash redone."""
    changed = {**files, name: derived.json_bytes(value)}
    read = {one: json.loads(changed[one]) for one in INPUTS}
    try:
        what = Inputs(
            NoisySum.from_dict(read["measurement.json"]),
            from_dict(read["guarantee.json"]),
            read["ledger_entry.json"],
            read["declaration.json"],
        )
        following = {k: v for k, v in derived_files(what).items() if k not in INPUTS}
    except Exception:  # a forger too may fail
        following = {}
    return redone({**changed, **following})


def leaves(value: object, path: tuple = ()) -> Iterator[tuple]:
    """The path of every leaf and of every empty container."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = False
    for key, part in inside:
        found = True
        yield from leaves(part, (*path, key))
    if not found:
        yield path


def at(value, path: tuple):
    """What lies at a path."""
    for key in path:
        value = value[key]
    return value


def exchanged(value, path: tuple, *new):
    """A copy with the leaf at ``path`` exchanged, or taken out where nothing is given."""
    made = copy.deepcopy(value)
    holder = at(made, path[:-1])
    if new:
        holder[path[-1]] = new[0]
    else:
        del holder[path[-1]]
    return made


def unchecked(name: str, path: tuple) -> bool:
    """Whether a leaf is one of those that `verify.UNCHECKED` lists in words."""
    if name == "measurement.json":  # another symmetric sum of whole numbers may have come from other rows
        if path[:2] == ("search", "counts"):  # within the same row bound, which follows from them
            return True
        return path[0] == "sums" or (path[0] == "total" and path[1] == path[2])
    if name == "ledger_entry.json":
        inside = ("method", "version", "parameters", "draw", "centre", "tuning")
        return path[0] in ("number", "name", "reserved_at", "raised") or (path[0] == "request" and path[1] in inside)
    if name == "declaration.json":
        return path[0] in ("row_stands_for", "label", "dialect") or path[-1] == "reason" or "typical_range" in path
    return name in EXTRAS
