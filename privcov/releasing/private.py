"""`release_private`: the only way from private rows to a release. Reserve, commit, measure, store.

A method says from public facts what is to be measured (`Method.request`), and turns the measurement into an answer
(`Method.finish`); it sees no rows. So a method is offered when its whole guarantee goes into one such measurement. Its
answer is a function of the noisy whole numbers and of public facts. Random numbers of the method itself (the fission
rules) come from one fixed public generator, so that the answer can be computed again from the measurement.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
from functools import cache
from typing import Any

import numpy as np

from privcov import accounting, checks, extras
from privcov.engine import EngineError
from privcov.estimators.base import METHODS, Method, MethodCard, MethodInput, NothingMeasured, OtherSteps, Request
from privcov.ledger import Ledger
from privcov.ledger.fingerprint import fingerprint
from privcov.measurements.exact_moment import NoisySum, anchor_of, anchored_rows, measure_exactly, planned_event
from privcov.measurements.exact_reading import count_std, read_sum
from privcov.measurements.tables.table_pass import PassError
from privcov.measurements.useful import reason_useless
from privcov.privacy import ApproxDP, Event, Guarantee, NoPrivacy, PureDP, ZCDP, to_dict
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import MOST_FILE_ROWS, MOST_ROWS, PublicFacts
from privcov.randomness import stream
from privcov.releasing.release import Release
from privcov.releasing.run import TUNINGS, build_method, check_centre, check_choices, in_units_of_data
from privcov.table_files import TableFileError

MOST_DRAWS = 10**9
LEAST_LEVEL, MOST_LEVEL = 1e-15, 1e9  # of epsilon and rho
# Arguments that a private release does not take, with the message for each.
_REFUSED = {
    "seed": "A private release takes no seed: its noise comes from the operating system and is never drawn twice.",
    "rng": "A private release takes no generator: its noise comes from the operating system.",
    "neighbours": "The neighbouring relation of private rows follows from their declaration: replace-one where the "
    "number of rows is public, else add-remove.",
}


class MeasurementError(RuntimeError):
    """Raised where the private measurement failed; the message says nothing about the rows."""


def release_private(
    method: str,
    private: PrivateDataset,
    guarantee: Guarantee,
    *,
    ledger: Ledger,
    centre: str = "auto",
    draw: int = 1,
    token: str | None = None,
    expected_rows: int | None = None,
    **parameters: Any,
) -> Release:
    """Make one release from private rows, paid from the ledger.

    A person is all of their rows: those with one id, or up to the declared ``rows_per_person``. The calibration is
    always sound, and nothing is tuned on the rows.

    Parameters
    ----------
    method : str
        A key whose `reason_against` is empty.
    private : PrivateDataset
        The table.
    guarantee : PureDP, ApproxDP or ZCDP
        Kept for all rows of a person together, and paid from the limit that the ledger has for ``private.name``.
    ledger : Ledger
        Where the release is entered before anything is drawn.
    centre : {"auto", "joint", "none", "classes"}
        "auto": "classes" where classes are declared and the method measures them, else "joint"; with missing="pairs"
        always "joint". See `release`.
    draw : int
        The same request on the same table is one release and costs once, however often it is made and by however many
        processes. draw=2 asks for another one, and pays again.
    token : str or None
        Another name for the request. Under a name of its own it is another release, and is paid.
    expected_rows : int or None
        A public guess of the number of rows where it is not public. It is used only to refuse, before anything is read
        or spent, noise that exceeds all that so many rows can add up to. None takes a noisy count of the table's newest
        release that has one clearly above its noise, or else the most rows that a table may have.
    **parameters : object
        The method's own parameters.

    Returns
    -------
    Release
        As it is stored in the ledger.

    Raises
    ------
    TypeError
        For arguments of another type, and for a seed, a generator or a neighbouring relation, which cannot be chosen.
    ValueError
        With the reason, where the request is refused or its release was lost; `LedgerError` is one.
    MeasurementError
        With an identifier and no detail, if the fingerprint or the measurement fails.
    TableFileError, EngineError, PassError
        Where the files of a table cannot be read or their pass fails; nothing is spent.

    Guarantee
    ---------
    The release has the guarantee under the neighbouring relation of the declaration (replace-one where the number of
    rows is public, else add-remove), for all rows of a person together. The measurement is exact: whole numbers,
    discrete noise from the operating system's randomness, no seed.

    Spends
    ------
    The whole guarantee, once per request, from the limit of the table; a repeated request spends nothing. Nothing is
    refunded: what is reserved counts, also when the release fails.

    Reference
    ---------
    Canonne, Kamath and Steinke 2020 for discrete Gaussian noise. The sensitivities are proved in
    measurements/exact_moment.py.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import privcov
    >>> rows = np.random.default_rng(0).uniform(size=(10_000, 2))
    >>> private = privcov.PrivateDataset.from_rows(rows, bounds=[(0, 1), (0, 1)], name="survey")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = privcov.Ledger(Path(folder) / "ledger.sqlite")
    ...     account = ledger.limit("survey", privcov.ZCDP(rho=1.0))
    ...     rel = privcov.release_private("gaussian-cov", private, privcov.ZCDP(rho=0.5), ledger=ledger)
    ...     print(ledger.account("survey").sentence)
    1 release so far; of 1-zCDP there remains rho 0.5 in zCDP. Unit: one row; the number of rows is public.
    >>> print(rel.statement["Guarantee"])
    0.5-zCDP; asked for 0.5-zCDP
    """
    if not isinstance(private, PrivateDataset):
        raise TypeError(f"private must be a PrivateDataset, got {type(private).__name__}. Use release for public rows.")
    if not isinstance(ledger, Ledger):
        raise TypeError("ledger must be a privcov.Ledger: private rows are released on the record only.")
    if expected_rows is not None and private.facts.n is not None:
        raise ValueError("expected_rows is a guess for a hidden number of rows, and here it is public: leave it out.")
    token = None if token is None else checks.one_line("token", token, "text, or None")
    draw = _number_of(draw)
    chosen, given = prepared(method, private.facts, guarantee, centre, parameters)
    request = {
        "method": chosen.card.key,
        "version": chosen.card.version,
        "parameters": {s.name: getattr(chosen, s.name) for s in chosen.card.parameters},
        "guarantee": to_dict(guarantee),
        "facts": private.facts.to_dict(),
        "draw": draw,
        "centre": given.centre,
        "tuning": given.tuning,
    }
    request_token = token or ledger.token_of(private.name, request)
    if ledger.answer(request_token) is None:
        extras.require("opendp", "Private releases")  # before anything is paid
        event = planned_event_of(chosen, given)
        n_anchors, rows = anchored_rows(private.facts, given.centre), _rows_of(private, ledger, expected_rows)
        if useless := reason_useless(private.facts, event, n_anchors, *rows):
            raise ValueError(useless)
        if private.files is not None:  # what the ledger refuses is refused before the files are read
            ledger.check(private.name, guarantee, request, request_token)

    def measured() -> str:
        """Return the answer to store: measurement and release as text."""
        noisy, release, problem = _measure_and_finish(chosen, private, given)
        written = None if release is None else json.loads(release.to_json())
        kept = {"measurement": noisy.to_dict(), "release": written, "problem": problem}
        return json.dumps(kept, allow_nan=False)

    wanted = _requested(chosen, given)
    anchor = anchor_of(private.facts, anchored_rows(private.facts, wanted.centre), wanted.matters)
    mark = _recognised(private, ledger.key, anchor)
    answer = ledger.transact(private.name, guarantee, request, measured, fingerprint=mark, token=request_token)
    return _entered(answer, ledger, private.name, request_token)


def _entered(answer: str, ledger: Ledger, name: str, token: str) -> Release:
    """Return the release in a ledger's answer, with its entry."""
    (entry,) = (e for e in ledger.entries(name) if e.token == token)
    return dataclasses.replace(read_release(answer), entry=entry.to_dict())


def _rows_of(private: PrivateDataset, ledger: Ledger, expected: int | None) -> tuple[float, str]:
    """Return the number of rows by which to judge the noise, from public or already released facts, and its source."""
    if private.facts.n is not None:
        return private.facts.n * private.facts.most_weight, "public"
    if expected is not None:
        return checks.whole("expected_rows", expected, 1, MOST_FILE_ROWS), "as expected"
    for entry in reversed(ledger.entries(private.name)):
        stored = ledger.answer(entry.token)
        if not stored or (noisy := read_measurement(stored)).facts.n is not None:
            continue
        count = read_sum(noisy, "none").rows
        if count > 3 * count_std(noisy):  # a smaller count may be noise, and would refuse useful releases
            return count, f"the noisy count of release {entry.number}"
    return (MOST_FILE_ROWS if private.files is not None else MOST_ROWS), "the most a table may have"


def _number_of(draw: object) -> int:
    """Return the draw as an int, because 1, 1.0 and True would give three tokens, each paid for."""
    try:
        return checks.whole("draw", int(draw) if isinstance(draw, bool) else draw, 1, MOST_DRAWS)
    except ValueError:
        raise ValueError(
            f"draw must be a whole number from 1 to {MOST_DRAWS:,}, got draw={draw!r}. Use 1 for the first draw; 2 is "
            "another one, and pays again."
        ) from None


def read_release(answer: str) -> Release:
    """Return the release in a ledger's answer."""
    fields = json.loads(answer)
    if fields["release"] is None:
        raise ValueError(
            f"The measurement is stored, but the method could not use it: {fields['problem']} "
            "Look at it with another method; that costs nothing."
        )
    return dataclasses.replace(Release.from_json(json.dumps(fields["release"])), measurement=read_measurement(answer))


def read_measurement(answer: str) -> NoisySum:
    """Return the noisy whole numbers in a ledger's answer; everything else follows from them."""
    fields = json.loads(answer)
    if not isinstance(fields, dict) or "measurement" not in fields:
        raise ValueError(
            "The stored text holds no measurement; give the answer of an entry of the ledger that is a private release."
        )
    return NoisySum.from_dict(fields["measurement"])


def view(method: str, noisy: NoisySum, guarantee: Guarantee, *, centre: str = "auto", **parameters: Any) -> Release:
    """Return the release of another method from an old measurement.

    This is post-processing: it needs no rows and no ledger. The method of the original release, in the same version,
    gives the same numbers bit for bit.
    """
    chosen, given = prepared(method, noisy.facts, guarantee, centre, parameters)
    return dataclasses.replace(_finished(chosen, given, noisy), measurement=noisy)


def favours(card: MethodCard) -> str:
    """Return what the anchor of a method favours, see measurements/laws/anchor.py."""
    method, given = build_method(card.key, dict(card.for_private)), _input(card, _EXAMPLE, _example_guarantee(card))
    return _requested(method, given).matters


@cache
def reason_against(key: str) -> str:
    """Return why a method is not offered for private rows, in one sentence."""
    card: MethodCard = METHODS.get(key)
    if card.trust != "central":
        return f"{card.label} is for people who add the noise themselves, before anybody holds a table."
    if "sound" not in card.calibrations:
        return f"{card.label} has no sound form: it is kept to show what was published."
    try:
        planned_event_of(build_method(key, dict(card.for_private)), _input(card, _EXAMPLE, _example_guarantee(card)))
    except OtherSteps:
        return f"{card.label} looks at the rows in other steps than the one exact measurement."
    except NothingMeasured:
        return f"{card.label} reads no rows, so there is nothing to release."
    except TypeError as problem:
        return f"{card.label} does not give its whole guarantee to one measurement ({problem})."
    return ""


def private_methods() -> list[MethodCard]:
    """Return the cards of the methods that are offered for private rows."""
    return [card for card in METHODS.all() if not reason_against(card.key)]


def planned_event_of(method: Method, given: MethodInput) -> Event:
    """Return the event of the release that would follow, from public facts alone; no rows are involved."""
    return _within(planned_event(given.facts, **vars(_requested(method, given))), method, given)


def _within(event: Event, method: Method, given: MethodInput) -> Event:
    """Return the event, or raise RuntimeError where it exceeds the guarantee."""
    if not accounting.covers(given.guarantee, accounting.compose((event,), given.guarantee)):
        raise RuntimeError(
            f"{method.card.label} would spend more than {given.guarantee}: a defect, and nothing was measured."
        )
    return event


def _recognised(private: PrivateDataset, key: bytes, anchor: int) -> str:
    """Return the fingerprint; for a table in files this is the one pass over its rows, before anything is reserved.

    An error may depend on the rows, so its message is replaced by an identifier. Those of files and workers say nothing
    about rows, and are passed on.
    """
    try:
        return fingerprint(private, key, anchor)
    except (TableFileError, EngineError, PassError):
        raise
    except Exception:
        raise MeasurementError(
            f"The table could not be compared with those in the ledger (id {secrets.token_hex(4)}). Nothing was drawn "
            "and nothing spent."
        ) from None


def prepared(
    key: str, facts: PublicFacts, guarantee: Guarantee, centre: str = "auto", parameters: dict | None = None
) -> tuple[Method, MethodInput]:
    """Return the method and its input, or raise with the reason against it."""
    parameters = parameters or {}
    for name, sentence in _REFUSED.items():
        if name in parameters:
            raise TypeError(sentence)
    own = dict(parameters)
    if own.pop("calibration", "sound") != "sound":
        raise ValueError("Private rows are released with calibration='sound' only: a published claim may be false.")
    if not isinstance(guarantee, Guarantee) or isinstance(guarantee, NoPrivacy):
        raise TypeError(f"guarantee must be PureDP, ApproxDP or ZCDP, got {guarantee!r}.")
    level = "rho" if isinstance(guarantee, ZCDP) else "epsilon"
    checks.in_range(
        level, getattr(guarantee, level), LEAST_LEVEL, MOST_LEVEL, "Beyond them its cost cannot be computed."
    )
    card: MethodCard = METHODS.get(key)
    if reason := reason_against(key):
        raise ValueError(f"{reason} For private rows use one of {', '.join(c.key for c in private_methods())}.")
    tuning = checks.one_of("tuning", own.pop("tuning", card.tunings[0]), TUNINGS)
    if tuning == "raw-cv":
        raise ValueError("tuning='raw-cv' would look at the private rows again. Use tuning='released'.")
    if facts.relation not in card.relations:
        raise ValueError(
            f"{card.label} is calibrated for {' or '.join(card.relations)}, and the number of rows is not public here. "
            "Choose another method, or declare the number of rows public."
        )
    if facts.flagged and not card.missing_cells:
        takes = ", ".join(c.key for c in private_methods() if c.missing_cells)
        raise ValueError(
            f"{card.label} expects the same noise in every entry, which missing='pairs' does not give. Use one of "
            f"{takes}, or declare missing='typical'."
        )
    for name, value in card.for_private.items():
        if own.setdefault(name, value) != value:
            raise ValueError(f"{name} would measure the private rows a second time. Leave it {value}.")
    tuning = tuning if tuning in card.tunings else card.tunings[0]  # one that the method ignores is no other request
    return build_method(key, own), _input(card, facts, guarantee, centre, tuning)


def _input(
    card: MethodCard, facts: PublicFacts, guarantee: Guarantee, centre: str = "auto", tuning: str = ""
) -> MethodInput:
    """Return the input of a method on private rows: public facts, and the fixed public generator."""
    if centre == "auto":
        by_class = facts.classes and "classes" in card.centres and not facts.flagged
        centre = "classes" if by_class else "joint"
    tuning = tuning or card.tunings[0]
    check_choices(card, guarantee, "sound", tuning, facts.relation)
    check_centre(card, centre, "private", mean_is_zero=False)
    if centre == "classes" and not facts.classes:
        raise ValueError(
            "centre='classes' needs a declared label and its classes. Declare them, or use centre='joint'."
        )
    if centre == "classes" and facts.flagged:
        raise ValueError(
            "centre='classes' needs the cells of every row, and with missing='pairs' the shares of two cells are not "
            "measured by class. Use centre='joint', or declare missing='typical'."
        )
    return MethodInput(facts, guarantee, centre, tuning, _public_stream(card), "sound", facts.relation)


def _public_stream(card: MethodCard) -> np.random.Generator:
    """Return the fixed public generator of a method, at its beginning."""
    return stream(0, "noise", 0, "private", card.key)


def _afresh(method: Method, given: MethodInput) -> MethodInput:
    """Return the same input, with its generator set back to the beginning."""
    return dataclasses.replace(given, rng=_public_stream(method.card))


def _requested(method: Method, given: MethodInput) -> Request:
    """Return the measurement that a method requests; it is the same at every call."""
    return method.request(_afresh(method, given))


def _measure_and_finish(
    method: Method, private: PrivateDataset, given: MethodInput
) -> tuple[NoisySum, Release | None, str]:
    """Return the noisy sum, the release or None, and why there is none.

    An error after the measurement depends on published numbers only, so its message may be shown.
    """
    try:
        noisy = measure_exactly(private, **vars(_requested(method, given)))
        _within(noisy.event, method, given)
    except Exception:
        raise MeasurementError(
            f"The private measurement failed (id {secrets.token_hex(4)}). Nothing was published, and what it would "
            "have cost counts as spent."
        ) from None
    try:
        return noisy, _finished(method, given, noisy), ""
    except (ValueError, ArithmeticError) as problem:
        return noisy, None, str(problem)


def _finished(method: Method, given: MethodInput, noisy: NoisySum) -> Release:
    """Return the release that a method makes of the measurement."""
    given = dataclasses.replace(given, facts=noisy.facts)
    outcome = method.finish(_afresh(method, given), read_sum(noisy, _requested(method, given).centre))
    return dataclasses.replace(in_units_of_data(method, given, outcome), neighbours=given.facts.neighbours)


def _example_guarantee(card: MethodCard) -> Guarantee:
    """Return an example of the first kind of guarantee that the card lists."""
    kind = card.guarantees[0].kind
    return PureDP(1.0) if kind == "pure" else ApproxDP(1.0, 1e-6) if kind == "approx" else ZCDP(1.0)


_EXAMPLE = PrivateDataset.from_rows([[0.0, 0.0]], row_bound=1.0).facts
