"""Show Privacy audit: the published claims by exact curves, by a live attack, and in plain words."""

from __future__ import annotations

import streamlit as st

from pages.audit import claims as audit_claims
from pages.audit import learn as audit_learn
from pages.audit import live as audit_live
from pages.common import address, frame, show
from pages.common.glossary import term

study = frame.page(
    "Privacy audit", keeps=("tab", *audit_live.SETTING_NAMES, *audit_claims.SETTING_NAMES, *audit_learn.SETTING_NAMES)
)
st.title(
    "Privacy audit", help=f"Claims tested on two {term('neighbours')}, which differ in one person. The first fails."
)
live, claims, learn = address.tabs(["Live audit", "Claims", "What an attacker learns"], name="tab", key="audit.tab")
for tab, part in ((live, audit_live), (claims, audit_claims), (learn, audit_learn)):
    if tab.open:
        with tab, show.problems():
            part.section(study)
