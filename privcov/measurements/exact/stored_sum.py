"""Reading a stored measurement: every field is checked before anything is computed from it."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from privcov.core import checks
from privcov.core.guarantees import Event
from privcov.measurements.exact.integer_gram import BITS
from privcov.measurements.exact.norm_counts import steps_of
from privcov.measurements.noise import FREE_GROUPS
from privcov.measurements.noise_theory.anchor import choose_anchor_for
from privcov.measurements.noise_theory.free_groups import groups_of
from privcov.measurements.norm_histogram import BINS, RowBoundSearch
from privcov.tables.public_facts import PublicFacts

VERSION = 2  # of the laws by which the noise was drawn
_FIELDS = ("facts", "total", "anchors", "shape", "scale", "event", "grid", "anchor", "sums", "version")
DRAWN_SHAPES = ("isotropic", FREE_GROUPS, "laplace", "wishart-difference", "coupled-wishart")  # that are drawn
_LARGEST = 2**127  # largest noisy number, at the largest table and scale


def fields_of(data: Any) -> dict:
    """Return the arguments of `NoisySum` from what its `to_dict` wrote; only their form is checked.

    The sum must be symmetric, and zero where it is zero in every table; the guarantee is that of the stored event.
    """
    fields = data if isinstance(data, dict) else {}
    if repr(fields.get("version")) != repr(VERSION):
        raise ValueError(
            f"The measurement is of version {fields.get('version')!r}, and this privcov reads version {VERSION}. Read "
            "it with the privcov that made it."
        )
    if set(fields) - {"centre", "search"} != set(_FIELDS):
        raise ValueError(f"A stored measurement must hold {', '.join(_FIELDS)} and nothing else.")
    if data["grid"] != 2 ** (2 * BITS):
        raise ValueError("The measurement was made on another grid, by another version of privcov.")
    original_facts = facts = PublicFacts.from_dict(data["facts"])
    search = None
    if "search" in data:
        search = _search_of(data["search"], facts)
        facts = facts.with_shorter_bound(search.factor) if search.halvings else facts
    n_anchors = checks.integer("anchors", data["anchors"], 0)
    if n_anchors != facts.n_anchors:
        raise ValueError(
            f"anchors must be {facts.n_anchors} for these facts, got anchors={n_anchors}: one per class, else one for "
            "the mean. Measure the table again with this privcov."
        )
    choose_anchor_for(data["anchor"], facts.d, n_anchors, facts.relation)  # raises for another anchor
    shape = checks.one_of("shape", data["shape"], DRAWN_SHAPES)
    sums, n_groups = data["sums"], 0
    if shape == FREE_GROUPS:
        n_groups = sum(len(group.columns) > 1 for group in groups_of(facts, facts.flagged))
    if not isinstance(sums, list) or len(sums) != n_groups:
        raise ValueError(f"sums must hold one whole number for each of {n_groups} groups of columns, got {sums!r}.")
    scale = checks.positive("scale", data["scale"])
    event = event_of(data["event"])
    if event.scale != scale:
        raise ValueError(f"The measurement and its event name different noise: {scale:g} and {event.scale:g}.")
    return {
        "facts": facts,
        "total": _whole_sum(data["total"], facts, n_anchors),
        "n_anchors": n_anchors,
        "shape": shape,
        "scale": scale,
        "event": event,
        "anchor": data["anchor"],
        "sums": tuple(_whole("A sum of a group", value) for value in sums),
        "search": search,
        "before": None if search is None else original_facts,
    }


def _search_of(data: Any, facts: PublicFacts) -> RowBoundSearch:
    """Return the search for a row bound that `NoisySum.to_dict` wrote; only its form is checked."""
    if not isinstance(data, dict) or set(data) != {f.name for f in dataclasses.fields(RowBoundSearch)}:
        raise ValueError("A search must hold counts, halvings, event and steps and nothing else.")
    counts, steps = data["counts"], steps_of(facts)
    if not isinstance(counts, list | tuple) or len(counts) != BINS:
        raise ValueError(f"counts must hold {BINS} whole numbers, one for each bin of norms.")
    if data["steps"] != steps:
        raise ValueError(f"A row is counted in {steps} steps for these facts, and not in {data['steps']!r}.")
    halved = checks.integer("halvings", data["halvings"], 0, BINS - 1)
    return RowBoundSearch(tuple(_whole("A count", c) for c in counts), halved, event_of(data["event"]), steps)


def event_of(data: Any) -> Event:
    """Return the event that `dataclasses.asdict` wrote.

    Guarantee: the one that the stored fields state; only their form is checked. Spends: nothing: it reads a stored
    answer. Source: the file named in the field ``proof``.
    """
    fields = dataclasses.fields(Event)
    if not isinstance(data, dict) or set(data) != {f.name for f in fields}:
        raise ValueError(f"An event must hold {', '.join(f.name for f in fields)} and nothing else.")
    for f in fields:
        if f.type == "str" and not isinstance(data[f.name], str):
            raise ValueError(f"{f.name} of an event must be text, got {data[f.name]!r}.")
    checks.number("freedom", data["freedom"])
    return Event(**data)


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
    if any(numbers[column][flag] for column, flag in facts.column_flag_pairs):
        raise ValueError("total must be zero where a column meets its own flag: no cell is there and missing.")
    small = all(-(2**63) <= v < 2**63 for line in numbers for v in line)
    return np.array(numbers, dtype=np.int64 if small else object)
