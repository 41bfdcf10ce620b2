"""The bundle: everything of a release in one zip, with a script that checks it without the data."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.shell import show
from privcov import places
from privcov.bundle.opened import Opened, bundle_of, correlations, strongest
from privcov.figures.look import Picture
from privcov.figures.matrices import colour_limit, heatmap
from privcov.figures.own import intervals
from privcov.figures.palette import LIGHT
from privcov.figures.words import brief
from privcov.ledger import Entry


def section(opened: Opened, entry: Entry, declaration: dict | None) -> None:
    """Show the download of the bundle, and what is in it."""
    st.markdown(
        "One zip: every matrix as CSV and npz, the statement and the method card, the ledger entry, the declaration, "
        "figures that open in a browser, a one-page report, and `verify.py`. Who gets it checks it without the data: "
        f"`{places.command()} verify release.zip`, or a trusted `verify.py`, which needs Python and numpy only. The "
        "guarantee and every file are worked out again from the noisy whole numbers and compared byte for byte. "
        "Figures and intervals lie in the folder `extras` and are not checked."
    )
    if declaration is None:
        st.caption(
            "The declaration of this release is not open in this session; its public facts go in, the reasons do not."
        )
    record = entry.to_dict()

    def bundle() -> bytes:
        return bundle_of(opened, record, declaration, _pictures(opened))

    st.download_button(
        "Download the bundle",
        data=bundle,
        file_name=f"release-{entry.number}.zip",
        mime="application/zip",
        on_click="ignore",
        key="own-bundle",
        type="primary",
        disabled=bool(opened.release.exposed),
        help="A release whose guarantee is not established is not handed on." if opened.release.exposed else None,
    )
    st.header("Statement")
    for title, text in opened.release.statement.lines:
        name, words = st.columns([1, 6])
        name.markdown(f"**{title}**")
        words.text(text)
    for note in opened.release.notes:
        st.caption(show.as_text(note))
    with st.expander("Ledger entry"):
        st.json(record, expanded=1)


def _pictures(opened: Opened) -> dict[str, tuple[str, Picture]]:
    """Return file stem -> (title, figure), in the light palette of paper."""
    answers, columns, scale = opened.answers, opened.columns, opened.total.facts.scale
    working = answers.covariance / np.outer(scale, scale)
    matrices = {
        "correlation": (answers.correlation, "Correlation"),
        "covariance": (working, "Covariance in half-range units"),
        "partial": (answers.partial, "Partial correlation"),
    }
    pictures = {
        stem: (title, heatmap(matrix, columns, colour_limit(matrix), LIGHT, what=f"released {title.lower()}"))
        for stem, (matrix, title) in matrices.items()
    }
    if len(columns) > 1:
        low, high = correlations(opened, np.random.default_rng(0))
        chosen = strongest(answers.correlation, 20)
        at = tuple(np.array(chosen).T)
        pictures["pairs"] = (
            "The strongest correlations with privacy-noise intervals",
            intervals(
                [f"{brief(columns[i])} and {brief(columns[j])}" for i, j in chosen],
                answers.correlation[at],
                low[at],
                high[at],
                LIGHT,
                x_title="Correlation",
                what="The strongest correlations",
            ),
        )
    return pictures
