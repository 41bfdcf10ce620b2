"""Sums of private rows on their way from a worker of a cluster: no file and no log of the cluster shows them.

A worker keeps results until they are fetched, and writes them to its disk when memory runs short; a log may repeat what
could not be sent. The key is sent with the task, which stays in memory, and is used for one pass only. The network is
not covered: the key can be read there too, so `privcov.engine.each` refuses a cluster that others may join.
"""

from __future__ import annotations

import hashlib
import pickle
import secrets
from typing import Any

import numpy as np

KEY_BYTES, _NONCE_BYTES = 32, 16


def sealed(value: object, key: bytes) -> bytes:
    """Return a value as bytes that show only its size without the key; different ones at every call."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + _mixed(pickle.dumps(value), key, nonce)


def opened(data: bytes, key: bytes) -> Any:
    """Return what was sealed under the key."""
    return pickle.loads(_mixed(data[_NONCE_BYTES:], key, data[:_NONCE_BYTES]))


def _mixed(data: bytes, key: bytes, nonce: bytes) -> bytes:
    """Return the exclusive or of the data with SHAKE-256 of key and nonce, a stream that can be used once."""
    stream = hashlib.shake_256(key + nonce).digest(len(data))
    return (np.frombuffer(data, np.uint8) ^ np.frombuffer(stream, np.uint8)).tobytes()
