"""Any figure on the page as SVG or PNG for a paper, made in the browser; nothing is built before it is asked for."""

from __future__ import annotations

import json
import re
from html import escape

import streamlit as st
from streamlit.components.v1 import declare_component

from privcov.figures.exports import PNG_SCALE, SCRIPT, for_paper
from privcov.figures.look import Picture
from privcov.figures.palette import WHITE, Palette

# Not a component in itself: it makes the server deliver the plotly of the installed package, so that none is fetched
# from another server.
declare_component("plotly", path=SCRIPT.parent)
_SOURCE = f"component/{__name__}.plotly/{SCRIPT.name}"

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Figure for a paper</title><style>
body {{margin: 0; font: 14px sans-serif; background: {ground}; color: {ink};}}
button {{font: inherit; padding: .4rem .9rem; margin: 0 .5rem .6rem 0; border-radius: .3rem; cursor: pointer;
  border: 1px solid {quiet}; background: transparent; color: inherit;}}
button:focus-visible {{outline: 2px solid {ink};}}
#figure {{width: 100%; max-width: {width}px; background: {paper};}}
#figure:not([hidden]) {{display: block;}}
</style></head><body>
<button id="svg" disabled>SVG</button><button id="png" disabled>PNG, {dots} pixels wide</button>
<span role="status" id="told">Drawing ...</span><img id="figure" alt="{alt}" hidden>
<script src="{source}"></script><script>
const figure = {figure}, size = {{width: figure.layout.width, height: figure.layout.height}};
const told = document.getElementById("told");
const image = (format, scale) => Plotly.toImage(figure, {{format, scale, ...size}});
const save = async (format, scale) => {{
  const link = document.createElement("a");
  link.href = await image(format, scale);
  link.download = "{name}." + format;
  link.click();
}};
const start = async () => {{
  const drawn = document.getElementById("figure");
  drawn.src = await image("svg", 1);
  drawn.hidden = false;
  for (const [format, scale] of [["svg", 1], ["png", {scale}]]) {{
    const button = document.getElementById(format);
    button.onclick = () => save(format, scale);
    button.disabled = false;
  }}
  told.textContent = "";
}};
start().catch(() => {{ told.textContent = "The figure could not be drawn: reload the page and try again."; }});
</script></body></html>
"""


def button(palette: Palette) -> None:
    """Show the button that opens the dialog with what the page showed when it was pressed."""
    shown: dict[str, Picture] = st.session_state.get("pictures", {})
    st.session_state["pictures"] = {}  # filled again by show.picture while the page runs
    if st.button("Export a figure", key="export", type="tertiary", help="SVG or PNG, in dark ink on white."):
        _choose(shown, palette)


@st.dialog("Figure for a paper", width="large")
def _choose(shown: dict[str, Picture], palette: Palette) -> None:
    """Show the dialog: choose a figure and save it."""
    if not shown:
        st.markdown("This page shows no figure yet.")
        return
    names = {key: f"{place}. {_title(picture)}" for place, (key, picture) in enumerate(shown.items(), start=1)}
    key = st.selectbox("Figure", list(names), format_func=lambda chosen: names.get(chosen, ""), key="export-which")
    figure = for_paper(shown[key].figure)
    html = _page(key, shown[key], figure, palette)
    st.iframe(html, height=figure["layout"]["height"] + 60, alt="The figure as saved, with two buttons")
    st.caption("Text stays text in the SVG, names of columns included.")


def _page(key: str, picture: Picture, figure: dict, palette: Palette) -> str:
    """Return the document that draws the figure and saves it."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return _PAGE.format(
        ground=palette.ground,
        paper=WHITE,
        ink=palette.ink,
        quiet=palette.quiet,
        alt=escape(picture.alt, quote=True),
        source=f"/{base}/{_SOURCE}" if base else f"/{_SOURCE}",
        figure=json.dumps(figure).replace("<", "\\u003c"),  # a column may be called </script>
        name=re.sub(r"[^a-z0-9]+", "-", f"privcov-{key}".lower()),
        scale=PNG_SCALE,
        width=figure["layout"]["width"],
        dots=PNG_SCALE * figure["layout"]["width"],
    )


def _title(picture: Picture) -> str:
    """Return the beginning of a picture's text alternative."""
    return re.split(r"[.:;]\s|\.$", picture.alt, maxsplit=1)[0][:90]
