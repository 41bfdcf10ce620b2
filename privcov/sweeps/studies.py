"""A saved study: one plan or several, as a JSON text for a file, or shorter, for an address.

from privcov.sweeps import studies

plans = studies.read(open("plan.json").read())
table = studies.run(plans)
summary = studies.summary(plans, table)
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
import zlib
from collections.abc import Callable, Sequence

import pandas as pd

from privcov.sweeps import plan as plans_module
from privcov.sweeps.plan import Plan, column_of, summarise
from privcov.sweeps.store import Store

MOST_BYTES = 1_000_000
MOST_PLANS, MOST_POINTS = 200, 20_000  # points: combinations of varied values, methods and guarantees of one plan
_SENTENCE, _QUOTED = 300, 40  # letters of a problem that quotes a file, and of a name in it
_FORM = "A field holds a value of the wrong form: compare it with a study that was saved."
_DIGITS = 400  # of a whole number: more than any float has


def write(plans: Sequence[Plan]) -> str:
    """Return one plan as `Plan.to_json` writes it, several as a JSON list of them."""
    if len(plans) == 1:
        return plans[0].to_json()
    return json.dumps([json.loads(plan.to_json()) for plan in plans], indent=2)


def read(content: str | bytes) -> tuple[Plan, ...]:
    """Return the plans of a text by `write`. Raises ValueError with one sentence that names what is wrong."""
    if len(content) > MOST_BYTES:
        raise ValueError(f"A saved study has at most {MOST_BYTES:,} bytes, and this file has {len(content):,}.")
    try:
        text = content.decode("utf-8-sig") if isinstance(content, bytes) else content
    except UnicodeDecodeError:
        raise ValueError("A saved study is a JSON text, and this file is not text (UTF-8).") from None
    try:
        parsed = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse, parse_int=_int)
    except json.JSONDecodeError as problem:
        raise ValueError(f"A plan must be JSON, and this text is not: {problem}.") from None
    except RecursionError:
        raise ValueError("A saved study has few levels of brackets, and this text has too many.") from None
    several = isinstance(parsed, list)
    entries = parsed if several else [parsed]
    if not 1 <= len(entries) <= MOST_PLANS:
        raise ValueError(f"A saved study holds from 1 to {MOST_PLANS} plans, got {len(entries):,}.")
    return tuple(
        _one(entry, f"Plan {i} of {len(entries)}: " if several else "") for i, entry in enumerate(entries, start=1)
    )


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Refuse a name that occurs twice: JSON leaves open which of two equal names counts."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"A saved study names {twice[:_QUOTED]!r} twice in one place: leave one of them out.")
    return fields


def _refuse(word: str) -> object:
    raise ValueError(f"A saved study holds {word}, which is no number in JSON: write a finite number.")


def _int(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise ValueError(f"A saved study holds a number of {len(digits):,} digits; {_DIGITS} is the limit.")
    return int(digits)


def _one(entry: object, place: str) -> Plan:
    """Return one plan, or raise ValueError in a sentence of limited length."""
    try:
        _check_size(entry)
        return Plan.from_json(json.dumps(entry))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as problem:
        known = isinstance(problem, ValueError)
        words = re.sub(r"\s+", " ", str(problem) if known else _FORM)
        words = words if len(words) <= _SENTENCE else words[: _SENTENCE - 4] + " ..."
        raise ValueError(place + words) from None


def _check_size(entry: object) -> None:
    """Refuse too many combinations before they are multiplied out.

    Three long lists in a small file make a study that cannot be run.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("vary", {}), dict):
        return
    lists = [*entry.get("vary", {}).values(), entry.get("methods", ()), entry.get("guarantees", ())]
    points = math.prod(max(1, len(v)) for v in lists if isinstance(v, list))
    if points > MOST_POINTS:
        raise ValueError(
            f"vary, methods and guarantees make {points:,} combinations; {MOST_POINTS:,} is the limit of one plan. Use "
            "fewer values, or several plans."
        )


def compact(plans: Sequence[Plan]) -> str:
    """Write plans as `write` does, for an address: letters, digits, - and _ only."""
    text = json.dumps(json.loads(write(plans)), separators=(",", ":"))
    return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode().rstrip("=")


def expand(text: str) -> tuple[Plan, ...]:
    """Return the plans of `compact`. Raises ValueError with one sentence."""
    try:
        packed = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, MOST_BYTES)
    except (binascii.Error, zlib.error, ValueError):
        raise ValueError("It is not a study, or only a part of one: a link must be copied whole.") from None
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError("It is not a whole study: a link must be copied whole.")
    return read(content)


def run(
    plans: Sequence[Plan],
    progress: Callable[[int, int, list[dict]], None] | None = None,
    store: Store | None = None,
    *,
    workers: int | None = None,
) -> pd.DataFrame:
    """Return the tidy tables of all plans in one, as `privcov.run` makes them.

    progress(done, total, cell) counts over all plans.
    """
    return pd.concat(plans_module.tables(plans, progress, store, workers=workers), ignore_index=True)


def groups(plans: Sequence[Plan]) -> list[str]:
    """Return the columns of the table that separate one point of the study from another."""
    varied = dict.fromkeys(column_of(name) for plan in plans for name in plan.vary)
    columns = ["source"] if len({plan.source for plan in plans}) > 1 else []
    return [*columns, "method", "guarantee", "epsilon", "delta", "rho", *varied]


def summary(plans: Sequence[Plan], table: pd.DataFrame) -> pd.DataFrame:
    """Summarise every point: mean over replicates, 10 % and 90 % quantiles; columns without a value are left out."""
    points = summarise(table, groups(plans))
    return points.drop(columns=[name for name in groups(plans) if points[name].isna().all()])
