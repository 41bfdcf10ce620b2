"""Read the four inputs of a bundle: check every field, alone and against the others, and derive the guarantee again."""

from __future__ import annotations

import dataclasses
import datetime
import json
import math
import re
import warnings
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from privcov.bundle.archive import BundleError, ensure
from privcov.bundle.derived import Inputs, declared_facts, round_guarantee_up
from privcov.bundle.safe import ENCODER, json_bytes
from privcov.core import accounting, checks
from privcov.core.guarantees import ApproxDP, BudgetShare, Event, Guarantee, NoPrivacy, ZCDP, from_dict, to_dict
from privcov.ledger.account import cost_of
from privcov.measurements.exact.norm_counts import halvings_of, shares
from privcov.measurements.exact.private_moment import NoisySum, norm_of, planned_events
from privcov.measurements.exact.reading import count_std
from privcov.measurements.noise_theory.anchor import choose_anchor_for
from privcov.measurements.norm_histogram import SEARCHES
from privcov.tables.declaration.declaration import Declaration
from privcov.tables.public_facts import PublicFacts

INPUTS = ("measurement.json", "guarantee.json", "ledger_entry.json", "declaration.json")
ENTRY = ("number", "name", "state", "kind", "amount", "request", "reserved_at", "raised")
REQUEST = ("method", "version", "parameters", "guarantee", "facts", "draw", "centre", "tuning")
_RATIO = r"\d{1,400}(/\d{1,400})?"
_MAX_CONTAINERS = 10_000
_DEVIATIONS = 12  # of a noisy count from the declared number of rows
_CLOSE = Fraction(1, 10**9)  # relative tolerance for a number that was computed numerically
_MARGIN = Fraction(1, 10**12)  # of a small epsilon: more than what `accounting.zcdp_to_approx` adds for rounding


def parse_json(name: str, raw: bytes) -> Any:
    """Return the value of JSON text in the one form of bundles. Raise BundleError for any other form."""
    ensure(raw.count(b"[") + raw.count(b"{") <= _MAX_CONTAINERS, f"{name} holds more lists than any bundle")
    try:
        text = raw.decode("ascii")
        value, at = json.loads(text, parse_constant=_no_number), 0
        for piece in ENCODER.iterencode(value):  # piece by piece: the whole text of a hostile value may be huge
            ensure(text.startswith(piece, at), f"{name} is not as it was written")
            at += len(piece)
    except (ValueError, RecursionError):
        raise BundleError(f"{name} cannot be read") from None
    ensure(text[at:] == "\n", f"{name} is not as it was written")
    return value


def ascii_message(problem: Exception) -> str:
    """Return what an exception says, without its full stop."""
    return str(problem).rstrip(".").encode("ascii", "backslashreplace").decode()


def _no_number(word: str) -> float:
    raise ValueError(word)


def read_inputs(files: Mapping[str, bytes]) -> tuple[Inputs, str]:
    """Return the inputs, each checked alone and against the others, and a sentence on the guarantee."""
    read = {name: parse_json(name, files[name]) for name in INPUTS}
    name = ""
    try:
        name = "measurement.json"
        total = NoisySum.from_dict(read[name])
        ensure(json_bytes({**total.to_dict(), "centre": "joint"}) == files[name], f"{name} is not as it was written")
        name = "ledger_entry.json"
        entry = read[name]
        target = _check_entry(entry, total)
        name = "guarantee.json"
        stated_guarantee = from_dict(read[name])
        ensure(not isinstance(stated_guarantee, NoPrivacy), "guarantee.json states none")
        bundle_inputs = Inputs(total, stated_guarantee, entry, read["declaration.json"])
        sentence = _check_guarantee(bundle_inputs, target)
        name = "declaration.json"
        _check_declaration(bundle_inputs)
    except (ValueError, TypeError, KeyError, ArithmeticError) as problem:
        raise BundleError(f"{name}: {ascii_message(problem)}") from None
    return bundle_inputs, sentence


def _check_entry(entry: Any, total: NoisySum) -> Guarantee:
    """Return the requested guarantee; check that the record is of this measurement and has its cost."""
    ensure(isinstance(entry, dict) and set(entry) == set(ENTRY), f"the entry must hold {', '.join(ENTRY)}")
    request = entry["request"]
    ensure(isinstance(request, dict) and set(request) == set(REQUEST), f"the request must hold {', '.join(REQUEST)}")
    _whole("number", entry["number"], 1)
    _words("name", entry["name"])
    ensure(entry["state"] == "stored", "the entry of the ledger is not of a stored release")
    form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00"
    ensure(bool(re.fullmatch(form, _words("reserved_at", entry["reserved_at"]))), "reserved_at is no time in UTC")
    datetime.datetime.fromisoformat(entry["reserved_at"])
    ensure(isinstance(entry["raised"], list), "raised must be a list of sentences")
    for words in entry["raised"]:
        _words("raised", words)
    _words("method", request["method"])
    _whole("version", request["version"], 1)
    _whole("draw", request["draw"], 1)
    ensure(isinstance(request["parameters"], dict), "parameters must be names with values")
    for value in request["parameters"].values():
        ensure(isinstance(value, (str, bool, int, float, type(None))), "a parameter must be a number or a word")
        ensure(not isinstance(value, float) or math.isfinite(value), "a parameter must be finite")
    facts = total.original_facts.to_dict()
    ensure(request["facts"] == facts, "the request has other facts than the measurement")
    ensure(json_bytes(request["facts"]) == json_bytes(facts), "the facts are written in another way")
    checks.one_of("tuning", request["tuning"], ("released", "fixed"))
    checks.one_of("centre", request["centre"], ("joint", "classes") if total.facts.classes else ("joint",))
    target = from_dict(request["guarantee"])
    ensure(not isinstance(target, NoPrivacy), "no guarantee was asked for")
    ensure(json_bytes(request["guarantee"]) == json_bytes(to_dict(target)), "the guarantee is written in another way")
    if isinstance(target, ApproxDP):  # its cost was computed numerically, as the largest rho that implies the pair
        # As text first: of "1e999999999" Fraction makes a number of a billion digits.
        ensure(
            bool(re.fullmatch(_RATIO, _words("amount", entry["amount"]))), "amount must be a whole number or a ratio"
        )
        amount = Fraction(entry["amount"])
        ensure(entry["kind"] == "zcdp" and str(amount) == entry["amount"] and amount > 0, "the cost is none of a pair")
        ensure(amount == Fraction(float(amount)), "the cost is no number that the ledger writes")
        cost_epsilon = Fraction(least_epsilon(float(amount), target.delta))
        ensure(_same(cost_epsilon, target.epsilon), "the cost differs from the requested guarantee's")
    else:
        cost = cost_of(target)
        ensure(
            (entry["kind"], entry["amount"]) == (cost.kind, str(cost.amount)), "the cost is not that of the guarantee"
        )
    return target


def _check_guarantee(bundle_inputs: Inputs, target: Guarantee) -> str:
    """Return a sentence on what facts and noise give, where the event is the one that the library would plan."""
    total, stated_guarantee = bundle_inputs.measurement, bundle_inputs.stated_guarantee
    # The scale follows exactly, except for the last digit where the share itself is a rounded decimal.
    slack = Fraction(1, 10**15) if isinstance(target, ApproxDP) else Fraction(0)
    share: BudgetShare = (
        ZCDP(float(Fraction(bundle_inputs.entry["amount"]))) if isinstance(target, ApproxDP) else target
    )
    anchor_for = choose_anchor_for(total.anchor, total.facts.d, total.n_anchors, total.facts.relation)
    how: dict[str, Any] = {"shape": total.shape, "anchor_for": anchor_for}
    if total.search is None:
        event_plan = planned_events(total.facts, share, **how)
    else:
        event_plan = planned_events(total.original_facts, share, **how, search_for=SEARCHES[0], bound=total.facts)
        counts, rest = total.search.counts, shares(share)[1]
        ask = counts, total.original_facts, total.search.event, rest
        follow = [halvings_of(*ask, search_for) for search_for in SEARCHES]
        ensure(total.search.halvings in follow, "the row bound does not follow from the noisy counts of the norms")
    for there, planned_event in zip(total.events, event_plan, strict=True):
        _check_event(there, planned_event, slack)
    _check_count(total)
    ensure(norm_of(total.shape) == total.event.norm, "noise of this shape is not drawn for these facts")
    if isinstance(target, ApproxDP):
        rho = accounting.zcdp_sum(total.events)
        ensure(rho <= Fraction(bundle_inputs.entry["amount"]), "the noise is less than what was paid for")
        least = Fraction(least_epsilon(float(rho), target.delta))
        ensure(
            isinstance(stated_guarantee, ApproxDP) and stated_guarantee.delta == target.delta,
            "the delta is not the one asked for",
        )
        near = {round_guarantee_up(ApproxDP(float(least * (1 + s * _CLOSE)), target.delta)) for s in (-1, 1)}
        if _same(least, target.epsilon):  # then the requested guarantee itself is stated
            near = {round_guarantee_up(target)}
        ensure(stated_guarantee in near, "the noise does not give the stated epsilon and delta")
    else:
        real = accounting.compose(total.events, target)
        ensure(stated_guarantee == real, f"the noise gives {real!r}, and {stated_guarantee!r} is stated")
        ensure(
            accounting.covers(target, stated_guarantee),
            f"{target} was asked for and paid, and the noise gives {stated_guarantee} only",
        )
    k, unit = total.facts.rows_per_person, total.facts.neighbours
    people = "one row of a person" if k == 1 else f"up to {k} rows of a person together"
    people = unit.unit if unit.count_unit == "persons" else people
    return f"{stated_guarantee}, for {people}; sensitivity and noise derived from the declared facts."


def _check_count(total: NoisySum) -> None:
    facts, d = total.facts, total.facts.width
    if facts.n is None:
        return
    noisy_count = sum(int(t) for t in np.diag(total.total)[d:]) / total.anchor**2
    far = _DEVIATIONS * count_std(total)
    # With classes a row whose label is not in the list counts as no row.
    few = not facts.classes and noisy_count < facts.n - far
    ensure(
        not few and noisy_count <= facts.n + far,
        f"{facts.n} rows are declared, and the sum has about {noisy_count:.0f} +- {count_std(total):.2g}",
    )


def _check_event(event: Event, planned_event: Event, slack: Fraction) -> None:
    """Check that the event is the planned one, its scale up to the relative slack."""
    off = abs(Fraction(planned_event.scale) / Fraction(event.scale) - 1)
    ensure(off <= slack, "the noise does not fit the requested guarantee")
    for field, value in dataclasses.asdict(dataclasses.replace(planned_event, scale=event.scale)).items():
        there = getattr(event, field)
        ensure(
            repr(there) == repr(value),
            f"{field} of the event is {there!a}, and from the declared facts follows {value!a}",
        )


def _same(exact_epsilon: Fraction, epsilon: float) -> bool:
    return abs(exact_epsilon - Fraction(epsilon)) <= _CLOSE * Fraction(epsilon) + _MARGIN


def least_epsilon(rho: float, delta: float) -> float:
    """Return the epsilon of rho-zCDP at delta, over many orders: never below the true one, and within 1e-12 of it."""
    low, high = accounting.orders(rho, delta)
    for _ in range(6):  # in every round the best order lies between the neighbours of the best grid point
        grid = [low + (high - low) * k / 60 for k in range(61)]
        epsilons = [accounting.epsilon_at_order(t, rho, delta) for t in grid]
        best = epsilons.index(min(epsilons))
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, 60)]
    return max(min(epsilons[best], accounting.zcdp_to_approx(rho, delta, tight=False)), 1e-300)


def _check_declaration(bundle_inputs: Inputs) -> None:
    declaration, facts = bundle_inputs.declaration, bundle_inputs.measurement.original_facts
    ensure(isinstance(declaration, dict), "the declaration must be names with values")
    if set(declaration) == {"facts", "neighbours"}:
        ensure(
            json_bytes(declaration) == json_bytes(declared_facts(bundle_inputs.measurement)),
            "the declaration is not that of the measurement",
        )
        return
    implied = facts_of(declaration, facts.n)
    ensure(
        json_bytes(implied.to_dict()) == json_bytes(facts.to_dict()), "the declaration is not that of the measurement"
    )
    ensure(
        declaration["name"].strip() == bundle_inputs.entry["name"],
        "the declaration is of another table than the ledger's entry",
    )


def facts_of(declaration: dict, n: int | None) -> PublicFacts:
    """Return the public facts of an owner's declaration, for n rows; raise ValueError or BundleError."""
    ensure(isinstance(declaration, dict), "the declaration must be names with values")
    parsed_declaration = Declaration.from_json(json.dumps(declaration))
    ensure(
        json_bytes(json.loads(parsed_declaration.to_json())) == json_bytes(declaration),
        "the declaration is not as it is written",
    )
    places = [end for column in parsed_declaration.columns for end in (column.low, column.high, column.typical)]
    ensure(
        parsed_declaration.row_bound is None or not any(v is not None for v in places),
        "a declaration has bounds or a row_bound",
    )
    ensure(
        bool(parsed_declaration.classes) == bool(parsed_declaration.label),
        "a label has classes, and classes have a label",
    )
    ensure(
        (n is not None) == parsed_declaration.n_public,
        "the declaration and the measurement differ on whether n is public",
    )
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        return dataclasses.replace(parsed_declaration.facts, n=n)


def _whole(name: str, value: Any, low: int) -> None:
    ensure(
        isinstance(value, int) and not isinstance(value, bool) and value >= low,
        f"{name} must be a whole number >= {low}",
    )


def _words(name: str, value: Any) -> str:
    ensure(isinstance(value, str) and bool(value.strip()), f"{name} must be text")
    return value
