"""Reading a stored measurement: every field is checked before anything is computed from it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from privcov import checks
from privcov.measurements.integer_gram import BITS
from privcov.measurements.laws.anchor import BOTH, matters_of
from privcov.measurements.laws.free_groups import groups_of
from privcov.measurements.lengths.bins import BINS
from privcov.measurements.lengths.exact_norms import RULE, NoisyNorms, checked_budget
from privcov.measurements.noise import FREE_GROUPS
from privcov.privacy import Event
from privcov.public_facts import PublicFacts

_BOTH = ("facts", "total", "anchors", "shape", "scale", "event", "grid", "anchor")
_FIELDS = {1: (*_BOTH, "trace"), 2: (*_BOTH, "sums", "version")}  # by the version of the laws
_NORMS = ("rule", "facts", "budget", "counts", "event")
_TRACED = "free-trace"  # the one shape of version 1 whose trace is measured a second time
_LARGEST = 2**127  # of a number with its noise, at the largest table and the largest scale


def fields_of(stored: Any) -> dict:
    """Return the arguments of `NoisySum` from what its `to_dict` wrote.

    What is zero in every table must be zero, and the sum symmetric.

    Guarantee
    ---------
    The one that the stored event states; only the form of the fields is checked.

    Spends
    ------
    Nothing: it reads a stored answer.
    """
    held = stored if isinstance(stored, dict) else {}
    version = held.get("version", 1)
    known = isinstance(version, int) and not isinstance(version, bool) and version in _FIELDS
    if not known or (version == 1 and "version" in held):
        raise ValueError(f"version must be 2, or absent for version 1, got version={version!r}. Use a newer privcov.")
    names, later = _FIELDS[version], ("norms",) if version > 1 else ()
    if not set(names) <= set(held) <= {*names, *later, "centre"}:
        raise ValueError(f"A stored measurement must hold {', '.join(names)} and nothing else, in version {version}.")
    if stored["grid"] != 2 ** (2 * BITS):
        raise ValueError("The measurement was made on another grid, by another version of privcov.")
    facts = PublicFacts.from_dict(stored["facts"])
    norms = _norms(stored["norms"]) if "norms" in stored else None
    if norms is not None and norms.chosen.to_dict() != facts.to_dict():
        raise ValueError("The facts of the measurement are not those that follow from the numbers of rows by length.")
    n_anchors = checks.whole("anchors", stored["anchors"], 0)
    allowed = (len(facts.classes),) if facts.classes else (0, 1) if facts.weight_is_public else (1,)
    if n_anchors not in allowed:
        raise ValueError(
            f"anchors must be {' or '.join(map(str, allowed))} for these facts, got anchors={n_anchors}: one per "
            "class, else one for the mean, which also carries the count where the number of rows, or "
            "their total weight, is not public."
        )
    if matters_of(stored["anchor"], facts.d, n_anchors, facts.relation) != BOTH and version == 1:
        raise ValueError("Version 1 knows one anchor only. Take the measurement as it was stored.")
    trace, shape = stored.get("trace"), stored["shape"]
    if not isinstance(shape, str) or (version == 1 and (trace is not None) != (shape == _TRACED)):
        raise ValueError(f"trace must be there for {_TRACED} noise and for no other, got shape={shape!r}.")
    if shape == (_TRACED if version > 1 else FREE_GROUPS):
        raise ValueError(f"shape={shape!r} is not drawn in version {version}. Take the measurement as it was stored.")
    sums, wanted = stored.get("sums", []), 0
    if shape == FREE_GROUPS:
        wanted = sum(len(group.columns) > 1 for group in groups_of(facts, facts.flagged))
    if not isinstance(sums, list) or len(sums) != wanted:
        raise ValueError(f"sums must hold one whole number for each of {wanted} groups of columns, got {sums!r}.")
    scale = checks.positive("scale", stored["scale"])
    event = event_of(stored["event"])
    if event.scale != scale:
        raise ValueError(f"The measurement and its event name different noise: {scale:g} and {event.scale:g}.")
    return {
        "facts": facts,
        "total": _whole_sum(stored["total"], facts, n_anchors),
        "norms": norms,
        "trace": None if trace is None else _whole("trace", trace),
        "n_anchors": n_anchors,
        "shape": shape,
        "scale": scale,
        "event": event,
        "anchor": stored["anchor"],
        "version": version,
        "sums": tuple(_whole("A sum of a group", value) for value in sums),
    }


def _norms(stored: Any) -> NoisyNorms:
    """Return the first of two measurements, or raise ValueError."""
    if not isinstance(stored, dict) or set(stored) != set(_NORMS):
        raise ValueError(f"norms must hold {', '.join(_NORMS)} and nothing else.")
    if stored["rule"] != RULE or not isinstance(stored["rule"], int) or isinstance(stored["rule"], bool):
        raise ValueError("The row bound follows by another rule, of another version of privcov.")
    counts = stored["counts"]
    if not isinstance(counts, list) or len(counts) != BINS:
        raise ValueError(f"counts must be a list of {BINS} whole numbers, one for each bin of lengths.")
    numbers = tuple(_whole("An entry of counts", count) for count in counts)
    facts, budget = PublicFacts.from_dict(stored["facts"]), checked_budget(stored["budget"])
    return NoisyNorms(facts, budget, numbers, event_of(stored["event"]))


def event_of(stored: Any) -> Event:
    """Return the event that `dataclasses.asdict` wrote.

    Guarantee
    ---------
    The one that the stored fields state; only their form is checked.

    Spends
    ------
    Nothing: it reads a stored answer.

    Reference
    ---------
    The file named in the field ``proof``.
    """
    known = dataclasses.fields(Event)
    if not isinstance(stored, dict) or set(stored) != {f.name for f in known}:
        raise ValueError(f"An event must hold {', '.join(f.name for f in known)} and nothing else.")
    for f in known:
        if f.type == "str" and not isinstance(stored[f.name], str):
            raise ValueError(f"{f.name} of an event must be text, got {stored[f.name]!r}.")
    checks.number("freedom", stored["freedom"])
    return Event(**stored)


def _whole(name: str, value: Any) -> int:
    """Return a whole number within 2^127, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST:
        raise ValueError(f"{name} must be a whole number within 2^127, got {value!r}.")
    return value


def _whole_sum(lines: Any, facts: PublicFacts, n_anchors: int) -> np.ndarray:
    """Return the sum as p x p int64, or Python integers where 64 bits do not suffice."""
    d = facts.width
    size = d + n_anchors
    if not isinstance(lines, list) or [isinstance(x, list) and len(x) for x in lines] != [size] * size:
        raise ValueError(f"total must be {size} lines of {size} whole numbers: declared columns, flags and anchors.")
    numbers = [[_whole("An entry of total", v) for v in line] for line in lines]
    if any(numbers[i][j] != numbers[j][i] for i in range(size) for j in range(i)):
        raise ValueError("total must be symmetric.")
    if any(numbers[i][j] for i in range(d, size) for j in range(d, i)):
        raise ValueError("total must be zero where two classes meet: no row is in both.")
    if any(numbers[column][flag] for column, flag in facts.own_flags):
        raise ValueError("total must be zero where a column meets its own flag: no cell is there and missing.")
    small = all(-(2**63) <= v < 2**63 for line in numbers for v in line)
    return np.array(numbers, dtype=np.int64 if small else object)
