"""Show Words: what every term on the pages means, and what it is not."""

from __future__ import annotations

import streamlit as st

from pages.common import frame, glossary

frame.page("Words", keeps=("word",))
st.title("Words")
glossary.section(frame.page_setting("word"))
