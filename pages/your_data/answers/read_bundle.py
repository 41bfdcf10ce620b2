"""Read a bundle: check the zip of a release, and show every answer. No row, no ledger and no token is needed."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.common import memory, show, visitor_files
from pages.your_data.answers import entries
from pages.your_data.answers.context import ShownRelease, head, show_codebook
from privcov.bundle.read import OpenedBundle, open_bundle
from privcov.core import paths


def section() -> None:
    """Show the uploader, the result of the check, and the answers of a bundle that passed it."""
    panel = st.session_state.get("read-bundle")
    if panel is None:
        st.markdown(
            "A bundle is the zip that a data owner downloads after a release. It is checked here without the data, and "
            "nothing of it is run. It stays in this session, and reading it spends nothing."
        )
    turn = st.session_state.get("read-turn", 0)
    with st.container() if panel is None else st.expander("Read another bundle"):
        file = st.file_uploader(
            "Bundle", type=["zip"], max_upload_size=visitor_files.megabytes(), key=f"read-file-{turn}"
        )
    if file is not None:
        _take(file)
    if problem := st.session_state.get("read-problem"):
        st.error(show.as_text(problem))
    if panel is not None:
        _answers(panel)


def _take(file: Any) -> None:
    """Check a new bundle in place of the one before, free its bytes, and run the page again."""
    forget()
    raw = file.getvalue()
    try:
        with st.spinner("Working out every file again from the measurement ..."):
            visitor_files.wait_for_room(memory.MAX_CELLS)
            bundle = open_bundle(raw)
    except ValueError as problem:
        st.session_state["read-problem"] = f"{file.name}: {problem}"
    else:
        st.session_state["read-bundle"] = ShownRelease(f"read-shown-{file.file_id}", bundle)
    visitor_files.let_go(file)


def forget() -> None:
    """Remove the bundle and what was chosen for it."""
    for key in [k for k in map(str, st.session_state) if k.startswith("read-")]:
        if key != "read-turn":
            del st.session_state[key]
    st.session_state["read-turn"] = st.session_state.get("read-turn", 0) + 1


def _answers(panel: ShownRelease) -> None:
    bundle = panel.source
    assert isinstance(bundle, OpenedBundle)
    left, right = st.columns([4, 1], vertical_alignment="center")
    with left:
        head(panel, bundle.entry)
    right.button("Forget this bundle", on_click=forget, key="forget-bundle", width="stretch")
    show.say("The bundle is read.")
    st.success(
        "The bundle is consistent: its files and its guarantee follow from the noisy measurement and the facts stated "
        "with it. Whether these are true, the number of rows among them, cannot be checked without the data: see "
        "Checked."
    )
    entries.section(panel, "checked", "Checked", lambda: _checked(panel, bundle))


def _checked(panel: ShownRelease, bundle: OpenedBundle) -> None:
    """Show the result of the check, what no check can find, and the release's statement."""
    unsure = [line for line in bundle.checked if line.startswith(("Not checked", "Cannot be checked"))]
    sure = [line for line in bundle.checked if line not in unsure]
    for title, lines in (("Checked", sure), ("Not checked", unsure)):
        st.markdown(f"**{title}**")
        st.markdown("\n".join(f"- {show.as_text(line)}" for line in lines))
    st.caption(f"In a shell, `{paths.command()} verify release.zip` says the same.")
    st.header("Statement")
    show.lines(bundle.statement)
    show_codebook(panel)
    with st.expander("Ledger entry"):
        st.json(bundle.entry, expanded=1)
