"""The owner's view: the exact answer, on the owner's screen and nowhere else. Opt in; cleared on a button."""

from __future__ import annotations

import secrets

import numpy as np
import streamlit as st

from pages.common import frame, show
from pages.common.hosted import HostedError
from pages.your_data.state import owner_session, rows
from privcov.core.guarantees import Guarantee
from privcov.plots.matrices import colour_limit, heatmap
from privcov.steward.owner_view import OwnerView, OwnerViewError, compute_owner_view
from privcov.tables.declaration.declaration import PrivateFileError

MARK = "not private: for the owner's eyes"
_STYLE = """
<style>
/* Each picture and number with the mark, so that no part of a screen shows one without it. */
.st-key-own-look [data-testid="stColumn"] {position: relative;}
.st-key-own-look [data-testid="stColumn"]::after {content: "NOT PRIVATE: FOR THE OWNER'S EYES"; position: absolute;
  inset: 0; display: flex; align-items: center; justify-content: center; font-size: 1.2rem; font-weight: 700;
  letter-spacing: .08em; text-align: center; transform: rotate(-18deg); opacity: .3; pointer-events: none; z-index: 9;}
.st-key-own-look [data-testid="stElementToolbar"] {display: none;}
@media (max-width: 640px) {.st-key-own-look [data-testid="stColumn"] {min-width: 100%;}}
</style>
"""
_CHART = {"displayModeBar": False, "displaylogo": False}


def section() -> None:
    """Show the owner's view: exact answers, for the owner alone, beside what the release would say."""
    session = owner_session()
    if session.declared is None or session.guarantee is None:
        st.info("First declare the table and pick a guarantee on Plan.")
        return
    st.markdown(
        "This reads the rows and shows the exact answer. **What you choose because of it is not covered by the "
        "guarantee.** If that must not happen, go straight to Release."
    )
    if session.owner_view is None:
        agreed = st.checkbox("I understand, and I may see these rows", key=f"own-agree-{session.file_id}")
        if st.button("Show me", disabled=not agreed, key="own-show"):
            with show.problems(), st.spinner("Reading the rows ..."):
                session.owner_view = _look(session.guarantee)
                st.rerun()
        if not agreed:
            st.caption("Tick the box to go on.")
        return
    st.button("Clear", on_click=_clear, type="primary", help="Removes everything below from this session.")
    st.html(_STYLE)
    with st.container(key="own-look"):
        _show(session.owner_view, session.declared.measured)


def _look(guarantee: Guarantee) -> OwnerView:
    """Return the exact answers; an error is shown by an identifier, as a message of a library might quote a cell."""
    try:
        return compute_owner_view(rows(), guarantee, np.random.default_rng())
    except (HostedError, PrivateFileError, OwnerViewError):
        raise
    except Exception:
        raise ValueError(f"The owner's view failed (id {secrets.token_hex(4)}). Nothing was released.") from None


def _clear() -> None:
    owner_session().owner_view = None


def _title() -> str:
    """Return the title of the exact correlations, with what stands for missing cells."""
    declaration = owner_session().declared
    filled = declaration is not None and declaration.missing == "typical"
    return "Exact correlation" + (", missing cells filled with typical values" if filled else "")


def _show(look: OwnerView, columns: tuple[str, ...]) -> None:
    show.tag("Owner's view", MARK)
    limit, palette = max(colour_limit(look.clipped), 0.2), frame.palette()
    panels = ((_title(), look.clipped), ("A throw-away draw with noise", look.draw), ("Without clipping", look.raw))
    for place, (title, matrix) in zip(st.columns(3), panels, strict=True):
        with place, st.container(border=True):
            st.markdown(f"**{title}**")
            chart = heatmap(matrix, columns, limit, palette, what=f"{title.lower()}, {MARK}")
            st.plotly_chart(
                chart.figure, key=f"square-own-{title[:7]}", theme=None, width="stretch", config=_CHART, alt=chart.alt
            )
    show.colour_note("correlation", f"{MARK.capitalize()}.")
    own_unit = "Of the covariance as the file has it, typing errors and all, each column scaled by its bounds."
    cards = [
        ("Change by clipping", show.percent(look.bias), own_unit),
        ("Noise in this draw", show.percent(look.noise), "The same for the noise. The release draws other noise."),
        ("Rows used", f"{look.rows:,}", ""),
    ]
    show.cards(cards, "view")
    worst = np.argsort(look.beyond)[::-1][:5]
    causes = [f"{columns[j]}: {show.percent(look.beyond[j])} of its values" for j in worst if look.beyond[j] > 0]
    if causes:
        st.markdown(show.as_text("Beyond their bounds, so changed by clipping: " + "; ".join(causes) + "."))
    else:
        st.markdown("No value is beyond its bounds, so clipping changes nothing.")
    holes = [
        f"{columns[j]}: {show.percent(look.missing[j])}"
        for j in np.argsort(look.missing)[::-1][:5]
        if look.missing[j] > 0
    ]
    if holes:
        st.markdown(show.as_text("Missing cells: " + "; ".join(holes) + "."))
    st.caption("The draw in the middle is an example, never the release. Point at a cell for its columns.")
