"""One transaction of a ledger, as `release_private` makes it."""

from collections.abc import Callable
from typing import Any

from privcov.core.guarantees import Guarantee
from privcov.ledger import Ledger


def transact(book: Ledger, name: str, guarantee: Guarantee, request: dict, draw: Callable[[], str], **more: Any) -> str:
    """Reserve, commit, draw and store; return what is stored."""
    with book.reserve(name, guarantee, request, **more) as payment:
        if payment.stored is None:
            payment.store(draw())
    assert payment.stored is not None, "what was paid is stored"
    return payment.stored
