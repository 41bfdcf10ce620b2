"""Repeated requests: the stored answer, a new release, or a question to the owner.

The token of a request depends on the version of its method and on the form of its public facts, so a repeat in a new
version would be a new release, paid without notice. Where the ledger has the request in another version, or its answer
has no established guarantee, the owner is asked, and nothing is spent. So it is where one of the two has the names x1,
x2, ... of a table without names: the names of a data frame were not always kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from privcov import checks
from privcov.dataset import names_of
from privcov.ledger.book import Entry, Ledger
from privcov.ledger.errors import LedgerError
from privcov.measurements.exposed import exposed_answer
from privcov.parameters import Spec
from privcov.public_facts import LATER, PublicFacts

ASK, STORED, PAY = AGAIN = ("ask", "stored", "pay")
_COMPARED = ("method", "guarantee", "draw", "centre", "tuning", "norm_budget")
_FACTS = (
    "columns",
    "row_bound",
    "bounds",
    "origin",
    "scale",
    "n",
    "classes",
    "rows_per_person",
    "missing",
    *LATER,
    "flags",
    "kinds",
)
_LATER = {"classes": [], "rows_per_person": 1, "missing": "typical"}  # facts that the first versions did not write


class VersionChanged(LedgerError):
    """Raised where another version has this release, its guarantee is not established or its columns have other names.

    Nothing was spent.

    Parameters
    ----------
    entry : Entry
        The release that is offered.
    what : str
        The reason, as a sentence.
    cost : str
        What a new release would spend, in words.
    stored : str
        How to ask for the stored answer, in words.
    pay : str
        How to release again, in words.
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
    """The next step for a request: to the ledger with this request and token, or the stored answer.

    Attributes
    ----------
    request : dict
        The request.
    token : str
        Its token.
    answer : str or None
        The stored answer, where it was asked for.
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
    specs: tuple[Spec, ...],
    tunings: tuple[str, ...],
    cost: str,
) -> Settled:
    """Return the next step for a request, from the ledger alone; no row is read.

    The same request in the same version is always free, if the guarantee of its answer is established.
    """
    checks.one_of("again", again, AGAIN)
    request = json.loads(json.dumps(request))
    request_token = token or ledger.token_of(name, request)
    same = earlier(ledger, name, request, specs, tunings)
    doubts = {e.token: doubt(ledger, e, request["version"]) or _renamed(e, request) for e in same}
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
        """Return the token of a request, and those of the releases that were paid for in place of a doubtful one."""
        paid = [{**asked, "instead_of": e.number} for e in doubtful]
        return {ledger.token_of(name, words) for words in [asked, *paid]}

    # The same request in this version, paid for again or written in another form.
    equal = [e for e in good if e.token in tokens(e.request)] if request_token in doubts or not token else []
    if equal:
        return Settled(equal[-1].request, equal[-1].token)
    if doubtful and again == ASK:
        entry = _best(ledger, [e for e in doubtful if e.state == "stored"] or doubtful)
        raise VersionChanged(entry, doubts[entry.token], cost)
    if request_token in doubts:  # its token is taken
        return Settled(request, ledger.token_of(name, {**request, "instead_of": doubtful[-1].number}))
    return Settled(request, request_token)


def earlier(
    ledger: Ledger, name: str, request: Mapping, specs: tuple[Spec, ...], tunings: tuple[str, ...]
) -> list[Entry]:
    """Return the entries of a table for the same request, in any version, the oldest first.

    A parameter or a fact that only one of two versions has counts as its default, and so does a tuning that the method
    ignores. An earlier default in an entry of another version counts as the default. Columns x1, x2, ... count as those
    of any other names.
    """
    defaults = {spec.name: spec.default for spec in specs}
    before = {spec.name: spec.before for spec in specs if spec.before is not None}
    asked = _asked(request, defaults, tunings)

    def same(other: dict) -> bool:
        return other == asked or _nameless(other, asked) or _nameless(asked, other)

    def moved(other: dict) -> dict:
        """Return a request of another version with today's default in place of each earlier one."""
        given = other["parameters"]
        return other | {"parameters": given | {k: defaults[k] for k, v in before.items() if given[k] == v}}

    entries = [(e, _asked(e.request, defaults, tunings)) for e in ledger.entries(name)]
    version = request.get("version")
    return [e for e, other in entries if same(other) or (e.request.get("version") != version and same(moved(other)))]


def _nameless(one: dict, other: dict) -> bool:
    """Return whether two requests are the same but for the names of columns, and ``one`` has those of no names."""
    facts, named = one["facts"], other["facts"]
    if not facts or not named or facts["columns"] != list(names_of(None, None, len(facts["columns"]))):
        return False
    return {**one, "facts": None} == {**other, "facts": None} and facts | {"columns": named["columns"]} == named


def _renamed(entry: Entry, request: Mapping) -> str:
    """Return in one sentence that an entry is for columns of other names, or ""."""
    (old, new) = ((facts_of(asked) or {}).get("columns", []) for asked in (entry.request, request))
    if old == new:
        return ""
    place = next(j for j, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1])
    return (
        f"Release {entry.number} of {entry.name!r} is for the same request, but for the names of the columns: column "
        f"{place + 1} is {old[place]!r} there, and {new[place]!r} here."
    )


def doubt(ledger: Ledger, entry: Entry, version: int) -> str:
    """Return in one sentence why an entry cannot answer a request of this version without a question to the owner."""
    number = f"Release {entry.number} of {entry.name!r}"
    if entry.state == "stored" and (why := exposed_answer(ledger.answer(entry.token))):
        return f"{number} answers this request, but its guarantee is not established: {why}."
    if (earlier_version := entry.request.get("version")) == version:
        return ""
    state = "answers this request" if entry.state == "stored" else "was begun for this request and did not finish;"
    return f"{number} {state} by version {earlier_version} of {entry.request['method']}, and this is version {version}."


def _best(ledger: Ledger, entries: list[Entry]) -> Entry:
    """Return the newest entry whose guarantee is established, else the newest."""
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
    """Return the public facts of a request in the present form, whatever version wrote them."""
    try:
        known = {name: value for name, value in request["facts"].items() if name in _FACTS}
        return PublicFacts.from_dict(_LATER | known).to_dict()
    except (KeyError, TypeError, AttributeError, ValueError):  # of something else than a private release
        return None
