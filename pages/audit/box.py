"""The coloured box with the verdict of an audit."""

from __future__ import annotations

from html import escape

import streamlit as st

from privcov.figures.look import Palette, wash


def verdict(sentence: str, caught: bool, palette: Palette) -> None:
    """The sentence, in the colour of bad news where something was caught."""
    colour = palette.bad if caught else palette.good
    st.html(
        f'<div role="status" style="border-left: .3rem solid {colour}; background: {wash(colour, 0.1)}; '
        f'padding: .7rem 1rem; border-radius: .3rem; font-weight: 600">{escape(sentence)}</div>'
    )
