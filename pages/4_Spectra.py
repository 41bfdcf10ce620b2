"""What noise does to eigenvalues, which of them it hides, and what a free repair gives back."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.parts import cached, controls, frame, show
from privcov.figures.look import plain
from privcov.figures.spectra import spectrum
from privcov.metrics.errors import reference_matrix, working
from privcov.postprocess.joint import unpack

study = frame.page("Spectra")
palette = frame.palette()
controls.sidebar(study)
st.title("Spectra")
st.markdown(
    "Noise pushes eigenvalues apart: the large ones up, the small ones below zero. Inside the grey band an eigenvalue "
    "of the noisy matrix cannot be told from one that the noise made."
)

with show.problems():
    data = cached.dataset(study)
    rel = cached.release(study)
    if rel.target == "precision":
        raise ValueError("Spectra compares covariance matrices; choose a covariance method in the sidebar.")
    series = []
    if data.truth is not None:
        series.append(("Truth", np.linalg.eigvalsh(reference_matrix(data, rel.target, "truth"))))
    series.append(("Sample", np.linalg.eigvalsh(reference_matrix(data, rel.target, "sample"))))
    edge = 0.0
    if rel.raw is not None:
        found = unpack(rel.raw.matrix, centre=rel.raw.centre, row_bound=rel.row_bound)
        noisy = found.covariance if rel.target == "covariance" else found.second_moment
        series.append(("Noisy", np.linalg.eigvalsh(noisy)))
        edge = rel.raw.law.edge * rel.row_bound**2
    series.append(("Post-processed", np.linalg.eigvalsh(working(rel.matrix, rel.scale, rel.target))))

    scale = st.segmented_control(
        "Vertical axis",
        ["linear", "asinh"],
        default="linear",
        key="spectra-axis",
        help="asinh is linear near zero and logarithmic far from it, with both signs.",
    )
    show.tag(data.provenance.capitalize(), f"{data.n:,} rows, {data.d} columns; {rel.given or 'nothing measured'}")
    unit = "in units of public half-ranges squared" if data.bounds is not None else "in squared units of the data"
    show.picture(spectrum(series, edge, palette, scale=scale or "linear", unit=unit), "spectrum")

    noisy_values = dict(series).get("Noisy")
    if noisy_values is not None:
        inside = int((np.abs(noisy_values) <= edge).sum())
        cards = st.columns(4)
        cards[0].metric(
            "Noise band",
            f"± {plain(edge)}",
            border=True,
            height="stretch",
            help="Where the eigenvalues of the noise alone end: 2 sqrt(d) times its deviation per entry.",
        )
        cards[1].metric(
            "Not separately recoverable",
            f"{inside} of {data.d}",
            border=True,
            height="stretch",
            help="Eigenvalues of the noisy matrix inside the band.",
        )
        cards[2].metric(
            "Negative before repair",
            f"{int((noisy_values < 0).sum())}",
            border=True,
            height="stretch",
            help="A covariance has none; the repair removes them and never adds error.",
        )
        final = dict(series)["Post-processed"]
        cards[3].metric(
            "Largest after repair",
            plain(float(final[-1])),
            f"sample {plain(float(dict(series)['Sample'][-1]))}",
            delta_color="off",
            delta_arrow="off",
            border=True,
            height="stretch",
        )
