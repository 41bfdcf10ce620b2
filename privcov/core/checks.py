"""Checks that raise ``ValueError`` with a sentence for the user, which the screen shows too.

The sentence is kind, and names the parameter, its value, the limit and, where one helps, the remedy.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

Choice = TypeVar("Choice")
Called = TypeVar("Called", bound=Callable)
_WRITTEN = "Guarantees are privcov.PureDP(1.0), privcov.ApproxDP(1.0, 1e-6) and privcov.ZCDP(rho=0.1)."
_ELSEWHERE = dict.fromkeys(("guarantee", "epsilon", "rho", "delta"), _WRITTEN) | {
    "alpha": "The level is 1 - alpha.",
    "level": "The level of all intervals is that of privcov.answers(x, level=0.95).",
    "seed": "The noise of simulated and public rows has random_state=.",
    "declaration": "A saved declaration opens as privcov.Declaration.from_json(text).dataset_from_files(path).",
    "person": "Persons with several rows are protected by PrivateDataset.from_rows.",
}

_OF_COLUMNS = {"row_bound": "Limits of columns are given as bounds=."}


# Words of an annotation for one value, and for a list. A table there may be rows passed to the
# wrong place.
_ONE = frozenset(
    re.findall(
        r"\w+",
        "str int float bool None Literal Guarantee  Neighbours Centre Tuning Ledger Dialect Store "
        "Limit KindName Transform Method Path bytes Which",
    )
)
_MANY = {"Sequence", "Iterable", "tuple", "list", "Mapping", "dict", "ndarray"}
_SOME = _ONE | _MANY - {"ndarray"} | {"Kind", "Column", "object"}


def explain_arguments(called: Called) -> Called:
    """Make a call with wrong arguments list the accepted ones.

    The message does not repeat an argument that is a table or a list, because the argument may hold rows.
    """
    if isinstance(called, type):
        called.__init__ = explain_arguments(called.__init__)  # type: ignore[misc] # of the class itself
        return called

    @functools.wraps(called)
    def explaining(*args: Any, **kwargs: Any) -> Any:
        names = list(_parameter_forms(called))
        args = (
            tuple(_as_taken(called, name, value) for name, value in zip(names, args, strict=False)) + args[len(names) :]
        )
        kwargs = {name: _as_taken(called, name, value) for name, value in kwargs.items()}
        try:
            return called(*args, **kwargs)
        except TypeError as problem:
            if problem.__traceback__ is None or problem.__traceback__.tb_next is not None:
                raise  # from inside
            raise TypeError(_argument_error(called, str(problem), kwargs)) from None

    return explaining  # type: ignore[return-value] # the same signature


@functools.lru_cache(maxsize=256)
def _parameter_forms(called: Callable) -> dict[str, str]:
    """Return what each parameter takes by its annotation: "one" value, a "list", "many" values, or "" for anything."""
    import inspect

    forms: dict[str, str] = {}
    if called.__module__ == "privcov.releases.scikit_learn":  # scikit-learn's models check nothing before fit
        return forms
    for one in inspect.signature(called).parameters.values():
        words = set(re.findall(r"[A-Za-z_]\w*", re.sub(r"['\"][^'\"]*['\"]", "", str(one.annotation))))
        takes = "one" if words <= _ONE else "list" if words <= _SOME else "many" if words & _MANY else ""
        forms[one.name] = takes if words and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL) else ""
    return forms


def _as_taken(called: Callable, name: str, value: Any) -> Any:
    """Return an argument, an array as a list where a list is taken.

    Raise TypeError for a table, and for a number in place of a list.
    """
    takes = _parameter_forms(called).get(name, "")
    if takes in ("list", "many") and name != "typical_range" and isinstance(value, (int, float, np.number)):
        raise TypeError(
            f"{name} takes a list, got {describe(value)}. Write [{describe(value)}], if one value is meant."
        )
    if takes in ("", "many") or not is_many(value):
        return value
    if isinstance(value, list) or (isinstance(value, tuple) and name != "typical_range"):
        nested = any(isinstance(one, list) or getattr(one, "ndim", 0) for one in value)
    else:
        nested = getattr(value, "ndim", 1) != 1
    if takes == "one" or nested:
        form, got = ("one value", "") if takes == "one" else ("a list of single values", " of lists")
        remedy = _ELSEWHERE.get(name, _OF_COLUMNS.get(name, ""))
        raise TypeError(_finish(f"{name} takes {form}, got {describe(value)}{got}", remedy))
    return value.tolist() if hasattr(value, "tolist") else value


def is_many(value: object) -> bool:
    """Return whether a value is a table, a list or another collection, which may hold rows."""
    if isinstance(value, (str, bytes, type)) or type(value).__module__.startswith("privcov"):
        return False
    if isinstance(value, np.generic) or value is np.ma.masked:
        return False
    return any(hasattr(value, name) for name in ("__iter__", "__array__", "iloc"))


def describe(value: object) -> str:
    """Return a value for a message; only the type of a table or a list."""
    value = value.item() if isinstance(value, np.generic) else value
    return type(value).__name__ if is_many(value) else f"{value!r:.80}"


def _argument_error(called: Callable, problem: str, arguments: Iterable[str]) -> str:
    import inspect

    owner = called.__qualname__.partition(".")[0]
    if owner in ("Dataset", "PrivateDataset") and called.__name__ == "__init__":
        return f"Make a {owner} with {owner}.from_rows(table, bounds={{column: (low, high)}})."
    takes = inspect.signature(called).parameters.values()
    names = [one.name for one in takes if one.name not in ("self", "cls") and one.kind != one.VAR_KEYWORD]
    strange = [name for name in arguments if name not in names]
    concerned = [*strange, *(name for name in ("guarantee", "epsilon", "rho", "delta") if f"'{name}'" in problem)]
    concerned += ["guarantee"] if "DP.__init__" in problem else []
    remedy = next((_ELSEWHERE[name] for name in concerned if name in _ELSEWHERE), "")
    message = _finish(f"{problem.replace('.__init__', '')}. It takes {', '.join(names)}", remedy)
    return message if remedy or not strange else message + suggest(strange[0], names)


def _finish(sentence: str, remedy: str) -> str:
    return f"{sentence}. {remedy}" if remedy else f"{sentence}."


def number(name: str, value: object) -> float:
    """Return ``value`` as a finite float."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise ValueError(_finish(f"{name} must be a number, got {name}={describe(value)}", _OF_COLUMNS.get(name, "")))
    try:
        x = float(value)
    except OverflowError:  # an int beyond the largest float
        x = math.inf
    if not math.isfinite(x):
        raise ValueError(f"{name} must be finite, got {name}={describe(value)}.")
    return x


def positive(name: str, value: object, remedy: str = "") -> float:
    """Return ``value`` as a finite float > 0."""
    x = number(name, value)
    if x <= 0:
        raise ValueError(_finish(f"{name} must be > 0, got {name}={value}", remedy))
    return x


def in_range(name: str, value: object, low: float, high: float, remedy: str = "") -> float:
    """Return ``value`` as a float with low <= value <= high."""
    x = number(name, value)
    if not low <= x <= high:
        raise ValueError(_finish(f"{name} must lie in [{low:g}, {high:g}], got {name}={value}", remedy))
    return x


def strictly_between(name: str, value: object, low: float, high: float, remedy: str = "") -> float:
    """Return ``value`` as a float with low < value < high."""
    x = number(name, value)
    if not low < x < high:
        raise ValueError(_finish(f"{name} must be > {low:g} and < {high:g}, got {name}={value}", remedy))
    return x


def integer(name: str, value: Any, low: float, high: float | None = None, remedy: str = "") -> int:
    """Return ``value`` as an int with low <= value (<= high)."""
    x = number(name, value)
    if x != int(x):
        raise ValueError(_finish(f"{name} must be a whole number, got {name}={value}", remedy))
    if x < low or (high is not None and x > high):
        limit = f">= {low}" if high is None else f"in {low}..{high}"
        raise ValueError(_finish(f"{name} must be {limit}, got {name}={value}", remedy))
    return int(value)  # not int(x): above 2^53 the float has lost digits, and two seeds would become one


def one_of(name: str, value: Any, choices: tuple[Choice, ...], remedy: str = "") -> Choice:
    """Return ``value`` itself, where it is one of ``choices``."""
    if is_many(value) or value not in choices:
        listing = ", ".join(map(repr, choices))
        raise ValueError(
            _finish(f"{name} must be one of {listing}, got {name}={describe(value)}", remedy) + suggest(value, choices)
        )
    return value


def suggest(value: object, choices: Iterable[object]) -> str:
    """Return " Did you mean ...?" with the choice that begins with the value or is spelt most like it, else ""."""
    from difflib import SequenceMatcher, get_close_matches

    def bare(word: str) -> str:
        return word.lower().replace("_", "-")

    if not isinstance(value, str):
        return ""
    names = [choice for choice in choices if isinstance(choice, str)]
    words, word = [bare(choice) for choice in names], bare(value)
    near = [other for other in words if other == word]
    if not near and len(word) > 2:  # less is too short to tell
        near = [other for other in words if other.startswith(word)] or get_close_matches(word, words, n=1)
        near = near or [other for other in words if word in other]
    same = [choice for choice in names if near and bare(choice) == near[0]]
    closest = max(same, key=lambda choice: SequenceMatcher(None, value, choice).ratio(), default="")
    return f" Did you mean {closest!r}?" if same else ""


def by_name(parameter: str, values: Mapping, names: Sequence[str]) -> list:
    """Return the values of a mapping from column names, in the order of the columns; ``parameter`` is the parameter."""
    column_values = {str(name): value for name, value in values.items()}
    for name in column_values:
        if name not in names:
            some = ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
            raise ValueError(f"{parameter} names {name!r}, and the columns are {some}.{suggest(name, names)}")
    lacking = [name for name in names if name not in column_values]
    if lacking:
        raise ValueError(
            f"{parameter} must name every column, and it lacks {', '.join(map(repr, lacking[:5]))}. "
            "Give its value of each, or leave the columns out of the table."
        )
    return [column_values[name] for name in names]


def per_column(parameter: str, values: Any, names: Sequence[str], remedy: str) -> list:
    """Return one value per column, from a sequence or a mapping from their names; ``parameter`` is the parameter."""
    if getattr(values, "ndim", 0) == 1 and {*map(str, getattr(values, "index", ()))} == {*names}:
        values = values.to_dict()  # of a pandas series, whose index are the names
    if isinstance(values, Mapping):
        return by_name(parameter, values, names)
    if hasattr(values, "__array__"):  # a data frame's own entries are its columns
        values = np.asarray(values)
    if isinstance(values, str) or not hasattr(values, "__len__") or len(values) != len(names):
        size = len(values) if hasattr(values, "__len__") and not isinstance(values, str) else describe(values)
        raise ValueError(f"{parameter} must have one entry per column, {len(names)} in all, got {size}. {remedy}")
    return list(values)


def words(name: str, value: object, meaning: str) -> str:
    """Return text that can be written down, without the blanks around it; ``meaning`` says what it should be."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be {meaning}.")
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ValueError(f"{name} holds half a character, which cannot be written down: {value!r}. Type it again.")
    return value.strip()


def one_line(name: str, value: object, meaning: str) -> str:
    """Return `words` of one line: a name that holds a line end or an escape would forge lines of a list."""
    value = words(name, value, meaning)
    if any(unicodedata.category(letter) in ("Cc", "Zl", "Zp") for letter in value):
        raise ValueError(f"{name} must be of one line, without control characters, got {value!r}. Type it again.")
    return value


def encodable(name: str, text: str) -> None:
    """Raise ValueError for a text that UTF-8 cannot write: half of a character could be stored and never written."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be whole characters, got {text!a}. Rename it.") from None


def square(name: str, matrix: np.ndarray) -> np.ndarray:
    """Return a finite symmetric float64 matrix (symmetric to 1e-9 of its largest entry)."""
    try:
        a = np.asarray(matrix, dtype=np.float64)
    except ValueError:
        raise ValueError(f"{name} must be a square matrix of numbers, got {describe(matrix)}.") from None
    if a.ndim != 2 or a.shape[0] != a.shape[1] or a.shape[0] == 0:
        raise ValueError(f"{name} must be a square matrix, got shape {a.shape}.")
    if not np.isfinite(a).all():
        raise ValueError(f"{name} must be finite, but it holds NaN or infinite entries.")
    if np.abs(a - a.T).max() > 1e-9 * max(np.abs(a).max(), 1e-300):
        raise ValueError(f"{name} must be symmetric, but it differs from its transpose. Use (A + A.T) / 2.")
    return a
