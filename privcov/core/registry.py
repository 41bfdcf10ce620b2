"""A registry of classes: ``@table.add(key=..., ...)`` enters one, and all that lists or runs methods reads it.

A method or a source is one file with one frozen dataclass.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from privcov.core import checks
from privcov.core.parameters import documented

Card = TypeVar("Card", bound=Any)


class Registry(Generic[Card]):
    """Entries of one package, by key, whose modules are imported when the entries are first read.

    noun: an entry in words, for messages. package: its dotted name. card: makes an entry's card, with ``key`` and
    ``order``, from ``cls`` and the fields given to `add`.
    """

    def __init__(self, noun: str, package: str, card: Callable[..., Card]) -> None:
        self.noun, self.package, self.card = noun, package, card
        self._entries: dict[str, Card] = {}
        self._unlisted: set[str] = set()
        self._loaded = False

    def add(self, **fields: Any) -> Callable[[type], type]:
        """Return a decorator that enters the class under ``key`` with the rest of its card.

        With ``listed=False``, `get` alone finds the entry.
        """
        listed = fields.pop("listed", True)

        def enter(cls: type) -> type:
            card = self.card(cls=cls, **fields)
            if card.key in self._entries:
                raise ValueError(f"{self.noun} {card.key!r} is registered twice")
            self._entries[card.key] = card
            if not listed:
                self._unlisted.add(card.key)
            cls.__doc__ = documented(cls)
            cls.card = card  # type: ignore[attr-defined] # the base class of every entry has it
            return cls

        return enter

    def all(self) -> list[Card]:
        """Return every listed card, in the order of ``card.order`` and then of the key."""
        if not self._loaded:
            root = importlib.import_module(self.package)
            for module in pkgutil.walk_packages(root.__path__, f"{self.package}."):
                importlib.import_module(module.name)
            self._loaded = True
        listed = (card for key, card in self._entries.items() if key not in self._unlisted)
        return sorted(listed, key=lambda card: (card.order, card.key))

    def get(self, key: str) -> Card:
        """Return the card of a key."""
        keys = [card.key for card in self.all()]
        if not isinstance(key, str):
            raise ValueError(f"The {self.noun} must be one of the keys {', '.join(keys)}, got {checks.describe(key)}.")
        if key not in self._entries:
            close = checks.suggest(key, keys)
            raise ValueError(f"There is no {self.noun} {checks.describe(key)}. There are: {', '.join(keys)}.{close}")
        return self._entries[key]
