"""Below the network: its script, its report and its saved study."""

from __future__ import annotations

import streamlit as st

from pages.graph_recovery import roc, settings
from pages.shell import script as twin
from pages.shell import take_home
from pages.shell.study import Study
from privcov._release import Release
from privcov.dataset import Dataset
from privcov.figures.look import plain
from privcov.metrics.graphs import compare, edges


def section(study: Study, data: Dataset, rel: Release, reference: settings.Reference, at: int, made, job) -> None:
    """at: position on the path. made, job: the curves on the screen, or None."""
    script = twin.network(study, data, at, reference, settings.SOURCE)
    with st.expander("The same in Python: this network"):
        st.code(script, language="python")
    with st.expander("Take home"):
        found = () if job is None else roc.drawn(made, job)

        def make(_: str, where: str) -> str:
            return _report(data, rel, reference, at, found, script, where)

        take_home.section(study, data, rel, settings.SOURCE, make)


def _report(data: Dataset, rel: Release, reference, at: int, found: tuple, script: str, where: str) -> str:
    """The release's report with its network, and the curves where they are drawn."""
    from privcov.bundle import report
    from privcov.bundle.paper import section as part
    from privcov.bundle.paper import text
    from privcov.figures import graphs
    from privcov.figures.layout import positions
    from privcov.figures.look import LIGHT
    from privcov.figures.roc import precision_recall
    from privcov.figures.roc import roc as roc_picture

    drawn = edges(rel.path[at].precision)
    kinds, words = [("Drawn", drawn)], f"{int(drawn.sum()) // 2} edges are drawn; there is no graph to compare with."
    if reference.graph is not None:
        kinds, counts = graphs.against_reference(drawn, reference.graph), compare(drawn, reference.graph)
        words = (
            f"Against {reference.words}: {counts.tp} edges found, {counts.fn} missed, {counts.fp} drawn that are not "
            "in it." + (" It is a published reference, not the truth." if reference.name else "")
        )
    place = positions(reference.graph, data.d)
    picture = graphs.network(kinds, place, data.columns, LIGHT, height=460)
    parts = [
        part("Network", f"<p>{text(words)}</p>" + report.figure(picture, f"At lambda = {plain(rel.path[at].lam)}."))
    ]
    if found:
        common = min(c.reach for c in found)
        caption = take_home.unlinked(roc.explain(found, data))
        curves = report.figure(roc_picture(found, LIGHT), caption)
        curves += report.figure(precision_recall(found, LIGHT), "Precision against recall, in the same pens.")
        parts.append(part("Edges found against edges drawn falsely", curves + report.frame(roc.table(found, common))))
    title = f"Network from {data.name}"
    return report.of_release(rel, data, script=script, address=where, more=parts, title=title)
