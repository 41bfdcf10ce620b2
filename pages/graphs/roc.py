"""The ROC curve of the release on the screen, with the same path without noise beside it."""

from __future__ import annotations

import streamlit as st

from pages.common import cached, frame, show
from pages.common.study import CSV, SOUND, Study
from pages.graphs import settings
from privcov.estimators.base import METHODS
from privcov.metrics.errors import without_noise
from privcov.metrics.graphs import Rates, auc, check_reference, path_rates
from privcov.plots.look import pen_of
from privcov.plots.roc import EXACT, OWN, point_at, roc
from privcov.releases.release import Release
from privcov.tables.dataset import Dataset


def section(
    study: Study, data: Dataset, rel: Release, reference: settings.Reference, here: tuple[float, float] | None
) -> None:
    """Show the curve, with (fpr, tpr) of the network on the screen, and the script of many draws."""
    if reference.graph is None or study.source_key(settings.SOURCE) == CSV:
        st.info("A ROC curve needs a known graph: choose another data set, for example the AR(2) graph.")
        return
    try:
        check_reference(reference.graph)
    except ValueError as problem:
        st.info(str(problem))
        return
    noisy = path_rates(settings.path_of(rel), reference.graph)
    exact, why = _exact(study, data, rel, reference)
    own, palette = pen_of(rel.method, frame.palette()), frame.palette()
    show.picture(point_at(roc(noisy, exact, own, palette), here), "roc")
    areas = [f"{OWN}: {auc(noisy):.2f}"] + ([] if exact is None else [f"{EXACT}: {auc(exact):.2f}"])
    st.caption(
        f"Area under the ROC curve: {'; '.join(areas)}; guessing: 0.50. One draw of the noise. Beyond a ring "
        "no graph was fitted."
    )
    if why:
        st.caption(show.as_text(f"{EXACT}: {why}"))
    if reference.name == "":
        with st.expander("The same in Python: many draws"):
            st.code(script(study, data), language="python")


def _exact(study: Study, data: Dataset, rel: Release, reference: settings.Reference) -> tuple[Rates | None, str]:
    """Return (rates of the path without noise, "") or (None, why there are none)."""

    def compute() -> tuple[Rates | None, str]:
        assert reference.graph is not None
        try:
            return path_rates(settings.path_of(without_noise(rel, data)), reference.graph), ""
        except ValueError as problem:
            return None, str(problem)

    return cached.of_release(study, ("exact path", reference.name), compute, settings.SOURCE)


def script(study: Study, data: Dataset) -> str:
    """Return source text that measures the area under the curve over many draws of the rows and of the noise."""
    card = METHODS.get(study.method)
    own = study.given | {k: v for k, v in study.settings(card).items() if v not in (SOUND, card.relations[0])}
    return (
        "import privcov\n"
        "\n"
        "plan = privcov.Plan(\n"
        f"    {study.source_key(settings.SOURCE)!r},\n"
        f"    {dict(study.data)!r},\n"
        f"    methods=[{(study.method, own) if own else study.method!r}],\n"
        f"    guarantees=[privcov.{study.guarantee!r}, privcov.NoPrivacy()],\n"
        '    metrics=["auc-to-truth"],\n'
        f"    row_bound={data.row_bound!r},\n"
        ")\n"
        'print(privcov.run(plan).groupby("guarantee")["value"].describe())\n'
    )
