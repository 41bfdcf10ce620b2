"""One lesson on one screen: choose it, move its control, answer its question; larger for a lecture hall."""

from __future__ import annotations

from html import escape
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.common import follow, frame, show
from pages.lessons import scale
from pages.lessons.catalogue import LESSONS, NUMBERS, answered, answers, place
from pages.lessons.lesson import Control, Lesson, Screen, computed
from pages.lessons.offline import content

PARTS = {"lessons": "Lessons", "demos": "Demonstrations", "teach": "Teach"}
_STYLE = """
<style>
[data-testid="stMainBlockContainer"] {padding: 1.2rem 2.4rem 1rem;}
/* The page begins beside the header's menu, not under it. */
[data-testid="stHeader"] {background: transparent;}
[data-testid="stMainBlockContainer"] h1 {padding: 0;}
[data-testid="stMainBlockContainer"] > [data-testid="stVerticalBlock"] {gap: .6rem;}
.st-key-lesson-screen [data-testid="stVerticalBlock"] {gap: .5rem;}
.st-key-lesson-votes {gap: .5rem;}
.st-key-lesson-screen [data-testid="stAlertContainer"] {padding: .6rem .9rem;}
/* The words at the ends of the control are buttons: one step each, also by keyboard; its own ends would lie on them. */
.st-key-lesson-screen [data-testid="stSliderTickBar"] {visibility: hidden;}
.st-key-lesson-ends {margin-top: -.7rem; justify-content: space-between; flex-wrap: nowrap;}
.st-key-lesson-ends [data-testid="stButton"] button {font-size: .85rem; min-height: 0; padding: .1rem 0;
  text-align: start;}
.st-key-lesson-lever-more button {text-align: end !important;}
.st-key-lesson-ends button p {white-space: normal !important;}
.st-key-lesson-unit {flex: none;}
/* Zooming a lesson teaches nothing, and its bar lies on the titles and before the control in the order of the keys. */
.st-key-lesson-screen .modebar-container {display: none !important;}
/* Matrices in a row are as high as they are wide; every picture leaves room for the control, at every window height. */
.stElementContainer[class*="st-key-lesson-two-"] {aspect-ratio: 1.85;}
.stElementContainer[class*="st-key-lesson-three-"] {aspect-ratio: 2.6;}
.stElementContainer[class*="st-key-lesson-tables-"] {aspect-ratio: 2.7;}
.stElementContainer[class*="st-key-lesson-curve-"] {height: 30vh !important;}
.stElementContainer[class*="st-key-lesson-curve-scores"] {height: 26vh !important;}
.stElementContainer[class*="st-key-lesson-graph-"] {height: 42vh !important;}
.stElementContainer[class*="st-key-lesson-large-"] {height: 56vh !important;}
.stElementContainer[class*="st-key-demo-curve"] {height: 24vh !important;}
.stElementContainer:is([class*="st-key-demo-done"], [class*="st-key-demo-repaired"]) {height: 22vh !important;}
.stElementContainer:is([class*="lesson-two-"], [class*="lesson-three-"], [class*="lesson-tables-"],
  [class*="lesson-curve-"], [class*="lesson-graph-"], [class*="lesson-large-"],
  [class*="st-key-demo-curve"], [class*="st-key-demo-done"], [class*="st-key-demo-repaired"])
  {flex: none; min-height: 150px;}
.stElementContainer:is([class*="-two-"], [class*="-three-"], [class*="-tables-"])[class*="st-key-lesson-"]
  {height: auto !important; max-height: 38vh; min-height: 0;}
.stElementContainer:is([class*="lesson-two-"], [class*="lesson-three-"], [class*="lesson-tables-"],
  [class*="lesson-curve-"], [class*="lesson-graph-"], [class*="lesson-large-"],
  [class*="st-key-demo-curve"], [class*="st-key-demo-done"], [class*="st-key-demo-repaired"])
  :is([data-testid="stFullScreenFrame"], [data-testid="stPlotlyChart"])
  {height: 100% !important; min-height: 0 !important;}
/* The drawing of an idea stands beside the title, on a telephone below it. */
img.idea {display: block; width: auto; height: 3.6rem;}
/* A telephone has no room for the hints of keys, and its buttons take two rows: all lessons, then the others. */
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] {padding-top: 3.2rem;}
  .st-key-lesson-chooser {gap: .4rem;}
  :is(.st-key-lesson-chooser, .st-key-lesson-votes, .st-key-lesson-ends) kbd {display: none;}
  :is(.st-key-lesson-chooser, .st-key-lesson-screen) button {padding-inline: .5rem; min-height: 44px !important;}
  .st-key-lesson-chooser > .st-key-lesson-number {order: -1; flex: 1 0 100%;}
  .st-key-lesson-number [role="radiogroup"] {width: 100%;}
  .st-key-lesson-number button {flex: 1 0 auto; min-width: 0; padding-inline: .1rem;}
  .st-key-lesson-ends {flex-wrap: wrap;}
  .st-key-lesson-screen > [data-testid="stLayoutWrapper"] > [data-testid="stHorizontalBlock"] {gap: .5rem;}
  .stElementContainer:has(img.idea) {order: 1; width: 100% !important;}
  img.idea {width: 100%; height: auto;}
  .stElementContainer[class*="st-key-lesson-large-"] {height: 42vh !important;}
  .stElementContainer:is([class*="st-key-lesson-graph-"], [class*="st-key-lesson-curve-scores"])
    {height: 30vh !important;}
  /* An answer is as high as a thumb is wide. */
  .st-key-lesson-screen :is([data-testid="stRadio"] label, [data-testid="stPageLink-NavLink"])
    {min-height: 44px; align-items: center;}
  .st-key-lesson-heading button {min-height: 44px;}
  .st-key-lesson-unit {order: 1; flex: 1 0 100%;}
  /* Names and numbers of matrices side by side fit their panels and cells. */
  [class*="st-key-lesson-three-"] .annotation-text {font-size: 11px !important;}
  [class*="st-key-lesson-three-"] .textpoint text {font-size: 9.5px !important; letter-spacing: -.5px;}
  [class*="st-key-lesson-tables-"] .textpoint text {font-size: 9.5px !important;}
  .stElementContainer[class*="st-key-lesson-tables-"] {aspect-ratio: 2;}
}
</style>
"""
# Larger type for everything that is measured in rem; the pictures grow by themselves (`lesson.Screen.put`).
_FULL = """
<style>
html {font-size: 18.5px !important;}
[data-testid="stSidebar"], [data-testid="stHeader"], [data-testid="stExpandSidebarButton"] {display: none !important;}
[data-testid="stMainBlockContainer"] {max-width: none; padding: .6rem 2rem .2rem;}
</style>
"""
# In the lecture hall the pictures of a lesson share what its words leave of the window. The words are measured in rem,
# so that this holds at every size: a title, a control and, where pictures have them, buttons or numbers.
_SHARES = """
<style>
.stElementContainer:is([class*="-two-"], [class*="-three-"], [class*="-tables-"])[class*="st-key-lesson-"]
  {max-height: calc((100vh - 17rem) * .47);}
.stElementContainer[class*="st-key-lesson-curve-"] {height: calc((100vh - 17rem) * .53) !important;}
.stElementContainer:is([class*="-tables-"], [class*="-three-matrices"])[class*="st-key-lesson-"]
  {max-height: calc((100vh - 17rem) / 2);}
.stElementContainer[class*="-three-guess"][class*="st-key-lesson-"] {max-height: calc((100vh - 22rem) * .36);}
.stElementContainer[class*="st-key-lesson-curve-scores"] {height: calc((100vh - 22rem) * .64) !important;}
.stElementContainer[class*="-three-cut"][class*="st-key-lesson-"] {max-height: calc(100vh - 23rem);}
.stElementContainer[class*="st-key-lesson-graph-"] {height: min(100vh - 19rem, 32vw) !important;}
.stElementContainer[class*="st-key-lesson-large-"] {height: calc(100vh - 16.8rem) !important;}
</style>
"""
# One lesson leaves room for type that grows with the screen; a demonstration does not.
_GROWS = "<style>html {font-size: clamp(18.5px, min(1.3vw, 2.05vh), 40px) !important;}</style>"


def look(*, full: bool) -> None:
    """Set the style of this page; without the menu in the lecture hall."""
    st.html(_STYLE + (_FULL + _SHARES if full else "") + (_GROWS if full and part() == "lessons" else ""))


def part() -> str:
    """Return the part of the page that the address names."""
    part_name = frame.page_setting("part", "lessons")
    if part_name not in PARTS:
        frame.leave_out("part", f"The parts are {', '.join(PARTS)}.")
        return "lessons"
    return part_name


def heading(title: str, idea: str = "") -> None:
    """Show the title, the drawing of a lesson's idea, and the parts of the page."""
    chosen = part()
    if st.session_state["fresh_page"] or st.session_state.get("lesson-part") != chosen:
        st.session_state["lesson-part"] = chosen
    with st.container(horizontal=True, vertical_alignment="center", key="lesson-heading"):
        st.title(title)
        if idea:
            st.html(idea, width="content")
        st.segmented_control(
            "Part",
            list(PARTS),
            key="lesson-part",
            format_func=PARTS.__getitem__,
            required=True,
            label_visibility="collapsed",
            on_change=_part_changed,
            width="content",
        )


def size_and_link(*, full: bool) -> None:
    """Show the buttons into and out of the full screen, and the link to share."""
    if full:
        st.button("Leave full screen", on_click=_resize, args=("",), shortcut="Esc", key="lesson-small")
        return
    st.button("Full screen", on_click=_resize, args=("1",), shortcut="F", key="lesson-full")
    with st.popover("Link"):
        st.caption("Opens this screen. Put the workbench's address before it.")
        st.code(address(), language=None, wrap_lines=True)


def address() -> str:
    """Return the screen as a relative address."""
    settings = {name: value for name, value in st.query_params.items() if isinstance(value, str)}
    return "/Lessons" + (f"?{urlencode(settings)}" if settings else "")


def _part_changed() -> None:
    """Write the chosen part into the address."""
    frame.set_query(part="" if st.session_state["lesson-part"] == "lessons" else st.session_state["lesson-part"])


def _resize(full: str) -> None:
    """Enter or leave the full screen."""
    frame.set_query(full=full)


def draw(*, full: bool) -> None:
    """Show the lesson that the address names."""
    number = _number()
    lesson = LESSONS[number]
    control = scale.in_unit(lesson.control, scale.unit(), frame.page_setting("lever"))
    value = _value(number, control)
    meaning = control.meaning(value)
    _chooser(number, full=full)
    heading(f"{place(number)}. {lesson.title}", "" if lesson.idea is None else lesson.idea(frame.palette()))
    screen = Screen(full, answered(number))
    with st.container(key="lesson-screen"), show.problems():
        left, right = st.columns([7, 5], gap="large")
        with left:
            seen = lesson.draw(meaning, screen)
            _control(number, lesson, control, value)
        with right:
            st.markdown(lesson.aim)
            if lesson.beside is None:
                st.info(seen)
            else:
                lesson.beside(meaning, screen)
            _question(number, lesson)
            if not full:
                file, label, make = lesson.onward
                frame.link(file, label, make(meaning), icon=":material/arrow_forward:")
    if lesson.printed is None:  # no game, whose pictures depend on more than its control
        _follow(number, control.shown(value))


def _follow(number: int, now: str) -> None:
    """Let the matrices of the lesson follow its control while it is dragged; what does not is blurred meanwhile."""
    pictures, texts = computed(_frames, number)
    control, keys = LESSONS[number].control, dict.fromkeys(images for images, _, _ in pictures)
    st.html(f'<div class="pc-answers" data-level="{escape(now)}"></div>')
    follow.send(
        f"lesson-{number}", f".st-key-{_lever(number)}", list(map(control.shown, control.options)),
        [follow.picture_of(f"{images} image@", at, frames, frame.palette()) for images, at, frames in pictures],
        titles=", ".join(f"{images} .annotation-text@" for images in keys), texts=texts if pictures else [],
    )  # fmt: skip


def _frames(number: int) -> tuple[list[tuple[str, int, list[follow.Frame]]], list[list[str]]]:
    """Return the matrices of a lesson at every place of its control, and the titles above them."""
    lesson, pictures = LESSONS[number], []
    contents = [content(lesson, option) for option in lesson.control.options]
    matrices = [at for at, (_, _, picture) in enumerate(contents[0].pictures) if _heatmaps(picture.figure)]
    for at in matrices:
        drawn = [_heatmaps(one.pictures[at][2].figure) for one in contents]
        images = f".st-key-lesson-{contents[0].pictures[at][0]}"
        pictures += [
            (images, place, [follow.frame_of(traces[place].z, traces[place].zmax) for traces in drawn])
            for place in range(len(drawn[0]))
        ]
    texts = [
        [note.text for at in matrices for note in one.pictures[at][2].figure.layout.annotations] for one in contents
    ]
    return pictures, texts


def _heatmaps(figure: Any) -> list[Any]:
    return [trace for trace in figure.data if trace.type == "heatmap"]


def _lever(number: int) -> str:
    """Return the key of the control in the chosen unit."""
    return f"lesson-lever-{number}" + ("-epsilon" if LESSONS[number].control.is_rho and scale.unit() != "rho" else "")


def _number() -> int:
    """Return the number of the lesson that the address names."""
    text = frame.page_setting("lesson", "1")
    if text in map(str, NUMBERS):
        return int(text)
    frame.leave_out("lesson", f"The lessons are 1 to {len(NUMBERS)}.")
    return 1


def _value(number: int, control: Control) -> Any:
    text = frame.page_setting("lever")
    value = control.read(text) if text else control.start
    if value is None:
        frame.leave_out("lever", f"In lesson {place(number)} it is one of {', '.join(map(str, control.options))}.")
        return control.start
    return value


def _go(number: int) -> None:
    frame.set_query(lesson="" if number == 1 else str(number), lever="")


def _chooser(number: int, *, full: bool) -> None:
    """Show the row of buttons that chooses a lesson."""
    if st.session_state["fresh_page"] or st.session_state.get("lesson-number") != number:
        st.session_state["lesson-number"] = number
    at = NUMBERS.index(number)
    before, after = NUMBERS[max(at - 1, 0)], NUMBERS[min(at + 1, len(NUMBERS) - 1)]

    with st.container(horizontal=True, vertical_alignment="center", key="lesson-chooser"):
        st.button(
            "Previous", key="lesson-previous", on_click=_go, args=(before,), disabled=before == number, shortcut="Left"
        )
        st.segmented_control(
            "Lesson",
            NUMBERS,
            key="lesson-number",
            required=True,
            on_change=lambda: _go(st.session_state["lesson-number"]),
            label_visibility="collapsed",
            format_func=lambda k: f"{place(k)} \u2713" if answered(k) else str(place(k)),
        )
        st.button("Next", key="lesson-next", on_click=_go, args=(after,), disabled=after == number, shortcut="Right")
        size_and_link(full=full)


def _control(number: int, lesson: Lesson, control: Control, value: Any) -> None:
    """Show the control of the lesson in the chosen unit, with a button for one step at either end."""
    key = _lever(number)
    if st.session_state["fresh_page"] or key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value

    def set_value(chosen: Any) -> None:
        frame.set_query(lever="" if chosen == control.start else str(chosen))

    st.select_slider(
        control.label,
        control.options,
        key=key,
        on_change=lambda: set_value(st.session_state[key]),
        format_func=control.shown,
        help=control.help or None,
    )
    at = control.options.index(value)

    def step(by: int) -> None:
        set_value(control.options[at + by])

    with st.container(horizontal=True, key="lesson-ends"):
        st.button(
            control.left, key="lesson-lever-less", on_click=step, args=(-1,), disabled=at == 0, shortcut="Down",
            type="tertiary",
        )  # fmt: skip
        scale.switch(lesson.control, value)
        st.button(
            control.right, key="lesson-lever-more", on_click=step, args=(1,), disabled=at + 1 == len(control.options),
            shortcut="Up", type="tertiary",
        )  # fmt: skip


def _question(number: int, lesson: Lesson) -> None:
    """Show the question, its answers and the reason for the checked one."""
    key, indices = f"lesson-choice-{number}", list(range(len(lesson.choices)))
    st.markdown(f"**{lesson.question}**")
    checked = answers().get(number)
    if checked is not None and key not in st.session_state:  # the page was left and opened again
        st.session_state[key] = checked
    chosen = st.radio(
        lesson.question,
        indices,
        index=None,
        key=key,
        label_visibility="collapsed",
        format_func=lambda i: lesson.choices[i].text,
    )
    told = st.container()  # in sight of who pressed the button below

    def check() -> None:
        if st.session_state.get(key) is None:
            st.session_state["lesson_unanswered"] = True
        else:
            answers()[number] = st.session_state[key]

    st.button("Check", key=f"lesson-check-{number}", on_click=check, type="primary")
    if st.session_state.pop("lesson_unanswered", False):
        told.caption("Choose one of the answers first.")
    if checked is None:
        return
    if checked != chosen:
        told.caption("Press Check for the answer that is chosen now.")
        return
    answer = lesson.choices[checked]
    if answer.right:
        told.success(f"**Right.** {answer.reason}\n\n**To remember:** {lesson.remember}")
    else:
        told.warning(f"**Not this one.** {answer.reason}")
