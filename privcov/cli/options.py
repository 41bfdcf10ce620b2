"""What several commands accept: a guarantee, parameters of a method or source, and JSON as the form of the answer."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from typing import Any

import privcov

_LEVELS = {"rho": (1e-15, 1e9), "epsilon": (1e-9, 1e6), "delta": (1e-100, 1 - 1e-9)}


def add_guarantee(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a guarantee."""
    parser.add_argument("--epsilon", type=float, help="level of pure DP, or with --delta of approximate DP")
    parser.add_argument("--delta", type=float, help="of approximate DP, such as 1e-6")
    parser.add_argument("--rho", type=float, help="level of zCDP")


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks for an answer in JSON."""
    parser.add_argument("--json", action="store_true", help="the answer as JSON, for a program")


def print_json(value: Any) -> None:
    """Print an answer as JSON; a number that JSON has not (NaN, infinite) is null."""
    from privcov.cli import streams

    streams.answer(json.dumps(_plain(value), indent=2, ensure_ascii=True, allow_nan=False) + "\n", None)


def _plain(value: Any) -> Any:
    """Return dicts, lists, texts and numbers for what an answer is made of."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {f"{name:g}" if isinstance(name, float) else str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)


def guarantee_of(options: argparse.Namespace) -> privcov.PureDP | privcov.ApproxDP | privcov.ZCDP:
    """Return the guarantee that the options name. Raises ValueError for none or several."""
    from privcov.core import checks

    presence = (options.epsilon is not None, options.delta is not None, options.rho is not None)
    if presence not in ((False, False, True), (True, True, False), (True, False, False)):
        raise ValueError("Give --rho, or --epsilon, or --epsilon and --delta.")
    for name, (low, high) in _LEVELS.items():  # beyond them the arithmetic of a cost overflows
        if (level := getattr(options, name)) is not None:
            checks.in_range(f"--{name}", level, low, high)
    if options.rho is not None:
        return privcov.ZCDP(options.rho)
    return (
        privcov.PureDP(options.epsilon) if options.delta is None else privcov.ApproxDP(options.epsilon, options.delta)
    )


_TAKEN = ("method", "private", "dataset", "guarantee", "ledger", "draw", "token", "key", "out")
_TAKEN += ("files", "declaration", "progress", "expected_rows")


def parameters_of(options: argparse.Namespace) -> dict:
    """Return the NAME=VALUE pairs as a dict; a value is a number where it reads as one."""
    parameters = {}
    for pair in options.set:
        name, equals, value = pair.partition("=")
        if not equals:
            raise ValueError(f"--set takes NAME=VALUE, got {pair!r}.")
        if name in _TAKEN:
            raise ValueError(f"--set takes a parameter of the method or source, and {name!r} is none. Leave it out.")
        for read in (int, float, str):
            try:
                parameters[name] = read(value)
                break
            except ValueError:
                continue
    return parameters
