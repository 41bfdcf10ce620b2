"""A request that the ledger has in another version, or whose answer is not good: the owner is asked, nothing is spent.

The token of a request contains the version of its method and the form of its public facts, so the ledger itself never
takes a new version for the old one. Without this question a repeat would be a new release, paid without notice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from privcov import checks
from privcov.ledger.book import Entry, Ledger
from privcov.ledger.errors import LedgerError
from privcov.measurements.exposed import exposed_answer
from privcov.public_facts import PublicFacts

ASK, STORED, PAY = AGAIN = ("ask", "stored", "pay")
_COMPARED = ("method", "guarantee", "draw", "centre", "tuning")
_FACTS = ("columns", "row_bound", "bounds", "origin", "scale", "n", "classes", "rows_per_person", "missing")
_LATER = {"classes": [], "rows_per_person": 1, "missing": "typical"}  # facts that the first versions did not write


class VersionChanged(LedgerError):
    """The ledger has this release in another version, or its answer is not good; nothing was spent.

    Parameters
    ----------
    entry : Entry
        The release that is offered.
    what : str
        The sentence without the ways to go on.
    cost : str
        What releasing again would spend, in words.
    stored : str
        How to ask for the stored answer.
    pay : str
        How to release again.
    """

    def __init__(
        self, entry: Entry, what: str, cost: str, stored: str = "again='stored'", pay: str = "again='pay'"
    ) -> None:
        free = f"{stored} for the stored answer, free, or " if entry.state == "stored" else ""
        super().__init__(f"{what} Nothing was spent. Pass {free}{pay} to release again, which costs {cost}.")
        self.entry, self.what, self.cost = entry, what, cost

    def instead(self, stored: str, pay: str) -> VersionChanged:
        """Return the same error with the words of another interface for "stored" and "pay"."""
        return VersionChanged(self.entry, self.what, self.cost, stored, pay)


@dataclass(frozen=True)
class Settled:
    """How a request goes on: with this request and token to the ledger, or with the answer that is already there.

    Attributes
    ----------
    request : dict
        The request.
    token : str
        Its token.
    answer : str or None
        The stored answer, where that is wanted.
    """

    request: dict
    token: str
    answer: str | None = None


def settle(
    ledger: Ledger,
    name: str,
    request: dict,
    token: str | None,
    again: str,
    *,
    defaults: Mapping,
    tunings: tuple[str, ...],
    cost: str,
) -> Settled:
    """Return how a request goes on, from the ledger alone; no row is read.

    The same request in the same version is free in each case.

    Parameters
    ----------
    ledger : Ledger
        The ledger.
    name : str
        The table.
    request : dict
        JSON facts about the release.
    token : str or None
        Default: that of the request.
    again : {"ask", "stored", "pay"}
        "ask" raises `VersionChanged` where a release for the same was made by another version or is not good; "stored"
        takes its answer, "pay" makes a new release.
    defaults : Mapping
        Those of the method's parameters.
    tunings : tuple of str
        The method's choice, the default first.
    cost : str
        Of a new release, in words.

    Returns
    -------
    Settled
        For the ledger, or with the answer.

    Raises
    ------
    VersionChanged
        Where the owner has to choose.
    LedgerError
        Where a stored answer is asked for and there is none.
    """
    checks.one_of("again", again, AGAIN)
    request = json.loads(json.dumps(request))
    request_token = token or ledger.token_of(name, request)
    same = earlier(ledger, name, request, defaults, tunings)
    doubts = {e.token: doubt(ledger, e, request["version"]) for e in same}
    good = [e for e in same if not doubts[e.token]]
    if again == STORED:
        stored = [e for e in same if e.state == "stored"]
        if not stored:
            raise LedgerError(
                f"The ledger has no stored answer to this request of {name!r}. Ask for it without 'stored'."
            )
        entry = _best(ledger, stored)
        return Settled(entry.request, entry.token, ledger.answer(entry.token))
    if request_token in doubts and not doubts[request_token]:
        return Settled(request, request_token)
    doubtful = [e for e in same if doubts[e.token]]

    def tokens(asked: dict) -> set[str]:
        """Return the tokens of a request and of those paid for again because the answer under its token is not good."""
        paid = [{**asked, "instead_of": e.number} for e in doubtful]
        return {ledger.token_of(name, words) for words in [asked, *paid]}

    # The same in this version: paid for again, or written in another form.
    equal = [e for e in good if e.token in tokens(e.request)] if request_token in doubts or not token else []
    if equal:
        return Settled(equal[-1].request, equal[-1].token)
    if doubtful and again == ASK:
        entry = _best(ledger, [e for e in doubtful if e.state == "stored"] or doubtful)
        raise VersionChanged(entry, doubts[entry.token], cost)
    if request_token in doubts:  # its token is taken
        return Settled(request, ledger.token_of(name, {**request, "instead_of": doubtful[-1].number}))
    return Settled(request, request_token)


def earlier(ledger: Ledger, name: str, request: Mapping, defaults: Mapping, tunings: tuple[str, ...]) -> list[Entry]:
    """Return the entries of a table that asked for the same, in this version or another, the oldest first.

    A parameter or a fact that only one of the two versions has counts as its default, and so does a tuning that the
    method ignores.

    Parameters
    ----------
    ledger : Ledger
        The ledger.
    name : str
        The table.
    request : Mapping
        JSON facts about the release.
    defaults : Mapping
        Those of the method's parameters.
    tunings : tuple of str
        The method's choice, the default first.

    Returns
    -------
    list of Entry
        Stored or not.
    """
    asked = _asked(request, defaults, tunings)
    return [e for e in ledger.entries(name) if _asked(e.request, defaults, tunings) == asked]


def doubt(ledger: Ledger, entry: Entry, version: int) -> str:
    """Return why an entry does not simply answer a request of this version, in one sentence.

    Parameters
    ----------
    ledger : Ledger
        The ledger.
    entry : Entry
        An entry for the same request.
    version : int
        Of the method, in the new request.

    Returns
    -------
    str
        "" where it answers the request.
    """
    number = f"Release {entry.number} of {entry.name!r}"
    if entry.state == "stored" and (why := exposed_answer(ledger.answer(entry.token))):
        return f"{number} answers this request, but its guarantee is not established: {why}."
    if (earlier_version := entry.request.get("version")) == version:
        return ""
    state = "answers this request" if entry.state == "stored" else "was begun for this request and did not finish;"
    return f"{number} {state} by version {earlier_version} of {entry.request['method']}, and this is version {version}."


def _best(ledger: Ledger, entries: list[Entry]) -> Entry:
    """Return the newest entry whose guarantee stands, else the newest."""
    return max(entries, key=lambda e: (not exposed_answer(ledger.answer(e.token)), e.number))


def _asked(request: Mapping, defaults: Mapping, tunings: tuple[str, ...]) -> dict:
    """Return what a request asks for, without the parts that only depend on the version."""
    given = request.get("parameters", {})
    compared = {name: request.get(name) for name in _COMPARED}
    return compared | {
        "tuning": compared["tuning"] if compared["tuning"] in tunings else tunings[0],
        "facts": facts_of(request),
        "parameters": {name: given.get(name, value) for name, value in defaults.items()},
    }


def facts_of(request: Mapping) -> dict | None:
    """Return the public facts of a request in today's form, whatever version wrote them.

    Parameters
    ----------
    request : Mapping
        JSON facts about a release.

    Returns
    -------
    dict or None
        None where there are none.
    """
    try:
        known = {name: value for name, value in request["facts"].items() if name in _FACTS}
        return PublicFacts.from_dict(_LATER | known).to_dict()
    except (KeyError, TypeError, AttributeError, ValueError):  # of something else than a private release
        return None
