"""Pinned results: frozen as they were, each with a number of its own, and kept for this visit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st


@dataclass(frozen=True)
class Pins:
    """The pins of one page, oldest first, by (owner, number); with ``most``, a pin beyond that replaces the first.

    `visitor_files.forget_results` removes those whose owner is a study on a visitor's file.
    """

    key: str
    most: int | None = None

    def all(self) -> dict[tuple[Any, int], dict[str, Any]]:
        """Return the pins by (owner, number)."""
        return st.session_state.setdefault(self.key, {})

    def add(self, owner: object, pin: dict[str, Any]) -> None:
        """Add a pin with the next number."""
        number = st.session_state["pins.number"] = st.session_state.get("pins.number", 0) + 1
        kept = self.all()
        kept[owner, number] = pin
        while self.most is not None and len(kept) > self.most:
            kept.pop(next(iter(kept)))

    def remove(self, key: tuple[Any, int]) -> None:
        """Remove a pin; for its button."""
        self.all().pop(key)
