"""What a page sends to the browser, as tests look for it."""

from __future__ import annotations

import re

import pandas as pd
from streamlit.testing.v1 import AppTest


def everything(at: AppTest) -> str:
    """Every message that was sent, as text, tables included."""
    parts = []

    def walk(node) -> None:
        proto = getattr(node, "proto", None)
        if proto is not None:
            parts.append(str(proto))
            value = getattr(node, "value", None)
            if isinstance(value, pd.DataFrame):
                parts.append(value.to_csv())
        for child in getattr(node, "children", {}).values():
            walk(child)

    walk(at._tree)
    # Streamlit's names of elements are hashes, in which any short number occurs by chance.
    return re.sub(r"\$\$ID-[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", "\n".join(parts))


def plain(sentence: str) -> str:
    """A sentence without the marks that keep it from being read as Markdown."""
    return sentence.replace("\\", "").replace("\u2060", "")
