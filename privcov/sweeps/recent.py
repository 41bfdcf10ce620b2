"""Results that several callers ask for at the same time or one after the other: each is computed once, and kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Recent(Generic[T]):
    """The results used last, by key, for all threads of the process; at most ``most`` of them, at least 1."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[threading.Lock, list[T]]] = OrderedDict()

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the result under the key; who asks for what another thread is computing waits for it."""
        with self._lock:
            own, made = self._kept.setdefault(key, (threading.Lock(), []))
            self._kept.move_to_end(key)
            if len(self._kept) > self._most:
                self._kept.popitem(last=False)
        with own:
            if not made:  # also after a failure: the next one who waits tries again
                made.append(compute())
            return made[0]

    def forget(self) -> None:
        """Drop all results; they are computed again when they are asked for."""
        with self._lock:
            self._kept.clear()
