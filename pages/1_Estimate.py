"""Show Estimate: one data set, one method and one guarantee, with the matrices, the error and what was spent."""

from __future__ import annotations

import functools

import streamlit as st

import privcov
from pages.common import address, follow, frame, own_range, script, show, study_form, study_results, visitor_files
from pages.common.glossary import term
from pages.common.study import CSV
from pages.estimate import shown
from pages.your_data.declare import public_file
from privcov.bundle.usefulness import noise_on_entries
from privcov.core.words import percent, plain
from privcov.estimators.auto_cov import OFF, POPULATION, SAMPLE, mixture_of
from privcov.estimators.base import METHODS
from privcov.measurements.clipping import share_clipped
from privcov.metrics.errors import error, reference_matrix, waterfall
from privcov.plots.errors import shares_bar
from privcov.plots.errors import waterfall as waterfall_figure
from privcov.plots.matrices import beyond, colour_limit, heatmap, own_limit

study = frame.page("Estimate", keeps=("more", "shown"))
palette = frame.palette()
st.title("Estimate")
st.caption(f"One {term('release')} of a {term('covariance')} or {term('precision')}.")
show_answers = study_form.draw(study)

if study.source_key() == CSV:
    public_file.section()
    if visitor_files.table() is None:
        st.stop()

with show.problems():
    data = study_results.dataset(study)
    rel = study_results.release(study)
    against = study_form.reference_of(data)
    sample = reference_matrix(data, rel.target, "sample")
    reference = reference_matrix(data, rel.target, against)

    relative_error = show_answers(rel, data)
    assert relative_error is not None  # it has a reference
    card = METHODS.get(rel.method)
    mark = own_range.mark(data)
    show.made_from(data, rel, card.label, mark)

    pictures = st.container(key="named" if data.bounds is not None else "numbered")
    how = shown.choose(data, rel)
    released = show.released_matrix(rel, how)
    reference, sample = (shown.matrix_of_rows(matrix, data, how) for matrix in (reference, sample))
    limit = 1.0 if how == show.CORRELATIONS else colour_limit(reference)
    difference = released - reference
    panels = [("Truth", reference, limit, "scale")] if against == "truth" else []
    panels += [
        ("Sample", sample, limit, "scale"),
        ("Released", released, limit, "scale"),
        (f"Released minus {against}", difference, own_limit(difference), "own scale"),
    ]
    for place, (title, matrix, end, scale) in zip(pictures.columns(len(panels)), panels, strict=True):
        label = f"{title.lower()} {'correlation' if how == show.CORRELATIONS else rel.target}"
        draw = functools.partial(heatmap, matrix, data.columns, end, palette, what=label)
        with place:
            st.markdown(f"**{title}**  \n:small[{scale} ±{plain(end)}]")
            show.picture(
                study_results.picture(study, label, palette, draw) if title in ("Truth", "Sample") else draw(),
                f"square-{title.lower().replace(' ', '-')}",
            )
    show.colour_note(shown.colours(data, rel, how), beyond(released, limit, "released"))

    if rel.target != "precision":
        with st.container(key="verdict"):
            st.markdown(shown.verdict(relative_error, data, rel, how))
    noise = noise_on_entries(rel)
    if how == show.CORRELATIONS:
        st.markdown(show.as_text(shown.strongest(data, released, noise)))
    spectral = percent(error(rel, data, "spectral", relative=True, against=against))
    clipped = show.percent(share_clipped(data.with_row_bound(rel.row_bound)))
    cards = [
        (f"Spectral error to {against}", spectral, "Largest eigenvalue of the error, relative."),
        (
            "Noise per entry (std)",
            plain(noise),
            "Off the diagonal, before repairs; columns with bounds are scaled by them.",
        ),
        ("Rows clipped", clipped, "Longer than R, so shortened, which biases the matrix."),
    ]
    show.cards(cards, "estimate")

    left, right = st.columns([3, 2], gap="large")
    with left:
        st.header("Where the error comes from")
        if rel.target == "precision":
            st.caption("Choose a covariance method to see the stages.")
        else:
            with show.problems():
                stages = waterfall(rel, data)
                show.picture(waterfall_figure(stages, palette, reference=f"the {against}'s norm"), "waterfall")
                at = dict(stages)
                if at.get("Clipped", 0.0) - at["Sample"] > at["Post-processed"] / 2:
                    st.markdown("**Most of it is clipping.** A larger row bound (More) shortens fewer rows.")
        target = rel.parameters.get("target", SAMPLE)
        target = (SAMPLE if data.truth is None else POPULATION) if target == "auto" else target
        mixture = (
            None
            if rel.noisy_moment is None
            else mixture_of(rel.noisy_moment, rel.parameters.get("structure", OFF), target)
        )
        if mixture is not None:
            st.markdown(
                f"**Weights of the combined estimates**  \n:small[Off the diagonal, for the {target}. Chosen from the "
                "noisy matrix alone, by an estimate of the error, so it spends nothing.]"
            )
            show.picture(shares_bar(mixture.shares, palette, what="weights of the combined estimates"), "shares")
    with right, st.container(key="estimate-attacker"):
        st.header("What an attacker learns")
        show.attacker_meter(rel.attacker_success, palette)
        st.markdown(
            "Knowing the method and every other row, an attacker guesses one row right "
            f"**{show.chance(rel.attacker_success, most=True)}** of the time from this release. "
            f"{show.suspicion(rel)}"
        )
        if own_range.sentence(data):
            st.markdown(f"**{own_range.IF_PUBLIC}**")
        if rel.notes:
            st.caption("\n\n".join(rel.notes))

    statement, matrix, python, home = address.tabs(
        ["Statement", "Matrix", "The same in Python", "Take home"], name="more", key="more"
    )
    # Only the open tab is filled: a hidden one would be sent to the browser at every change as well.
    with statement:
        if statement.open:
            if own_range.sentence(data):
                st.markdown(f"**{own_range.IF_PUBLIC}**")
            show.lines(rel.statement.lines)
            st.caption(
                "Not covered: the seeded, floating-point noise of this preview"
                + (" and" if rel.n is None else ",")
                + " settings chosen by their results"
                + ("." if rel.n is None else ", and the number of rows, taken as public.")
            )
    with matrix:
        if matrix.open:
            table = show.matrix_table(rel.matrix, data.columns)
            st.caption(f"The {rel.target} in the data's own units.")
            st.dataframe(table, height=360)
            table.index.name = mark or None
            name = f"{'not private ' * bool(mark)}{rel.method} {rel.target}.csv".replace(" ", "-")
            show.download("Matrix as CSV", table.to_csv, name, "download-matrix")
            if rel.noisy_moment is not None and data.d > 1:
                show.download(
                    "Correlations with intervals as CSV",
                    lambda: privcov.answers(rel).correlations().rename_axis(mark or None).to_csv(index=bool(mark)),
                    f"{'not private ' * bool(mark)}{rel.method} correlations.csv".replace(" ", "-"),
                    "download-correlations",
                )
    with python:
        if python.open:
            st.code(script.script(study, data), language="python")
    with home:
        if home.open:
            shown.report(study, data, rel, correlations=how == show.CORRELATIONS)
    follow.draw(study, limit, palette, "square-released", against=against, how=how)
