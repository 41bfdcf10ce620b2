"""A saved study: one plan or several as a JSON text, for `read`."""

from __future__ import annotations

import json

from privcov.studies.plan import Plan

_SENTENCE = 300  # letters of a problem
_FORM = "A field holds a value of the wrong form: compare it with a study that was saved."


def read(content: str | bytes) -> tuple[Plan, ...]:
    """Return the plans of a text by `write`. Raises ValueError with one sentence that names what is wrong."""
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as problem:
        why = problem if isinstance(problem, json.JSONDecodeError) else "a number or a list in it has no end"
        raise ValueError(f"A plan must be JSON, and this text is not: {why}.") from None
    entries = value if isinstance(value, list) else [value]
    if not entries:
        raise ValueError("A saved study holds at least one plan, and this list is empty.")
    plans = []
    for i, entry in enumerate(entries, start=1):
        try:
            plans.append(Plan.from_json(json.dumps(entry)))
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as problem:
            words = str(problem) if isinstance(problem, ValueError) else _FORM
            words = words if len(words) <= _SENTENCE else words[: _SENTENCE - 4] + " ..."  # it may quote the file
            raise ValueError(f"Plan {i} of {len(entries)}: {words}" if len(entries) > 1 else words) from None
    return tuple(plans)
