"""The method in the sidebar: which one, what it promises, and its settings, the rare ones apart.

Both groups of settings are folded, so that the guarantee stays in sight; what differs from the default is named below
them, because a link may have set it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import streamlit as st

from pages.shell import frame
from pages.shell.fields import field, hold, stands
from pages.shell.glossary import when_not
from pages.shell.study import Study
from privcov.estimators.base import METHODS, MethodCard
from privcov.parameters import Spec
from privcov.privacy import KINDS, RELATIONS

STANDING = {"proved": "green", "reference": "gray", "historical": "orange"}
USUAL, RARE = "Method settings", "Advanced"
CALIBRATION, NEIGHBOURS = "Noise calibration", "Neighbouring tables"


def section(study: Study, offered: tuple = ()) -> None:
    """offered: method keys, () for all; the study names one of them."""
    families = list(dict.fromkeys(c.family for c in METHODS.all()))
    shown = [c for c in METHODS.all() if not offered or c.key in offered]
    cards = sorted(shown, key=lambda c: (c.standing == "historical", families.index(c.family), c.order))
    labels = {
        c.key: f"{c.family}: {c.label}"
        + (" (historical)" if c.standing == "historical" else "")
        + (f" (not {KINDS[study.kind].name})" if c.refuses(study.kind) else "")
        for c in cards
    }
    hold("w.method", study.method_key())

    def took() -> None:
        frame.change(lambda s: s.with_method(st.session_state["w.method"]))

    at = list(labels).index(study.method_key())
    st.selectbox("Method", list(labels), at, key="w.method", on_change=took, format_func=labels.get)
    when_not([study.method_key()])
    card = METHODS.get(study.method_key())
    badges = f":{STANDING[card.standing]}-badge[{card.standing}] :gray-badge[{card.trust}]"
    st.markdown(f"{badges} :gray-badge[target: {card.target}]")
    relations = {key: RELATIONS[key].sentence for key in card.relations}
    usual, rare = ([s for s in card.parameters if s.advanced is advanced] for advanced in (False, True))
    _group(USUAL, usual, (NEIGHBOURS, "neighbours", relations), study)
    _group(RARE, rare, (CALIBRATION, "calibration", card.calibrations), study)
    if changed := _changed(card, study):
        st.caption(f"Not at the default: {'; '.join(changed)}.")


def _group(title: str, specs: Sequence[Spec], choice: tuple[str, str, Mapping[str, str]], study: Study) -> None:
    """One fold: parameters of the method, then a choice that every method may offer, if it offers more than one."""
    card = METHODS.get(study.method_key())
    specs = [spec for spec in specs if stands(spec, "options", study, owner=card.key)]
    if not specs and len(choice[2]) < 2:
        return
    with st.expander(title, key=title):
        for spec in specs:
            field(spec, "options", study, owner=card.key)
        _choice(*choice, study)


def _choice(label: str, name: str, meanings: Mapping[str, str], study: Study) -> None:
    """A select box, and what the chosen one means."""
    if len(meanings) < 2:
        return
    owner = study.method_key()
    key = f"w.{name}.{owner}"
    value = study.settings(METHODS.get(owner))[name]
    hold(key, value)

    def took() -> None:
        chosen = st.session_state[key]
        frame.change(lambda s: dataclasses.replace(s if s.method == owner else s.with_method(owner), **{name: chosen}))

    st.selectbox(label, list(meanings), list(meanings).index(value), key=key, on_change=took)
    st.caption(meanings[value])


def _changed(card: MethodCard, study: Study) -> list[str]:
    """Settings that differ from the default, in the order of the form."""
    given = dict(study.options)
    ordered = sorted(card.parameters, key=lambda spec: spec.advanced)
    found = [f"{spec.label} {given[spec.name]}" for spec in ordered if spec.name in given]
    told = study.settings(card)
    if told["neighbours"] != card.relations[0]:
        found.append(f"{NEIGHBOURS} {told['neighbours']}")
    if told["calibration"] != card.default_calibration:
        found.append(f"{CALIBRATION} {told['calibration']}")
    return found
