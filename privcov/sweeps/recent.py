"""Results that several callers ask for at the same time or one after the other: each is computed once, and kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from typing import Generic, TypeVar

from privcov import checks

T = TypeVar("T")


class Recent(Generic[T]):
    """The results used last, by key, for all threads of the process; at most ``most`` of them, at least 1.

    Examples
    --------
    >>> from privcov.sweeps.recent import Recent
    >>> squares = Recent(2)
    >>> squares.once(3, lambda: 9), squares.once(3, lambda: 0)
    (9, 9)
    """

    def __init__(self, most: int) -> None:
        self._most = checks.whole("most", most, 1)
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, Future[T]] = OrderedDict()

    def once(self, key: Hashable, compute: Callable[[], T]) -> T:
        """Return the result under the key.

        A thread that asks for what another one is computing waits for it.
        """
        while True:
            with self._lock:
                future = self._kept.get(key)
                mine = future is None
                if future is None:
                    future = self._kept[key] = Future()
                    if len(self._kept) > self._most:
                        self._kept.popitem(last=False)
                else:
                    self._kept.move_to_end(key)
            if mine:
                return self._computed(key, future, compute)
            try:
                return future.result()
            except CancelledError:
                if not future.cancelled():  # then the computation raised it
                    raise

    def _computed(self, key: Hashable, future: Future[T], compute: Callable[[], T]) -> T:
        """Compute the result, hand it to whoever waits, and return it."""
        try:
            result = compute()
        except BaseException as problem:
            with self._lock:
                if self._kept.get(key) is future:  # after `forget` another one may stand there
                    del self._kept[key]
            if isinstance(problem, Exception):
                future.set_exception(problem)
            else:
                future.cancel()
            raise
        future.set_result(result)
        return result

    def forget(self) -> None:
        """Drop all results; they are computed again when they are asked for."""
        with self._lock:
            self._kept.clear()
