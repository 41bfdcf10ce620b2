"""The commands ``methods`` and ``sources``: what there is to choose from."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import privcov
from privcov.cli.options import add_json, print_json

if TYPE_CHECKING:
    from privcov.core.parameters import Spec


def add_listing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``methods`` and ``sources`` to the commands of the parser."""
    methods = commands.add_parser("methods", help="list the methods with their guarantees and standing")
    sources = commands.add_parser("sources", help="list the data sources, simulated and public")
    for parser, act in ((methods, _methods), (sources, _sources)):
        add_json(parser)
        parser.set_defaults(act=act)


def _methods(options: argparse.Namespace) -> None:
    cards = privcov.methods()
    if options.json:
        plain = ("key", "label", "target", "family", "trust", "standing", "summary", "avoid", "reference", "version")
        more = ("relations", "centres", "tunings", "missing_cells")
        print_json(
            [
                {name: getattr(card, name) for name in plain + more}
                | {"guarantees": [kind.name for kind in card.guarantees], "calibrations": dict(card.calibrations)}
                | {"parameters": [_parameter(spec) for spec in card.parameters]}
                for card in cards
            ]
        )
        return
    for card in cards:
        kinds = ", ".join(g.name for g in card.guarantees)
        print(f"{card.key:<18} {card.target:<11} {card.trust:<8} {card.standing:<11} {kinds}")
        print(f"{'':<18} {card.summary}")


def _sources(options: argparse.Namespace) -> None:
    cards = privcov.sources()
    if options.json:
        plain = ("key", "label", "group", "summary", "reference")
        print_json(
            [
                {name: getattr(card, name) for name in plain}
                | {"parameters": [_parameter(spec) for spec in card.parameters]}
                for card in cards
            ]
        )
        return
    for card in cards:
        print(f"{card.key:<18} {card.group:<18} {card.label}")
        print(f"{'':<18} {card.summary}")


def _parameter(spec: Spec) -> dict[str, Any]:
    names = ("name", "default", "label", "help", "low", "high", "choices", "unit")
    return {name: getattr(spec, name) for name in names}
