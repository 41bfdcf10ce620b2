"""The ledger: one SQLite file, one row per release, written before anything is drawn.

A release has one of four states, each on disk before the next step begins:
    reserved   the limit was checked and the cost written, under one exclusive lock for all processes;
    committed  one process alone may draw: from here on a draw may exist;
    stored     the answer is in the ledger, and is returned only from there;
    failed     the draw or the storing failed.

Nothing is refunded: whatever is reserved counts. A committed row whose process died is lost and never drawn again. A
crash may depend on the rows or the noise. Drawing again until none happens would choose among draws. A row that was
only reserved can be taken up again, because nothing was drawn.

A transaction is identified by its token. The same token never makes a second row or a second draw, and always returns
the same bytes. Without a ledger that can be written there is no release.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import hmac
import json
import os
import socket
import sqlite3
import time
import unicodedata
from fractions import Fraction
from pathlib import Path

from privcov.core import checks
from privcov.core.guarantees import Guarantee, from_dict, to_dict
from privcov.ledger.access import LedgerError, LedgerUnusable
from privcov.ledger.account import Account, Cost, allows_more, cost_of, unit_of
from privcov.ledger.chain import BrokenChain
from privcov.ledger.creation import archive
from privcov.ledger.entry import Entry
from privcov.ledger.file import BUT_FOR_N, LedgerFile, default_path
from privcov.ledger.fingerprint import other_persons, same_cells, same_table

_LONGEST_REASON = 1_000  # characters: it is read at every use, and shown with the account


class Ledger:
    """The ledger in one file, made on first use.

    Any number of threads and processes may use it at the same time.

    Parameters
    ----------
    path : path or None
        The file; None takes `privcov.ledger.default_path`.

    Attributes
    ----------
    path : Path
        The file, absolute.
    key : bytes
        The secret behind tokens and fingerprints.

    Raises
    ------
    LedgerError
        Where the file or its key cannot be used.

    Guarantee
    ---------
    All releases of a table together stay within its limit, also when later requests depend on earlier answers; the
    arithmetic is in `privcov.ledger.account`.

    Spends
    ------
    Nothing itself; `reserve` enters the cost of a release before it is drawn.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import privcov
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = privcov.Ledger(Path(folder) / "ledger.sqlite")
    ...     account = ledger.set_limit("survey", privcov.ZCDP(rho=1.0))
    >>> account.affords(privcov.ZCDP(rho=0.4)), account.affords(privcov.ZCDP(rho=1.5))
    (True, False)
    >>> print(account.sentence)
    No release so far; of 1-zCDP there remains rho 1 in zCDP.
    """

    @checks.explain_arguments
    def __init__(self, path: Path | str | None = None) -> None:
        self._file = LedgerFile(default_path() if path is None else Path(path).expanduser())
        self.path, self.key = self._file.path, self._file.key

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @classmethod
    def begin_anew(cls, path: Path | str | None = None) -> Ledger:
        """Return a new ledger in place of one that was lost or cannot be used.

        The new ledger knows nothing of what was spent before. The old files are kept under a name with ``until-`` and
        the time.

        Raises
        ------
        LedgerError
            Where there are no old files, or another process uses them.
        """
        place = default_path() if path is None else Path(path).expanduser()
        archive(place)
        return cls(place)

    # --- reading ------------------------------------------------------------------------------------------------

    @checks.explain_arguments
    def account(self, name: str) -> Account:
        """Return the limit of a table and what was spent."""
        with self._file.connect() as connection:
            return self._account(connection, name)

    def names(self) -> tuple[str, ...]:
        """Return the names of the tables with a limit or a release."""
        with self._file.connect() as connection:
            rows = connection.execute(
                "SELECT name FROM limits UNION SELECT name FROM transactions ORDER BY 1"
            ).fetchall()
        return tuple(name for (name,) in rows)

    def entries(self, name: str | None = None, last: int = -1, token: str | None = None) -> tuple[Entry, ...]:
        """Return the transactions of the named table, or of all, the oldest first, numbered for each table from 1.

        ``last`` keeps only so many of the newest; -1 keeps all. ``token`` keeps the one of a request.
        """
        filters = {"name": name, "token": token}
        where = " AND ".join(f"{field} = :{field}" for field, value in filters.items() if value is not None)
        with self._file.connect() as connection:
            rows = connection.execute(
                "SELECT id, token, name, state, kind, amount, request, reserved_at, (SELECT min(step) FROM chain "
                "WHERE subject = 'release' AND number = id) FROM transactions "
                f"WHERE {where or 'true'} ORDER BY id DESC LIMIT :last",
                {**filters, "last": last},
            ).fetchall()[::-1]
            limits = {owner: self._limits(connection, owner)[1] for owner in {row[2] for row in rows}}
            count_older = "SELECT count(*) FROM transactions WHERE name = ? AND id < ?"
            oldest = {row[2]: row[0] for row in reversed(rows)}
            counts = {
                owner: connection.execute(count_older, (owner, row)).fetchone()[0] for owner, row in oldest.items()
            }
        entries = []
        for _, token, owner, state, kind, amount, request, at, step in rows:
            counts[owner] += 1
            increases = tuple(words for set_in, words in limits[owner] if set_in < step)
            cost = Cost(kind, Fraction(amount))
            entries.append(Entry(counts[owner], token, owner, state, cost, json.loads(request), at, increases))
        return tuple(entries)

    def stored(self, token: str) -> str | None:
        """Return the stored answer of a transaction, the same bytes every time; None where there is none."""
        with self._file.connect() as connection:
            return self._answer(connection, token)

    def token_of(self, name: str, request: dict) -> str:
        """Return the token of a request; equal requests on a table have the same one, and so are one transaction."""
        words = json.dumps([name, request], sort_keys=True)
        return hmac.new(self.key, words.encode(), hashlib.sha256).hexdigest()[:32]

    def check(self, name: str, guarantee: Guarantee, request: dict, token: str | None = None) -> None:
        """Raise LedgerError where `reserve` would refuse a new request: no limit, too little left of it, another unit.

        It needs no rows, and so can be called before they are read.
        """
        with self._file.connect() as connection:
            row = connection.execute(
                "SELECT 1 FROM transactions WHERE token = ?", (token or self.token_of(name, request),)
            ).fetchone()
            if not row:
                self._check_affords(connection, name, guarantee, request)

    # --- writing ------------------------------------------------------------------------------------------------

    @checks.explain_arguments
    def set_limit(self, name: str, guarantee: Guarantee, reason: str = "") -> Account:
        """Set the limit of a table, and return its account; earlier limits stay on record.

        A limit that may allow more than the one before needs a reason, which is shown with the account, with every
        later release and in its bundle.

        Raises
        ------
        LedgerError
            For a name that is empty or cannot be stored, and for such a limit without a reason.
        TypeError
            For NoPrivacy, and for a guarantee in place of the name.
        """
        if isinstance(name, Guarantee):
            raise TypeError("The name of the table comes before its limit: set_limit('table', privcov.ZCDP(rho=1.0)).")
        cost_of(guarantee)
        try:
            name = checks.one_line("The name of a limit", name, "that of a table. Give it the declared one")
        except ValueError as problem:
            raise LedgerError(str(problem)) from None
        if not isinstance(reason, str):
            raise LedgerError(f"reason must be text, got {type(reason).__name__}.")
        reason = "".join(c for c in reason if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp")).strip()
        if len(reason) > _LONGEST_REASON:
            raise LedgerError(f"reason has {len(reason):,} characters, at most {_LONGEST_REASON:,}. Say it shorter.")
        with self._file.connect(write=True) as connection:
            before = self._account(connection, name).limit
            if before is not None and allows_more(guarantee, before) and not any(map(str.isalnum, reason)):
                raise LedgerError(
                    f"{guarantee} may allow more than the limit of {name!r}, {before}: it protects less. Give a "
                    "reason, which stays on record (in Python reason=..., in a shell --reason)."
                )
            words = json.dumps({**to_dict(guarantee), "reason": reason})
            self._file.chain.enter_limit(connection, name, words, _now())
        return self.account(name)

    def reserve(
        self,
        name: str,
        guarantee: Guarantee,
        request: dict,
        *,
        fingerprint: str = "",
        token: str | None = None,
        wait: float = 60.0,
    ) -> Payment:
        """Reserve and commit a release, and return its payment, to be used in a ``with`` statement.

        Parameters
        ----------
        name : str
            The table.
        guarantee : PureDP, ApproxDP or ZCDP
            The guarantee of the release, whose cost is entered.
        request : dict
            The release that is asked for, as JSON values; a known token with another request is refused.
        fingerprint : str
            Of the table, from `privcov.ledger.fingerprint`; "" compares nothing.
        token : str or None
            None takes the token of the request.
        wait : float
            Seconds to wait for another process that is drawing for the same token; then the request is refused, and
            making it again later costs nothing.

        Returns
        -------
        Payment
            With the stored answer, where the request was made before. Otherwise this process alone may draw, and gives
            the answer to `Payment.store`; without one the release is marked failed, and its cost stays spent.

        Raises
        ------
        LedgerError
            Where the ledger refuses or cannot be used; the message states whether the cost was spent.

        Guarantee
        ---------
        One row and one draw per token.

        Spends
        ------
        The cost of the guarantee, once per token, also where the draw or the storing fails.
        """
        if not isinstance(fingerprint, str):
            raise TypeError(f"fingerprint must be text, got {type(fingerprint).__name__}.")
        token = self.token_of(name, request) if token is None else checks.one_line("token", token, "text, or None")
        reserved = False
        try:
            reserved = self._reserve(name, guarantee, request, token, fingerprint)
            may_draw = reserved and self._commit(token)
        except LedgerError as problem:
            if not reserved and not isinstance(problem, LedgerUnusable):
                raise  # refused before anything was entered
            raise LedgerError(
                f"{problem} The cost of this release of {name!r} may have been entered already, and then counts as "
                "spent; nothing was drawn. Then make the same request again: it is never entered twice."
            ) from None
        return Payment(self, name, token, None if may_draw else self._await(token, wait))

    def store(self, name: str, token: str, answer: str) -> str:
        """Store the answer of a release that is committed, and return what is stored; see `Payment.store`."""
        try:
            self._finish(token, "stored", answer)
            with self._file.connect() as connection:
                return self._require_answer(connection, token)
        except LedgerError as problem:
            raise LedgerError(
                f"This release of {name!r} was drawn, so its cost counts as spent, but it could not be stored and "
                f"nobody received it. {problem} Then make the same request again: it says whether the answer was "
                "stored after all, and if not, the next draw spends again."
            ) from None

    def give_up(self, token: str) -> None:
        """Mark a release as failed, if the ledger can be written and the release is not stored; its cost counts."""
        with contextlib.suppress(LedgerError):
            self._finish(token, "failed", None)

    def _reserve(self, name: str, guarantee: Guarantee, request: dict, token: str, fingerprint: str) -> bool:
        """Return True when the row is reserved, False when it is committed, stored or failed."""
        words = json.dumps(request, sort_keys=True)
        with self._file.connect(write=True) as connection:
            row = connection.execute(
                "SELECT name, request, state, fingerprint FROM transactions WHERE token = ?", (token,)
            ).fetchone()
            if row:
                if row[:2] != (name, words):
                    raise LedgerError("This token belongs to another request. Use a new one.")
                if fingerprint and row[3] and not same_table(fingerprint, row[3]):
                    raise _changed(name, row[2])
                return row[2] == "reserved"
            self._check_affords(connection, name, guarantee, request)
            fingerprints = connection.execute(
                "SELECT DISTINCT name, fingerprint FROM transactions WHERE fingerprint <> ''"
            ).fetchall()
            fingerprints = fingerprints if fingerprint else []
            if other := next((n for n, mark in fingerprints if n != name and same_cells(fingerprint, mark)), ""):
                raise LedgerError(
                    f"The ledger has these very rows as {other!r}. Release them under that name, so that what was "
                    "spent counts."
                )
            if any(n == name and other_persons(fingerprint, mark) for n, mark in fingerprints):
                raise LedgerError(
                    f"The same rows of {name!r} were released with other ids. Costs add up for the same persons only: "
                    "give the ids as they were."
                )
            cost = cost_of(guarantee)
            self._file.chain.enter_release(
                connection,
                token=token,
                name=name,
                kind=cost.kind,
                amount=str(cost.amount),
                request=words,
                fingerprint=fingerprint,
                reserved_at=_now(),
            )
        return True

    def _commit(self, token: str) -> bool:
        """Commit a reserved row; return True for the one process that may draw."""
        with self._file.connect(write=True) as connection:
            if connection.execute("SELECT state FROM transactions WHERE token = ?", (token,)).fetchone() != (
                "reserved",
            ):
                return False
            self._file.chain.move(connection, token, "committed", worker=_worker())
        return True

    def _finish(self, token: str, state: str, answer: str | None) -> None:
        with self._file.connect(write=True) as connection:
            self._file.chain.move(connection, token, state, answer=answer)

    def _await(self, token: str, wait: float) -> str:
        """Return what another process stores for the token."""
        end = time.monotonic() + wait
        while True:
            with self._file.connect() as connection:
                state, worker = connection.execute(
                    "SELECT state, worker FROM transactions WHERE token = ?", (token,)
                ).fetchone()
                if state == "stored":
                    return self._require_answer(connection, token)
            ended = state == "failed" or (state == "committed" and not _lives(worker))
            if not ended and time.monotonic() > end:
                raise LedgerError(
                    "This very release was begun and has no answer yet; its cost counts as spent, and nothing more was "
                    "spent now. Make the same request again later: it returns what is stored by then. If none comes, "
                    "ask for the next draw, which spends again."
                )
            if ended:
                raise LedgerError(
                    "This release was begun and did not finish, so nothing of it was published; what it would have "
                    "cost counts as spent. Ask for the next draw to spend again."
                )
            time.sleep(0.05)

    # --- inside -------------------------------------------------------------------------------------------------

    def _answer(self, connection: sqlite3.Connection, token: str) -> str | None:
        """Return the stored answer, compared with the chain; None where there is none."""
        try:
            return self._file.chain.read_answer(connection, token)
        except BrokenChain:
            raise self._file.altered() from None

    def _require_answer(self, connection: sqlite3.Connection, token: str) -> str:
        answer = self._answer(connection, token)
        if answer is None:
            raise self._file.altered()
        return answer

    @staticmethod
    def _account(connection: sqlite3.Connection, name: str) -> Account:
        limit, increases = Ledger._limits(connection, name)
        costs = connection.execute(
            "SELECT kind, amount, count(*) FROM transactions WHERE name = ? GROUP BY kind, amount", (name,)
        ).fetchall()
        first = connection.execute(
            "SELECT request FROM transactions WHERE id = (SELECT min(id) FROM transactions WHERE name = ?)", (name,)
        ).fetchone()
        unit = unit_of(json.loads(first[0])) if first else ""
        words = tuple(words for _, words in increases)
        return Account(name, limit, tuple(Cost(kind, Fraction(a), k) for kind, a, k in costs), unit, words)

    @staticmethod
    def _limits(connection: sqlite3.Connection, name: str) -> tuple[Guarantee | None, list[tuple[int, str]]]:
        """Return the limit of a table, and in which step of the chain and in which words it was raised."""
        limit: Guarantee | None = None
        increases = []
        rows = connection.execute(
            "SELECT guarantee, set_at, (SELECT min(step) FROM chain WHERE subject = 'limit' AND number = id) "
            "FROM limits WHERE name = ? ORDER BY id",
            (name,),
        )
        for words, set_at, step in rows.fetchall():
            fields = json.loads(words)
            reason, before, limit = fields.pop("reason", ""), limit, from_dict(fields)
            if before is not None and allows_more(limit, before):
                increases.append((step, f"The limit was raised from {before} to {limit} on {set_at[:10]}: {reason}"))
        return limit, increases

    def _check_affords(self, connection: sqlite3.Connection, name: str, guarantee: Guarantee, request: dict) -> None:
        """Raise LedgerError where there is no limit, not enough is left of it, or it counts releases of another unit.

        Also where the request was made with another public number of rows: then the table has changed.
        """
        account = self._account(connection, name)
        if account.limit is None:
            raise LedgerError(
                f"The ledger has no limit for {name!r}. Set one first, for all its releases: in "
                f"Python ledger.set_limit({name!r}, ...), in a shell privcov ledger limit."
            )
        if other := account.other_unit(unit_of(request)):
            raise LedgerError(other)
        changed = connection.execute(
            f"SELECT state FROM transactions WHERE name = :name AND request <> :asked "
            f"AND {BUT_FOR_N.format('request')} = {BUT_FOR_N.format(':asked')}",
            {"name": name, "asked": json.dumps(request, sort_keys=True)},
        ).fetchone()
        if changed:
            raise _changed(name, *changed)
        if not account.affords(guarantee):
            raise LedgerError(
                f"{guarantee} is more than is left for {name!r}. {account.sentence} Nothing was spent. Ask for less, "
                "or raise the limit with a reason."
            )


class Payment:
    """A release in the ledger: stored before, or paid and to be drawn by this process alone.

    In a ``with`` statement: without an answer the release is marked failed, and its cost stays spent. name, token:
    the table, and the name of the request. stored: the text of the release; None where it is to be drawn.
    """

    def __init__(self, ledger: Ledger, name: str, token: str, answer: str | None) -> None:
        self._ledger, self.name, self.token, self.stored = ledger, name, token, answer

    def __enter__(self) -> Payment:
        return self

    def __exit__(self, *_: object) -> None:
        if self.stored is None:
            self._ledger.give_up(self.token)

    def store(self, answer: str) -> None:
        """Store the answer; a LedgerError says that the cost counts and nobody received it."""
        self.stored = self._ledger.store(self.name, self.token, answer)

    @property
    def entry(self) -> Entry:
        """The row of the ledger; a LedgerError says that the release is stored."""
        try:
            (entry,) = self._ledger.entries(self.name, token=self.token)
        except LedgerError as problem:
            raise LedgerError(
                f"This release of {self.name!r} is paid and stored, but its entry could not be read. {problem} Then "
                "make the same request again: it costs nothing."
            ) from None
        return entry


def _changed(name: str, state: str) -> LedgerError:
    free = " For the stored answer, free, give the table as it was." if state == "stored" else ""
    begun = "was already made" if state == "stored" else "was already begun, and paid,"
    return LedgerError(
        f"This very release of {name!r} {begun} from another table: its rows, a cell, a label or an id have changed "
        f"since. Nothing more was spent. Ask for the next draw (draw=2, --draw 2) to spend again on this table.{free}"
    )


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _worker() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _lives(worker: str) -> bool:
    """Return False only where the process has certainly ended: it ran on this machine and its number is free."""
    host, _, number = worker.rpartition(":")
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
