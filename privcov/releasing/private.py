"""`release_private`: the only way from private rows to a release, in five steps.

    step      reads rows                 where it fails
    plan      no                         nothing was read, nothing is paid
    reserve   the table's fingerprint    nothing is paid, or the message says that the cost may have been entered
    measure   the one measurement        the cost counts, and nothing was published
    finish    no, only noisy numbers     the cost counts; the measurement is stored, and free for another method
    store     no                         the cost counts, and nobody received the answer

What is asked for is settled in `privcov.releasing.private_request`, from public facts. A request that was stored is
returned from the ledger: it is neither measured nor paid again.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
from dataclasses import dataclass
from typing import Any

from privcov import checks, extras
from privcov.engine import EngineError
from privcov.ledger import Ledger
from privcov.ledger.book import Payment
from privcov.ledger.fingerprint import fingerprint
from privcov.measurements.exact_moment import NoisySum, anchor_of, anchored_rows, measure_exactly
from privcov.measurements.exact_reading import count_std, read_sum
from privcov.measurements.tables.table_pass import PassError
from privcov.measurements.useful import reason_useless
from privcov.privacy import Guarantee, to_dict
from privcov.private_dataset import PrivateDataset
from privcov.public_facts import MOST_FILE_ROWS, MOST_ROWS
from privcov.releasing.private_request import PrivateRequest, private_request
from privcov.releasing.release import Release
from privcov.table_files import TableFileError

MOST_DRAWS = 10**9


class MeasurementError(RuntimeError):
    """Raised where a pass over private rows failed; the message says nothing about the rows."""


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
        The same request on the same table, under the same token, is one release and costs once, however often it is
        made and by however many processes. draw=2 asks for another one, and pays again.
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
        With an identifier and no detail, if the fingerprint or the measurement fails; it says what that costs.
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
    measurements/moment.py and measurements/exact_moment.py.

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
    plan = _plan(method, private, guarantee, ledger, centre, draw, token, expected_rows, parameters)
    with _reserve(plan) as payment:
        if payment.answer is None:
            noisy = _measure(plan)
            payment.store(_finish(plan, noisy))
    return _entered(payment)


# --- 1: plan ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Plan:
    """A release that can be made as far as public facts tell: the table, the ledger, and what is asked for.

    fields: the request as the ledger keeps it; equal ones on a table are one release. token: its name there.
    """

    private: PrivateDataset
    ledger: Ledger
    request: PrivateRequest
    fields: dict[str, Any]
    token: str

    @property
    def n_anchors(self) -> int:
        """The number of anchors beside the columns."""
        return anchored_rows(self.private.facts, self.request.wanted.centre)


def _plan(
    method: str,
    private: PrivateDataset,
    guarantee: Guarantee,
    ledger: Ledger,
    centre: str,
    draw: int,
    token: str | None,
    expected_rows: int | None,
    parameters: dict[str, Any],
) -> _Plan:
    """Return the plan, or raise with the reason against it."""
    if not isinstance(private, PrivateDataset):
        raise TypeError(f"private must be a PrivateDataset, got {type(private).__name__}. Use release for public rows.")
    if not isinstance(ledger, Ledger):
        raise TypeError("ledger must be a privcov.Ledger: private rows are released on the record only.")
    if expected_rows is not None and private.facts.n is not None:
        raise ValueError("expected_rows is a guess for a hidden number of rows, and here it is public: leave it out.")
    token = None if token is None else checks.one_line("token", token, "text, or None")
    draw = _number_of(draw)
    request = private_request(method, private.facts, guarantee, centre, parameters)
    card = request.method.card
    fields = {
        "method": card.key,
        "version": card.version,
        "parameters": {s.name: getattr(request.method, s.name) for s in card.parameters},
        "guarantee": to_dict(guarantee),
        "facts": private.facts.to_dict(),
        "draw": draw,
        "centre": request.given.centre,
        "tuning": request.given.tuning,
    }
    plan = _Plan(private, ledger, request, fields, token or ledger.token_of(private.name, fields))
    if ledger.answer(plan.token) is None:
        extras.require("opendp", "Private releases")
        rows = _rows_of(private, ledger, expected_rows)
        if useless := reason_useless(private.facts, request.event(), plan.n_anchors, *rows):
            raise ValueError(useless)
        if private.files is not None:  # what the ledger refuses is refused before the files are read
            ledger.check(private.name, guarantee, fields, plan.token)
    return plan


def _number_of(draw: object) -> int:
    """Return the draw as an int, because 1, 1.0 and True would give three tokens, each paid for."""
    try:
        return checks.whole("draw", int(draw) if isinstance(draw, bool) else draw, 1, MOST_DRAWS)
    except ValueError:
        raise ValueError(
            f"draw must be a whole number from 1 to {MOST_DRAWS:,}, got draw={draw!r}. Use 1 for the first draw; 2 is "
            "another one, and pays again."
        ) from None


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


# --- 2: reserve ---------------------------------------------------------------------------------------------------


def _reserve(plan: _Plan) -> Payment:
    """Return the payment, which holds the stored answer where this very request was made before.

    The fingerprint of a table in files is the one pass over its rows. An error may depend on the rows, so its message
    is replaced by an identifier. Those of files and workers say nothing about rows, and are passed on.
    """
    anchor = anchor_of(plan.private.facts, plan.n_anchors, plan.request.wanted.matters)
    mark = None
    try:
        mark = fingerprint(plan.private, plan.ledger.key, anchor)
    except (TableFileError, EngineError, PassError):
        raise
    except Exception:  # raised below: an error raised here would carry this one, and its frames the rows
        pass
    if mark is None:
        raise MeasurementError(
            f"The table could not be compared with those in the ledger (id {secrets.token_hex(4)}). Nothing was drawn "
            "and nothing more spent."
        )
    guarantee = plan.request.given.guarantee
    return plan.ledger.reserve(plan.private.name, guarantee, plan.fields, fingerprint=mark, token=plan.token)


# --- 3: measure ---------------------------------------------------------------------------------------------------


def _measure(plan: _Plan) -> NoisySum:
    """Return the noisy whole numbers."""
    noisy = None
    try:
        noisy = measure_exactly(plan.private, **vars(plan.request.wanted))
        plan.request.within(noisy.event)
    except Exception:  # raised below, as in `_reserve`
        noisy = None
    if noisy is None:
        raise MeasurementError(
            f"The private measurement failed (id {secrets.token_hex(4)}). Nothing was published, and what it would "
            "have cost counts as spent."
        )
    return noisy


# --- 4: finish ----------------------------------------------------------------------------------------------------


def _finish(plan: _Plan, noisy: NoisySum) -> str:
    """Return the answer to store, as text: the measurement, and the release or why there is none.

    Whatever fails here, the measurement is paid and is kept. A failure depends on noisy numbers and public facts only,
    so its message may be shown.
    """
    release, problem = None, ""
    try:
        release = json.loads(plan.request.finish(noisy).to_json())
    except Exception as failure:
        problem = str(failure) or type(failure).__name__
    return json.dumps({"measurement": noisy.to_dict(), "release": release, "problem": problem}, allow_nan=False)


# --- 5: store -----------------------------------------------------------------------------------------------------


def _entered(payment: Payment) -> Release:
    """Return the stored release with its entry."""
    assert payment.answer is not None, "what was paid is stored"
    return dataclasses.replace(read_release(payment.answer), entry=payment.entry.to_dict())


def read_release(answer: str) -> Release:
    """Return the release in a ledger's answer."""
    fields = json.loads(answer)
    if fields["release"] is None:
        raise ValueError(
            f"The measurement is stored, but the method could not use it: {fields['problem']} "
            "privcov.releasing.private_request.view makes another method's release of it and costs nothing; "
            "release_private with another method measures anew, and pays."
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
