"""The form of Trade-offs: the visitor's own set-up. It stays as it was left."""

from __future__ import annotations

import re

import streamlit as st

from pages.common import address, fields, glossary, show
from pages.common.study import Study
from pages.trade_offs.sweep import LEVELS, Axis, Setting, Sweep, axes, build, conversion, read_values, values_text
from privcov.core.guarantees import KINDS
from privcov.estimators.base import METHODS
from privcov.studies.plan import NORM_NAMES, NORMS
from privcov.tables.dataset import Dataset

AGAINST = {"truth": "truth", "sample": "sample", "nonprivate": "the same method without noise"}
TABS = ("Curves", "Pinned")
KEEPS = ("methods", "axis", "values", "norm", "size", "against", "replicates", "compare", "kinds", "without")


def _chosen(name: str, key: str, where, usable: list[str], default: list[str]) -> list[str]:
    """Show the methods on offer and return the chosen ones."""
    labels = {c.key: c.label for c in METHODS.all()}
    return address.bound(
        where.multiselect, "Methods", usable, name=name, default=default, key=key, format_func=labels.get,
        code=address.several_of(usable, list(labels)),  # a method may not fit the kind of guarantee chosen since
    )  # fmt: skip


def own_form(study: Study, data: Dataset) -> Sweep:
    """Show the visitor's own set-up and return its sweep; raise ValueError for what cannot be run."""
    with st.container(border=True):
        top, rest = st.columns([5, 2, 1.5], vertical_alignment="bottom"), st.expander("Advanced", key="t.advanced")
        with rest:
            kinds = _kinds(study)
        cards = [c for c in METHODS.all() if c.target == "covariance"]
        needed = kinds or (study.kind,)
        usable = [c.key for c in cards if not all(c.refuses(k) for k in needed)]
        proved = [c.key for c in cards if c.key in usable and c.standing != "reference" and c.trust == "central"]
        methods = _chosen("methods", "t.methods", top[0], usable, _first(proved))
        axis = _axis(study, data, top[1], bool(kinds))
        replicates = address.bound(
            top[2].number_input, "Replicates", 1, 1000, name="replicates", default=20, key="t.replicates",
            help=_REPLICATES_HELP,
        )  # fmt: skip
        with rest:
            values = _values(axis, st, study, bool(kinds))
            low = st.columns([2, 2, 3], vertical_alignment="bottom")
            norm = address.bound(
                low[0].selectbox, "Norm", NORMS, name="norm", default=NORMS[0], key="t.norm",
                format_func=NORM_NAMES.get, help=_NORM_HELP,
            )  # fmt: skip
            size = address.bound(
                low[1].selectbox, "Error", ("relative", "absolute"), name="size", default="relative", key="t.size",
                help=_SIZE_HELP,
            )  # fmt: skip
            references = ["truth", "sample", "nonprivate"] if data.truth is not None else ["sample", "nonprivate"]
            against = address.bound(
                low[2].selectbox, "Compared with", references, name="against", default=references[0], key="t.against",
                format_func=AGAINST.get,
            )  # fmt: skip
            without = address.bound(
                st.toggle, "Also each method without noise", name="without", default=False, key="t.without",
                help=_WITHOUT_HELP,
            )  # fmt: skip
            unfit = [c.refuses(study.kind) for c in cards if c.refuses(study.kind)] if not kinds else []
            if unfit:
                st.caption(" ".join(unfit))
            if kinds:
                st.caption(show.as_text(conversion(kinds, study.epsilon, study.delta)))
    setting = Setting(
        methods=tuple(methods),
        axis=axis.name,
        values=values,
        norm=norm,
        relative=size == "relative",
        against=against,
        replicates=int(replicates),
        kinds=kinds,
        delta=study.delta,
        without_noise=without,
    )
    sweep = build(study, data, setting)
    with rest:
        glossary.when_not(methods, _WHEN_NOT)
        if axis.name in ("privacy", "delta"):
            fields.attacker_between(sweep.guarantees)
    return sweep


_WHEN_NOT = "When not to use these methods"
_NORM_HELP = (
    "Frobenius: all entries. Spectral: the largest eigenvalue. l1: the largest column sum. Max: the largest entry."
)
_SIZE_HELP = "Relative: 1 is as bad as the zero matrix."
_REPLICATES_HELP = "Runs per point. One cannot tell a difference from chance."
_WITHOUT_HELP = "The cost of clipping and post-processing alone."


def _first(keys: list[str]) -> list[str]:
    """Return three methods to start with: the recommended one and the plain mechanisms."""
    liked = [k for k in ("auto-cov", "gaussian-cov", "laplace-cov") if k in keys]
    return (liked + [k for k in keys if k not in liked])[:3]


def _kinds(study: Study) -> tuple[str, ...]:
    """Show whether kinds of guarantee are compared and return them, () for no comparison."""
    on = address.bound(
        st.toggle,
        "Compare kinds of guarantee",
        name="compare",
        default=False,
        key="t.compare",
        help="At the study's delta; each kind runs at the guarantee that implies it.",
    )
    if not on:
        return ()
    names = {k: KINDS[k].name for k in ("pure", "approx", "zcdp")}
    kinds = address.bound(
        st.pills, "Kinds", list(names), name="kinds", default=list(names), key="t.kinds", format_func=names.get,
        selection_mode="multi", label_visibility="collapsed",
    )  # fmt: skip
    return tuple(kinds) or (study.kind,)


def _axis(study: Study, data: Dataset, where, compare: bool) -> Axis:
    """Show what can vary and return the chosen axis."""
    offered = {a.name: a for a in axes(study, data)}
    if compare:
        offered.pop("delta", None)
    names = {name: a.label for name, a in offered.items()}
    names["privacy"] = "epsilon" if compare else study.level_name
    return offered[
        address.bound(
            where.selectbox, "Along the axis", list(offered), name="axis", default="privacy", key="t.axis",
            format_func=names.get, clears=("values",),
        )
    ]  # fmt: skip


def _values(axis: Axis, where, study: Study, compare: bool) -> tuple:
    suggested, varied = axis.values, axis.name
    if axis.name == "privacy":
        varied = "epsilon" if compare else study.level_name
        if compare:
            suggested = tuple(float(f"{v:.3g}") for v in LEVELS["epsilon"])
    text = address.bound(
        where.text_input,
        f"Values of {axis.label}",
        name="values",
        default=values_text(suggested),
        key=f"t.values.{axis.name}",
        code=_values_code(varied),
    )
    return read_values(text, axis)


def _values_code(varied: str) -> address.Code:
    """Return the code of the values along the axis, with the name of their axis: another axis has other values."""

    def read(text: str) -> str:
        name, _, values = text.partition(":")
        if name != varied:
            raise ValueError(f"It must begin with {varied}:, which is along the axis.")
        return str(address.written(str).read(re.sub(r"\s*[,;]\s*", ", ", values.strip())))

    return address.Code(read, lambda text: f"{varied}:" + re.sub(r"\s*[,;]\s*", ",", str(text).strip()))
