"""Are the published claims true? By exact curves, by an attack in front of you, and in plain words."""

from __future__ import annotations

import streamlit as st

from pages.parts import audit_claims, audit_learn, audit_live, frame, show

study = frame.page("Privacy audit")
st.title("Privacy audit")
st.markdown(
    "A guarantee is a promise about two tables that differ in one person. Here the promises of the papers, and of "
    "every method on this site, are put to the test. The first one below fails; choose another and press "
    "**Run the audit**."
)
live, claims, learn = st.tabs(["Live audit", "Claims", "What an attacker learns"], key="audit.tab", on_change="rerun")
for tab, part in ((live, audit_live), (claims, audit_claims), (learn, audit_learn)):
    if tab.open:
        with tab, show.problems():
            part.section(study)
