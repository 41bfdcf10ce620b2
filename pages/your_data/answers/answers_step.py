"""Step 4: everything that follows from a stored release. No row is read, so every view is free."""

from __future__ import annotations

import json

import streamlit as st

from pages.common import show
from pages.your_data.answers import entries
from pages.your_data.answers.context import ShownRelease, head, show_codebook
from pages.your_data.state import open_ledger, owner_session
from privcov.bundle.read import StoredRelease, bundle_of, open_stored
from privcov.core import paths
from privcov.core.guarantees import from_dict
from privcov.ledger import Entry, Ledger


def section() -> None:
    """Show Answers: an old release of the ledger or the new one, and everything that follows from it."""
    ledger = open_ledger()
    releases = [e for e in ledger.entries() if e.state == "stored"]
    if not releases:
        st.info("There is no release in the ledger yet. An old release opens here without its file.")
        return
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    with left:
        entry = _pick(releases)
    if entry is None:
        return
    panel, declaration = _open(ledger, entry), _declaration(entry)
    source = panel.source
    assert isinstance(source, StoredRelease)
    with right:
        _bundle(source, entry, declaration)
    st.header("The release")
    head(panel, entry.to_dict())
    show.say(f"Release {entry.number} is done.")
    st.caption("All of it comes from one noisy measurement. Looking at it is free.")

    def home() -> None:
        show_codebook(panel)
        _contents(source, entry, declaration)

    entries.section(panel, "home", "Take home", home)


def _pick(releases: list[Entry]) -> Entry | None:
    """Return the release to show: the one just made, or the newest, of the declared table unless another is chosen."""
    declaration = owner_session().declared
    by_token = {e.token: e for e in releases[::-1]}
    labels = {
        token: f"{e.number}: {e.name}, {from_dict(e.request['guarantee'])}, {e.reserved_at[:16].replace('T', ' ')} UTC"
        for token, e in by_token.items()
    }
    session = [token for token, e in by_token.items() if declaration is None or e.name == declaration.name]
    first = owner_session().release_token if owner_session().release_token in session else next(iter(session), None)
    table = "" if declaration is None else declaration.name
    key = f"own-stored-{owner_session().release_token}-{table}"
    if st.session_state.get(key) not in by_token:
        st.session_state[key] = first
    if first is None and declaration is not None:
        st.info(
            show.as_text(f"{declaration.name!r} has no release in the ledger yet. Those below are of other tables.")
        )
    picked = st.selectbox(
        "Release", list(by_token), format_func=labels.__getitem__, key=key, placeholder="Choose a release"
    )
    return None if picked is None else by_token[picked]


def _open(ledger: Ledger, entry: Entry) -> ShownRelease:
    last = st.session_state.get("own-opened")
    if last is None or last[0] != entry.token:
        text = ledger.stored(entry.token)
        assert text is not None  # only stored releases are offered, and the ledger deletes none
        last = (entry.token, ShownRelease(f"own-shown-{entry.token}", open_stored(text)))
        st.session_state["own-opened"] = last
    return last[1]


def _declaration(entry: Entry) -> dict | None:
    """Return the declaration of this session, where it is that of the release."""
    declaration = owner_session().declared
    if declaration is None or declaration.name != entry.name:
        return None
    same = list(declaration.measured) == entry.request["facts"]["columns"]
    return json.loads(declaration.to_json()) if same else None


def _bundle(source: StoredRelease, entry: Entry, declaration: dict | None) -> None:
    record = entry.to_dict()
    st.download_button(
        "Download the bundle",
        data=lambda: bundle_of(source, record, declaration),
        file_name=f"release-{entry.number}.zip",
        mime="application/zip",
        on_click="ignore",
        key="own-bundle",
        type="primary",
        width="stretch",
        help="One zip with every answer. Take home says what is in it, and how its reader checks it.",
    )


def _contents(source: StoredRelease, entry: Entry, declaration: dict | None) -> None:
    st.markdown(
        "The bundle is one zip: every matrix as CSV and npz, the statement, the method card, the ledger entry, the "
        "declaration, a one-page report, and `verify.py`. Who gets it checks it without the data: "
        f"`{paths.command()} verify release.zip` derives the guarantee and every file again from the noisy whole "
        "numbers, but the matrices as the method estimates them. `verify.py` needs Python and numpy "
        "only, and checks the guarantee and the noisy covariance. The folder `extras` has intervals, the codebook, and "
        "readers for Python and R without privcov."
    )
    if declaration is None:
        st.caption("The declaration is not open in this session; its public facts go in, the reasons do not.")
    st.header("Statement")
    show.lines(source.release.statement.lines)
    for note in source.release.notes:
        st.caption(show.as_text(note))
    with st.expander("Ledger entry"):
        st.json(entry.to_dict(), expanded=1)
