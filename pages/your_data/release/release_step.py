"""Step 3: one confirmed release, in the ledger before anything is drawn; a second click finds it there."""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.common import fields, frame, show
from pages.your_data.release import check
from pages.your_data.state import forget_value, go_on, open_ledger, owner_session, rows, widget_args
from pages.your_data.wording import attacker, facts_of
from privcov.core.guarantees import ApproxDP, Guarantee, PureDP, ZCDP, level_of, to_dict
from privcov.core.words import to_powers
from privcov.estimators.base import METHODS
from privcov.ledger import Account, Entry, Ledger, LedgerError, cost_of
from privcov.ledger.account import unit_of
from privcov.releases.private import MeasurementError, release_private
from privcov.releases.private_request import default_request
from privcov.tables.public_facts import PublicFacts

LIMITS = {"zcdp": "zCDP: rho in all", "approx": "(epsilon, delta) in all", "pure": "pure epsilon in all"}


@dataclass(frozen=True)
class ReleaseRequest:
    """What one release is asked for: a method and its guarantee."""

    method: str
    guarantee: Guarantee
    parameters: tuple[tuple[str, Any], ...] = ()  # of the method

    def same(self, entry: Entry) -> bool:
        """Return whether a ledger entry has this request."""
        request_fields = {"method": self.method, "guarantee": to_dict(self.guarantee), "draw": 1}
        parameters = entry.request.get("parameters", {})
        own = all(parameters.get(name) == value for name, value in self.parameters)
        return own and all(entry.request.get(name) == value for name, value in request_fields.items())


def section() -> None:
    """Show Release: what will be spent, the one button, and the result."""
    session = owner_session()
    if session.declared is None or session.guarantee is None:
        st.info("First declare the table and pick a guarantee on Plan.")
        return
    _carry_out()
    ledger = open_ledger()
    account = ledger.account(session.declared.name)
    st.header("The limit")
    st.markdown(show.as_text(f"Ledger for {session.declared.name!r}: {account.sentence}"))
    _limit(ledger, account, session.guarantee)
    if account.limit is None:
        return
    guarantee = session.guarantee
    after = Account(account.name, account.limit, (*account.costs, cost_of(guarantee)))
    facts = facts_of(session.declared, 1000)
    usual = default_request(facts, guarantee, search=session.declared.row_bound_search)
    method = usual.method.card
    st.header("What will be released")
    chance = attacker(facts, guarantee)
    st.markdown(
        show.as_text(
            ("Noisy counts of the lengths of the rows, and one" if usual.measurement_request.search_for else "One")
            + f" noisy measurement of {len(session.declared.measured)} columns "
            + ("with the class means " if session.declared.label else "with the mean ")
            + f"({method.label}): {to_powers(str(guarantee))}"
            + ". Everything on Answers follows from it and spends nothing."
        )
    )
    own = {spec.name: getattr(usual.method, spec.name) for spec in method.parameters}
    request = ReleaseRequest(method.key, guarantee, tuple(own.items()))
    earlier, refused = _earlier(ledger, account.name, request, facts), False
    if earlier is not None:
        st.info(
            show.as_text(
                f"This release is in the ledger already, as number {earlier.number}: Answers has it, and asking again "
                "spends nothing. For a new one pick another guarantee on Plan."
            )
        )
    elif other := account.other_unit(unit_of({"facts": facts.to_dict()})):
        refused = True
        st.warning(show.as_text(other))
    elif account.affords(guarantee) or _begun(ledger, account.name, request):
        st.markdown(show.as_text(f"After it, {after.left}."))
    else:
        refused = True
        smaller = (
            "Pick a smaller one on Plan" if account.left_epsilon > 0 or account.left_rho > 0 else "Nothing is left"
        )
        st.warning(
            show.as_text(
                f"{to_powers(str(guarantee))} is more than is left, so it will be refused. {smaller}; what was "
                "released stays free to look at."
            )
        )
    check.panel()
    if st.button("Release ...", type="primary", key="own-ask", disabled=refused) and check.may_confirm():
        _confirm(request, account, after, stored=earlier is not None, chance=chance)
    if session.problem:
        st.error(show.as_text(session.problem))
        session.problem = ""


def _limit(ledger: Ledger, account: Account, guarantee: Guarantee) -> None:
    title = "Set a limit for all releases of these people" if account.limit is None else "Change the limit"
    with st.expander(title, expanded=account.limit is None):
        st.caption(
            f"All releases under this name together stay within it. {guarantee}, picked on Plan, is what one such "
            "release costs; what was spent before counts as well. "
            "A higher limit protects less; it needs a reason, which every later bundle shows."
        )
        kind = st.segmented_control(
            "Limit",
            list(LIMITS),
            required=True,
            format_func=LIMITS.__getitem__,
            **widget_args("limit", guarantee.kind, argument="default"),
        )
        first, second = st.columns(2)
        level_name = "rho" if kind == "zcdp" else "epsilon"
        level = first.number_input(
            f"Most {level_name} in all",
            min_value=1e-4,
            max_value=1000.0,
            format="%g",
            **widget_args(f"limit-{level_name}", level_of(guarantee) if kind == guarantee.kind else None),
        )
        power = None
        if kind == "approx":
            usual = round(math.log10(guarantee.delta)) if isinstance(guarantee, ApproxDP) else -6
            power = second.number_input("delta = 10 to the power", -15, -2, **widget_args("limit-delta", usual))
        limit: Guarantee | None = None
        if level is not None:
            limit = ZCDP(level) if kind == "zcdp" else PureDP(level) if power is None else ApproxDP(level, 10.0**power)
            fields.attacker(limit, "Attacker, any releases within it")
        reason = ""
        if account.limit is not None:
            reason = st.text_input("Why a higher limit is needed", **widget_args("limit-reason", ""))
        if st.button("Set the limit", key="own-limit"):
            if limit is None:
                st.error(f"Enter {level_name}: how much all releases of these people together may spend.")
                return
            try:
                ledger.set_limit(account.name, limit, reason)
            except LedgerError as problem:
                st.error(show.as_text(str(problem)))
                return
            forget_value("limit-reason")  # it is that of one change
            st.rerun()


@st.dialog("Release once")
def _confirm(request: ReleaseRequest, account: Account, after: Account, stored: bool, chance: float) -> None:
    """Show the dialog that confirms a release, with an attacker's best chance; ``stored``: the ledger has it."""
    guarantee = request.guarantee
    if stored:
        st.markdown(
            show.as_text(
                f"Asks again for a release of {account.name!r} with {to_powers(str(guarantee))}. Of the same table "
                "it spends nothing and gives the same numbers; for a changed table it is refused, and nothing is spent."
            )
        )
    else:
        st.markdown(show.as_text(f"Spends {to_powers(str(guarantee))} on the people of {account.name!r}."))
    st.markdown(show.as_text(f"Now, {account.left}."))
    if not stored:
        st.markdown(show.as_text(f"Then, {after.left}."))
    show.attacker_line(chance, frame.palette())
    check.verdict()
    st.caption(
        "What is spent is never given back, not even if the machine stops. The noise is drawn once, without a seed."
    )
    st.button("Confirm and release", type="primary", key="own-confirm", on_click=_agree, args=(request,))
    _carry_out()


def _agree(request: ReleaseRequest) -> None:
    """Keep what was confirmed until the next run carries it out."""
    st.session_state["own-agreed"] = request


def _carry_out() -> None:
    """Carry out what was confirmed, once: the request is taken out first, however often the script runs again."""
    agreed = st.session_state.pop("own-agreed", None)
    if agreed is None:
        return
    with st.spinner("Reading, measuring, drawing ..."):
        _release(agreed)
    st.rerun()


def _release(request: ReleaseRequest) -> None:
    """Run the release once; an error becomes one sentence that says nothing about the rows."""
    session = owner_session()
    try:
        ledger, private = open_ledger(), rows()
        release_private(
            private,
            request.guarantee,
            request.method,
            ledger=ledger,
            expected_rows=session.widget_values.get("rows")
            if private.facts.n is None
            else None,  # typed on Plan, if anything
            **dict(request.parameters),
        )
        session.release_token = _token(ledger, request, private.facts.to_dict(), private.name)
        go_on("answers")
    except (ValueError, MeasurementError) as problem:
        session.problem = str(problem)
    except Exception:
        session.problem = (
            f"The release failed (id {secrets.token_hex(4)}). The ledger above says whether anything was spent."
        )


def _earlier(ledger: Ledger, name: str, request: ReleaseRequest, facts: PublicFacts) -> Entry | None:
    """Return the stored release of this request by the present version of its method.

    Whether the rows are the same is for the ledger to determine: a public number of rows is not known before the file
    is read, so it is not compared.
    """
    facts_dict, version = facts.to_dict() | {"n": None}, METHODS.get(request.method).version
    entries = [
        e
        for e in ledger.entries(name)
        if e.state == "stored"
        and e.request.get("version") == version
        and request.same(e)
        and e.request["facts"] | {"n": None} == facts_dict
        and (e.request["facts"]["n"] is None) == (facts.n is None)
    ]
    return entries[-1] if entries else None


def _begun(ledger: Ledger, name: str, request: ReleaseRequest) -> bool:
    """Return whether this request is paid and was interrupted: the ledger goes on with it, free."""
    return any(e.state in ("reserved", "committed") and request.same(e) for e in ledger.entries(name))


def _token(ledger: Ledger, request: ReleaseRequest, facts: dict, name: str) -> str:
    entries = [e for e in ledger.entries(name) if request.same(e) and e.request["facts"] == facts]
    return entries[-1].token if entries else ""
