"""Show Spectra: what noise does to eigenvalues, which of them it hides, and what a free repair gives back."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pages.common import follow, frame, own_range, script, show, study_form, study_results
from pages.common.glossary import term
from pages.estimate import shown
from privcov.core.words import SCALED, plain
from privcov.estimators.base import METHODS
from privcov.measurements.clipping import share_clipped
from privcov.metrics.errors import noise_edge, spectra
from privcov.plots.spectra import describe_spectrum, spectrum

study = frame.page("Spectra")
palette = frame.palette()
st.title("Spectra")
st.caption(
    f"A release changes {term('eigenvalue', 'eigenvalues')}. Inside the grey {term('noise-band')} they cannot be "
    "told from noise."
)
show_answers = study_form.draw(study)

with show.problems():
    data = study_results.dataset(study)
    rel = study_results.release(study)
    relative_error = show_answers(rel, data)
    series, edge = spectra(rel, data), noise_edge(rel)

    show.made_from(data, rel, METHODS.get(rel.method).label, own_range.mark(data))
    own_range.warn(data)
    unit = f"of {SCALED}" if data.bounds is not None else "in squared units of the data"
    show.picture(spectrum(series, edge, palette, unit=unit), "spectrum")
    assert relative_error is not None  # a covariance has a reference
    st.markdown(shown.verdict(relative_error, data, rel))
    if words := describe_spectrum(series, edge):
        clipped = share_clipped(data.with_row_bound(rel.row_bound))
        st.markdown(
            f"{words} Noise pushes eigenvalues apart"
            + (f"; clipping, here of {show.percent(clipped)} of the rows, lowers them." if clipped else ".")
        )

    noisy_values = dict(series).get("Noisy")
    if noisy_values is not None:
        inside = int((np.abs(noisy_values) <= edge).sum())
        negative, by_stage = int((noisy_values < 0).sum()), dict(series)
        largest = plain(float(by_stage["Post-processed"][-1]))
        cards = [
            ("Noise band", f"± {plain(edge)}", "Eigenvalues of noise alone end at 2 sqrt(d) times its deviation."),
            ("Not separately recoverable", f"{inside} of {data.d}", "Noisy eigenvalues inside the band."),
            ("Negative before repair", f"{negative}", "A covariance has none; removing them never adds error."),
            ("Largest after repair", largest, f"The sample has {plain(float(by_stage['Sample'][-1]))}."),
        ]
        show.cards(cards, "spectra")

    with st.expander("The same in Python"):
        st.code(script.spectrum(study, data), language="python")
    follow.blur(study)
