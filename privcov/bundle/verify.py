"""Check a bundle: derive every file again from the measurement and compare; nothing of the bundle is run.

A bundle has four inputs, measurement.json, guarantee.json, ledger_entry.json and declaration.json. Each is read with
every field checked, they are compared with each other, the guarantee is worked out again from facts and noise, and
every other file but the estimates must be, byte for byte, what follows from them. What cannot be worked out again is
listed, never passed over.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from privcov.bundle.archive import BundleError, ensure, read_place
from privcov.bundle.derived import EXTRAS, FORMAT, VERIFY, Inputs, derived_files, manifest_of
from privcov.bundle.inputs import INPUTS, ascii_message, parse_json, read_inputs
from privcov.estimators.base import METHODS, MethodCard
from privcov.releases.private_request import private_methods, private_request

UNCHECKED = (
    "measurement.json: that the noisy numbers were made from the declared table, with fresh noise of the stated law "
    "and scale; the number of rows n",
    "guarantee.json: that this guarantee was kept, because it follows from the noise and the facts that are stated",
    "ledger_entry.json: name, number, reserved_at, raised; of the request draw, version, centre, tuning, the "
    "parameters beyond that the method takes them, and the method among those with the same measurement, so "
    "method_card.txt too",
    "declaration.json: that it is true of the table; name, row_stands_for, label, typical_range, row_bound_search, "
    "dialect and the reasons",
    "that no other step on the rows came before, such as a search whose result was then declared",
)


def check(files: Mapping[str, bytes]) -> tuple[Inputs, list[str]]:
    """Return the inputs, and lines on what holds and what cannot be checked; raise BundleError otherwise."""
    _check_manifest(files)
    for name in INPUTS:
        ensure(name in files, f"{name} is missing")
    bundle_inputs, sentence = read_inputs(files)
    _check_method(bundle_inputs)
    expected = derived_files(bundle_inputs)
    _compare(files, expected)
    loose = sorted({*files} & {*EXTRAS})
    return bundle_inputs, [
        f"Files: {len(files)}, each as listed, none unlisted.",
        f"Guarantee: {sentence}",
        f"Derived again from the measurement, equal byte for byte: {len(expected) - len(INPUTS)} files, "
        f"{sum(name.startswith('matrices/') for name in expected)} matrices among them.",
        *(f"Not checked, may come from anybody: {name} ({EXTRAS[name]})." for name in loose),
        *(f"Cannot be checked: {part}." for part in UNCHECKED),
        "Consistent: everything that can be checked holds.",
    ]


def _check_method(bundle_inputs: Inputs) -> None:
    """Check that the method can have made the measurement: its parameters, its noise, its anchor."""
    request, event = bundle_inputs.entry["request"], bundle_inputs.measurement.event
    method, own = request["method"], request["parameters"]
    ensure(method in [card.key for card in private_methods()], "the method is not offered for private rows")
    _check_parameters(own, METHODS.get(method))
    try:
        method_request = private_request(
            method,
            bundle_inputs.measurement.original_facts,
            bundle_inputs.requested,
            request["centre"],
            {**own, "tuning": request["tuning"]},
        )
        planned_event = method_request.event()
    except (ValueError, TypeError) as problem:
        raise BundleError(f"ledger_entry.json: {ascii_message(problem)}") from None
    ensure(planned_event.mechanism == event.mechanism, f"the method draws no {event.mechanism} noise")
    ensure(
        bool(method_request.measurement_request.search_for) == (bundle_inputs.measurement.search is not None),
        "the method searches for no row bound",
    )
    ensure(planned_event.statistic == event.statistic, "the method measures with another anchor")
    ensure(method_request.input.tuning == request["tuning"], "the method does not record this tuning")


def _compare(files: Mapping[str, bytes], expected: Mapping[str, bytes]) -> None:
    contents = {name: raw for name, raw in files.items() if name not in EXTRAS and name != "manifest.json"}
    for name in sorted({*expected, *contents} - {"verify.py"}):
        ensure(name in contents, f"{name} is missing")
        ensure(name in expected, f"{name!a} is not a file of this bundle")
        ensure(contents[name] == expected[name], f"{name} does not follow from the measurement")
    ensure("verify.py" in contents, "verify.py is missing")
    ensure(
        contents["verify.py"] == VERIFY.read_bytes(),
        "all files but one follow from the measurement, and verify.py is not the one that checks here: it was altered, "
        "or written by another version of privcov. Do not run it; check with that version, or make the bundle again",
    )


def _check_parameters(parameters: dict, card: MethodCard) -> None:
    """Check that the request has the parameters of its method, each with a value that the method takes."""
    for name in sorted(set(parameters) - {spec.name for spec in card.parameters}):
        raise BundleError(f"ledger_entry.json: {card.key} has no parameter {name!a}")
    for spec in card.parameters:
        ensure(spec.name in parameters, f"ledger_entry.json: the request lacks the parameter {spec.name} of {card.key}")
        try:
            value = spec.check(parameters[spec.name])
        except ValueError as problem:
            raise BundleError(f"ledger_entry.json: {ascii_message(problem)}") from None
        ensure(repr(value) == repr(parameters[spec.name]), f"ledger_entry.json: {spec.name} is written in another way")


# --- files --------------------------------------------------------------------------------------------------


def _check_manifest(files: Mapping[str, bytes]) -> None:
    ensure("manifest.json" in files, "manifest.json is missing")
    raw = files["manifest.json"]
    manifest = parse_json("manifest.json", raw)
    ensure(isinstance(manifest, dict) and isinstance(manifest.get("files"), dict), "manifest.json lists no files")
    number = manifest.get("format")
    ensure(
        repr(number) == repr(FORMAT),
        f"it has format {number!a}, and this version of privcov knows {FORMAT}. Check it with the privcov that made it",
    )
    for name in sorted({*files, *manifest["files"]} - {"manifest.json"}):
        ensure(name in manifest["files"], f"unlisted file {name!a}")
        ensure(name in files, f"{name!a} is missing")
        ensure(hashlib.sha256(files[name]).hexdigest() == manifest["files"][name], f"{name!a} was changed")
    contents = {name: content for name, content in files.items() if name != "manifest.json"}
    ensure(raw == manifest_of(contents), "manifest.json is not as it was written")


# --- the command --------------------------------------------------------------------------------------------


def verify(place: Path) -> int:
    """Check the bundle at a place and print the result."""
    try:
        _, lines = check(read_place(place))
    except BundleError as problem:
        print(f"NOT CONSISTENT: {problem}.")
        return 1
    except Exception as problem:  # a hostile file that breaks the check does not pass
        print(f"NOT CONSISTENT: the check failed with {type(problem).__name__}.")
        return 1
    print(*lines, sep="\n")
    return 0
