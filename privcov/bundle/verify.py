"""Check a bundle: derive every file again from the measurement and compare; nothing of the bundle is run.

A bundle has four inputs, measurement.json, guarantee.json, ledger_entry.json and declaration.json. Each is read with
every field checked, they are compared with each other, the guarantee is worked out again from facts and noise, and
every other file but the pictures must be, byte for byte, what follows from them. What cannot be worked out again is
listed, never passed over.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from privcov.bundle.derived import EXTRAS, FORMAT, Inputs, Library, derived_files, manifest_of, noise_key
from privcov.bundle.inputs import INPUTS, parsed, read_inputs
from privcov.bundle.place import Wrong, must, read_place
from privcov.measurements.laws.anchor import whole_anchor

UNCHECKED = (
    "measurement.json: that the noisy numbers were made from the declared table, with fresh noise of the stated law "
    "and scale; the number of rows n",
    "guarantee.json: that this guarantee was kept, because it follows from the noise and the facts that are stated",
    "ledger_entry.json: name, number, reserved_at, raised; of the request draw, version, centre, tuning, the "
    "parameters beyond that the method takes them, and the method among those with the same measurement, so "
    "method_card.txt too",
    "declaration.json: that it is true of the table; name, row_stands_for, label, usual, dialect and the reasons",
)


def check(files: Mapping[str, bytes], library: Library) -> tuple[Inputs, list[str]]:
    """Return the inputs, and what holds and what cannot be checked, as lines for the screen; raise `Wrong` else."""
    _check_manifest(files)
    for name in INPUTS:
        must(name in files, f"{name} is missing")
    what, sentence = read_inputs(files)
    _check_method(what, library)
    expected = derived_files(what, library)
    _compare(files, expected, library)
    loose = sorted({*files} & {*EXTRAS})
    return what, [
        f"Files: {len(files)}, each as listed, none unlisted.",
        f"Guarantee: {sentence}",
        f"Derived again from the measurement, equal byte for byte: {len(expected) - len(INPUTS)} files, "
        f"{sum(name.startswith('matrices/') for name in expected)} matrices among them.",
        *(f"Not checked, may come from anybody: {name} ({EXTRAS[name]})." for name in loose),
        *(f"Cannot be checked: {part}." for part in UNCHECKED),
        "Consistent: everything that can be checked holds.",
    ]


def _check_method(what: Inputs, library: Library) -> None:
    """Check that the method can have made the measurement: its noise, its anchor, its parameters."""
    method, measurement = what.entry["request"]["method"], what.measurement
    must(method in library.cards, "the method is none that private rows are offered")
    facts, mechanism = measurement.facts, measurement.event.mechanism
    drawn = noise_key(method, what.requested.kind, facts.d)
    must(mechanism in library.noise.get(drawn, ()), f"the method draws no {mechanism} noise ({drawn})")
    favours, _ = library.parameters[method]
    anchor = whole_anchor(favours, facts.d, measurement.n_anchors, facts.relation)
    must(anchor == measurement.anchor, "the method measures with another anchor")
    _check_parameters(what.entry["request"], library)


def _compare(files: Mapping[str, bytes], expected: Mapping[str, bytes], library: Library) -> None:
    """Compare every file with what follows from the inputs, byte for byte."""
    given = {name: raw for name, raw in files.items() if name not in EXTRAS and name != "manifest.json"}
    for name in sorted({*expected, *given} - {"verify.py"}):
        must(name in given, f"{name} is missing")
        must(name in expected, f"{name!a} is not a file of this bundle")
        must(given[name] == expected[name], f"{name} does not follow from the measurement")
    must("verify.py" in given, "verify.py is missing")
    must(
        given["verify.py"] == library.verifier,
        "all files but one follow from the measurement, and verify.py is not the one that checks here: it was altered, "
        "or written by another version of privcov. Do not run it; check with that version, or make the bundle again",
    )


def _check_parameters(request: dict, library: Library) -> None:
    """Check that the request has the parameters of its method, each with a value that the method takes."""
    (_, specs), given = library.parameters[request["method"]], request["parameters"]
    for name in sorted(set(given) - {spec.name for spec in specs}):
        raise Wrong(f"ledger_entry.json: {request['method']} has no parameter {name!a}")
    for spec in specs:
        must(
            spec.name in given, f"ledger_entry.json: the request lacks the parameter {spec.name} of {request['method']}"
        )
        try:
            value = spec.check(given[spec.name])
        except ValueError as problem:
            said = str(problem).rstrip(".").encode("ascii", "backslashreplace").decode()
            raise Wrong(f"ledger_entry.json: {said}") from None
        must(repr(value) == repr(given[spec.name]), f"ledger_entry.json: {spec.name} is written in another way")


# --- files --------------------------------------------------------------------------------------------------


def _check_manifest(files: Mapping[str, bytes]) -> None:
    must("manifest.json" in files, "manifest.json is missing")
    raw = files["manifest.json"]
    manifest = parsed("manifest.json", raw)
    must(isinstance(manifest, dict) and isinstance(manifest.get("files"), dict), "manifest.json lists no files")
    number = manifest.get("format")
    must(
        repr(number) == repr(FORMAT),
        f"it has format {number!a}, and this version of privcov knows {FORMAT}. Check it with the privcov that made it",
    )
    for name in sorted({*files, *manifest["files"]} - {"manifest.json"}):
        must(name in manifest["files"], f"unlisted file {name!a}")
        must(name in files, f"{name!a} is missing")
        must(hashlib.sha256(files[name]).hexdigest() == manifest["files"][name], f"{name!a} was changed")
    listed = {name: content for name, content in files.items() if name != "manifest.json"}
    must(raw == manifest_of(listed), "manifest.json is not as it was written")


# --- the command --------------------------------------------------------------------------------------------


def verify(place: Path, library: Library) -> int:
    """Check the bundle at a place and print the result."""
    try:
        _, lines = check(read_place(place), library)
    except Wrong as problem:
        print(f"NOT CONSISTENT: {problem}.")
        return 1
    except Exception as problem:  # a hostile file that breaks the check does not pass
        print(f"NOT CONSISTENT: the check failed with {type(problem).__name__}.")
        return 1
    print(*lines, sep="\n")
    return 0


def main(library: Library, here: Path) -> int:
    """Run the command of verify.py on the bundle that its arguments name."""
    parser = argparse.ArgumentParser(prog="verify.py", description="Check a bundle of PrivCov without the data.")
    parser.add_argument("bundle", nargs="?", type=Path, default=here, help="folder or zip; this script's own folder")
    place = parser.parse_args().bundle
    inside = os.path.realpath(place)
    sys.path[:] = [
        p for p in sys.path if os.path.realpath(p) != inside and not os.path.realpath(p).startswith(inside + os.sep)
    ]
    return verify(place, library)
