"""Random streams keyed by name: by the seed, the purpose, the data and the method, never by the order of calls.

So adding a method changes no number, all methods see the same rows, and the unit noise stays while epsilon changes.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from privcov.core import checks

RandomState = int | np.random.RandomState | np.random.Generator | None


def seed_of(random_state: RandomState) -> int:
    """Return the seed that a ``random_state`` means: itself, or one drawn from a generator; None draws a fresh one."""
    random_state = np.random.default_rng() if random_state is None else random_state
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    return checks.integer("random_state", random_state, 0, None, "Leave it out for fresh noise.")


def stream(seed: int, *names: Any) -> np.random.Generator:
    """Return a numpy Generator for the seed and the names. For simulations, never for private releases."""
    seed = checks.integer("seed", seed, 0)
    words = "\x1f".join(map(str, names)).encode()
    key = int.from_bytes(hashlib.blake2b(words, digest_size=16).digest(), "big")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, key])))
