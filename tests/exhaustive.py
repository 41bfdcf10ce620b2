"""Leave the cases of a test that resemble others to `make deep`."""

from collections.abc import Iterable
from typing import Any

import pytest


def some_of(cases: Iterable[Any], *positions: int) -> list[Any]:
    """The cases of a parametrised test, tuples for several names; those at other positions are deep."""
    rows = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*row, marks=[] if at in positions else pytest.mark.deep) for at, row in enumerate(rows)]
