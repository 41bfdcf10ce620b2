"""Show Your data: declare a confidential table, plan, release once, and download the results."""

from __future__ import annotations

import streamlit as st

from pages.common import address, frame, hosted, owner_token, show
from pages.common.glossary import term
from pages.your_data import elsewhere
from pages.your_data.answers import answers_step as answers
from pages.your_data.answers import read_bundle
from pages.your_data.declare import columns, drafts, practice
from pages.your_data.declare import declare_step as declare
from pages.your_data.plan import plan_step as plan
from pages.your_data.release import owner_view
from pages.your_data.release import release_step as release
from pages.your_data.state import DOORS, STEPS, forget, owner_session, practising, show_form, take_step

frame.page("Your data", keeps=("door",))
show_form("own")
st.title("Your data")
st.caption(f"One confidential table, one noisy {term('measurement')}, and every answer from that {term('release')}.")

door = address.bind_widget(
    st.segmented_control,
    "What to do",
    list(DOORS),
    name="door",
    default="release",
    key="door",
    required=True,
    format_func=DOORS.__getitem__,
    label_visibility="collapsed",
)
if door == "bundle":
    if "own" in st.session_state:
        if hosted.refusal():
            forget()
        else:
            columns.take_in()
            owner_session().owner_view = owner_session().checked = (
                None  # exact answers are not kept in memory after the step was left
            )
    read_bundle.section()
    st.stop()
if reason := hosted.refusal():
    elsewhere.section(reason)
    st.stop()
if not owner_token.is_open() and not practising():
    owner_token.ask()
    practice.offer(drafts.fill)
    st.stop()

sections = {
    "declare": declare.section,
    "plan": plan.section,
    "view": owner_view.section,
    "release": release.section,
    "answers": answers.section,
}
take_step()
step = st.segmented_control(
    "Step", list(STEPS), required=True, format_func=STEPS.__getitem__, key="own-step", label_visibility="collapsed"
)
assert step is not None  # a step is always chosen
if step != "view":
    owner_session().owner_view = None  # exact answers are not kept in memory after the step was left
if step != "release":
    owner_session().checked = None
if step != "declare":
    columns.take_in()
if step in ("plan", "release"):
    declare.changed_since()
with show.problems():
    sections[step]()

st.divider()
left, right, _ = st.columns([2, 2, 5])
if left.button("Security and limits", key="own-security"):
    elsewhere.security()
if owner_session().raw:
    right.button(
        "Forget this file",
        on_click=drafts.forget_all,
        key="forget-own",
        help="Removes the rows, the declaration and everything made from them from this session. Releases stay in the "
        "ledger.",
    )
