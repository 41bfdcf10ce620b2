"""Tab of Privacy audit: draws from two tables that differ in one person, until they can be told apart, or not."""

from __future__ import annotations

import math

import streamlit as st

from pages.common import address, fields, frame, show
from pages.common.fields import ends
from pages.common.jobs import AUDITS, Job, Jobs, Steps, status
from pages.common.study import Study
from privcov.attacks import live_audit
from privcov.attacks.bounds import ERROR, detection_limit
from privcov.attacks.faults import FAULTS
from privcov.attacks.live_audit import Audit, AuditSettings
from privcov.attacks.mechanisms import GROUPS, RHO, AuditedMechanism, find, mechanisms
from privcov.attacks.pairs import LONG, catalogue
from privcov.core import accounting
from privcov.core.guarantees import ApproxDP, ZCDP, level_of
from privcov.core.words import plain, powers
from privcov.estimators.base import METHODS
from privcov.plots import audit as pictures

JOBS = Jobs("audits", AUDITS, capacity=12)
_ASKED = ("group", "mechanism", "d", "pair", "epsilon", "delta", "rho", "draws", "seed", "bits", "asked")
SETTING_NAMES = tuple(f"live.{name}" for name in _ASKED)
_DRAWS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 400_000)
_FIRST = "wishart-pure:as-published:pure"
_WAIT = 5.0  # seconds for which a click waits before progress is shown


def section(study: Study) -> None:
    """Show the tab."""
    box = st.container(border=True)
    key = _choose_mechanism(box)
    with box:
        settings = _controls(key)
    left, right = st.columns([1, 4], vertical_alignment="center")
    started = left.button(
        "Run the audit", type="primary", key="audit-run", width="stretch", on_click=frame.set_query,
        kwargs={"live.asked": "yes"},
    )  # fmt: skip
    # The first visit sees an audit at once, and a link shows the audit it was copied from; later ones need a click.
    linked = settings.mechanism == _FIRST or (settings.audited_mechanism.bulk and frame.page_setting("live.asked"))
    if started or (not JOBS.all() and linked):
        JOBS.start(settings, lambda _: _steps(settings), settings.steps, wait=_WAIT)
    if JOBS.find(settings) is not None:
        JOBS.watch(settings, lambda job: _paint(job, settings), every=0.7)
    else:
        right.caption(f"{settings.draws:,} draws from either table; " + _pace(settings.audited_mechanism))
    st.caption(show.as_text(_about(settings.audited_mechanism)))
    with st.expander("What an audit can and cannot see"):
        _explained(settings)
    with st.expander("The same in Python"):
        st.code(script(settings), language="python")


def _choose_mechanism(box) -> str:
    with box:
        first, second = st.columns([3, 2], vertical_alignment="bottom")
    group = address.bind_widget(
        first.segmented_control, "What is audited", GROUPS, name="live.group", default=GROUPS[0], required=True,
        key="audit-group", width="stretch", clears=("live.mechanism", "live.pair"),
    )  # fmt: skip
    labels = {m.key: m.label for m in mechanisms() if m.group == group}
    return address.bind_widget(
        second.selectbox, "Mechanism", list(labels), name="live.mechanism", default=next(iter(labels)),
        key=f"audit-mechanism-{group}", format_func=labels.get, clears=("live.pair",),
    )  # fmt: skip


def _controls(key: str) -> AuditSettings:
    mechanism = find(key)
    one, two, three, four = st.columns([3, 5, 2, 3], vertical_alignment="bottom")
    d = address.bind_widget(
        one.segmented_control, "Columns d", [1, 2, 3], name="live.d", default=2, required=True, key="audit-d",
        clears=("live.pair",),
    )  # fmt: skip
    labels = {p.key: p.label for p in catalogue(d, mechanism.hidden_n)}
    pair = address.bind_widget(
        two.selectbox,
        "The person's row in the two tables",
        list(labels),
        name="live.pair",
        default=mechanism.usual_pair(d),
        format_func=labels.get,
        key=f"audit-pair-{d}-{mechanism.usual_pair(d)}",
        help="All other rows are zero, and known.",
    )
    epsilon, rho, delta = 1.0, RHO, 1e-3
    if mechanism.kind == "zcdp":
        rho = address.bind_widget(
            three.number_input, "Rho", 0.001, 8.0, name="live.rho", default=RHO, step=0.1, format="%g",
            key="audit-rho",
        )  # fmt: skip
    else:
        epsilon = address.bind_widget(
            three.number_input, "Epsilon", 0.05, 8.0, name="live.epsilon", default=1.0, step=0.25, format="%g",
            key="audit-epsilon",
        )  # fmt: skip
    if mechanism.kind == "approx":
        delta = address.bind_widget(
            four.select_slider,
            "Delta",
            [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1],
            name="live.delta",
            default=1e-3,
            format_func=powers,
            key="audit-delta",
        )
        ends("stronger claim", "weaker claim", four)
    elif mechanism.kind == "pure":
        four.metric("Delta", "0", help="A pure claim.")
    else:
        four.metric("Delta", "any", help="A zCDP claim holds at every delta.")
    more = st.expander("Advanced")
    five, six = more.columns([4, 2], vertical_alignment="bottom")
    draws = address.bind_widget(
        five.select_slider,
        "Draws of either table",
        _DRAWS,
        name="live.draws",
        default=mechanism.usual_draws,
        format_func=lambda v: f"{v:,}",
        key=f"audit-draws-{mechanism.usual_draws}",
    )
    ends("sooner done", "finds smaller faults", five)
    seed = address.bind_widget(
        six.number_input, "Seed", 0, 10**6, name="live.seed", default=1, key="audit-seed",
        help="Private releases have none: their noise comes from the operating system.",
    )  # fmt: skip
    bits = not mechanism.exact and address.bind_widget(
        more.toggle,
        "Look at the last bits too",
        name="live.bits",
        default=False,
        key="audit-bits",
        help="They reveal floating-point sums, whatever the noise.",
    )
    settings = AuditSettings(
        key, int(d), pair, float(epsilon), float(delta), int(draws), int(seed), bool(bits), rho=float(rho)
    )
    fields.attacker(settings.claim, "Attacker, if the claim holds")
    return settings


def _pace(mechanism: AuditedMechanism) -> str:
    """Return how fast draws of the mechanism are, in words."""
    if mechanism.exact:
        return "a hundred to some thousands a second."
    return "about a second." if mechanism.bulk else "the method is run for every draw."


def _about(mechanism: AuditedMechanism) -> str:
    """Return what is audited and what the attacker sees, in words."""
    card = METHODS.get(mechanism.method)
    if mechanism.exact:
        n = "and the number of rows, which is not public" if mechanism.hidden_n else "and the mean; n is public"
        text = (
            "The measurement of a private release, without a ledger: whole numbers, noise from the operating "
            f"system. The attacker sees the second moment {n}."
        )
        return f"A broken copy. {FAULTS[mechanism.fault].sentence} {text}" if mechanism.fault else text
    if mechanism.fault:
        fault = FAULTS[mechanism.fault].sentence
        return f"Broken on purpose; no method of this site. {fault}"
    text = card.calibrations[mechanism.calibration]
    observation = "the noisy matrix behind everything else" if mechanism.bulk else "the matrix that comes out"
    return f"{text[0].upper()}{text[1:]}. The attacker sees {observation}."


def _steps(settings: AuditSettings) -> Steps:
    """Run the audit; its last step finds it."""
    for audit in live_audit.run(settings):
        yield None if audit is None else {"audit": audit}


def _paint(job: Job, settings: AuditSettings) -> None:
    status(job, "steps", "audit-stop")
    if job.progress.state == "stopped":
        st.info("Stopped. A bound needs a number of draws fixed before.")
    elif job.progress.state == "finished":
        _show(job.progress.rows[-1]["audit"], settings)


def _show(audit: Audit, settings: AuditSettings) -> None:
    palette = frame.palette()
    show.tag("Simulated", f"{audit.pair.label}, {audit.draws:,} test draws of either")
    show.verdict(audit.sentence, audit.refutes_claim, palette)
    one, two, three, four = st.columns(4)
    at = None if isinstance(audit.claim, ZCDP) else f"At delta = {powers(getattr(audit.claim, 'delta', 0.0))}."
    apart = "Delta at epsilon 0: proved, and permitted."
    name = "rho" if isinstance(audit.claim, ZCDP) else "epsilon"
    one.metric(f"Measured: {name} at least", plain(audit.proved_level), border=True, help=at)
    two.metric(f"Claimed: {name}", plain(level_of(audit.claim)), border=True, help=at)
    three.metric("Measured total variation", plain(audit.proved_delta), border=True, help=apart)
    four.metric("Largest permitted", plain(audit.allowed_delta), border=True, help=apart)
    most = 0 if audit.impossible is None else max(audit.impossible)
    proof = most > 0
    left, right = st.columns([3, 2], gap="large")
    with left:
        if not proof:
            st.markdown("**Answers, where the tables differ most**")
        picture = (pictures.support if proof else pictures.outputs)(audit, palette)
        show.picture(picture, "audit-picture")
    with right:
        if proof:
            st.markdown(
                show.as_text(
                    f"{most:,} of {audit.draws:,} answers ({show.percent(most / audit.draws)}) are impossible "
                    "with the other table: no finite epsilon permits that."
                )
            )
        _exact(audit)
        _show_reach(settings, audit.draws)
    test = audit.for_level
    st.caption(
        show.as_text(
            f"Tested set: {test.words}. Draws in it: {test.hits[0]:,} of the first table, {test.hits[1]:,} of "
            f"the second. Its probability is at least {test.p_low:.4g} with the "
            f"{('first', 'second')[test.region.favoured]}, at most {test.q_high:.4g} with the other."
        )
    )


def _exact(audit: Audit) -> None:
    """Show the guarantee that accounting finds for the events, unless the mechanism is a broken one."""
    if audit.settings.audited_mechanism.fault or audit.settings.last_bits:
        return
    guarantee = accounting.actual_guarantee(audit.events, audit.claim)
    st.markdown(show.as_text(f"Its events give {guarantee}; {audit.claim} was claimed."))


def script(settings: AuditSettings) -> str:
    """Return source text whose variable ``found`` is the audit on the page."""
    return "\n".join(
        [
            "from privcov.attacks.live_audit import AuditSettings, audit",
            "",
            f"found = audit({settings!r})",
            "print(found.sentence)",
            "print(found.for_level.words)",
            "print(found.for_level.hits)",
        ]
    )


# --- what a live audit can and cannot detect ------------------------------------------------------------------

_ZCDP = """
- **Rho from one set** is the largest Renyi divergence of "in the set", over its order. For Gaussian noise a set
  half way between the answers shows 2/pi = 64 % of a small rho: noise less than 1.25 times too small passes."""
_EXACT = """
- **Private releases:** whole numbers, to the last bit. Not seen: the ledger, the fingerprint, error messages, the
  system's random numbers, several releases together, or a fault that needs many or rare rows."""
_BITS = """
- **Rounding.** Answers are rounded to 2^-30 unless the last bits, which betray floating-point noise (Mironov 2012),
  are looked at. Private releases add whole numbers."""


def _explained(settings: AuditSettings) -> None:
    _show_reach(settings, settings.draws // 2)
    exact = settings.audited_mechanism.exact
    statistic = "the second moment jointly with the mean or the count" if exact else "the uncentred second moment"
    scale = "The noise of the exact sum does not depend on them" if exact else "Noise and sensitivity both fall as 1/n"
    count = "" if exact else ", the number of rows"
    rho = _ZCDP if isinstance(settings.claim, ZCDP) else ""
    size = (
        "10 rows, or 9 without the person"
        if settings.audited_mechanism.hidden_n
        else f"{settings.audited_mechanism.rows} row(s)"
    )
    st.markdown(
        f"""
- **How it works.** Half of the draws choose the set that separates the tables best; the other half count it. Exact
  bounds (Clopper and Pearson 1934): a true claim is refuted at most once in {1 / ERROR:,.0f} audits.{rho}
- **Not caught is not proved:** rare events, other tables, more columns and better statistics remain.
- **Several steps.** One set shows at most a third of such a claim, so each step is also replayed on both tables with
  the same answers: it may cost what its event says.
- **Not seen:** what is not in the matrix, such as a choice made on raw rows, time, errors{count}.
- **Tables:** {size}, R = 1, answers about {statistic}. {scale}. One pair has a row {LONG:g} times too
  long.{_EXACT if exact else _BITS}
"""
    )


def _show_reach(settings: AuditSettings, draws: int) -> None:
    can = detection_limit(settings.claim, draws)
    name = "rho" if isinstance(settings.claim, ZCDP) else "epsilon"
    if math.isfinite(can.factor):
        st.markdown(
            show.as_text(
                f"At best, noise {can.factor:.2f} times too small ({name} {can.level:.3g}) is caught nine times in "
                f"ten. Largest {name} that {draws:,} test draws can show: {can.ceiling:.2f}."
            )
        )
    else:
        more = ", or a larger delta" if isinstance(settings.claim, ApproxDP) else ""
        st.markdown(f"No lack of noise can be seen here: take more draws{more}.")
