"""The token that opens the data owner's page to the person who started this server, and to no other account.

Every account of a machine reaches its loopback address, so on a shared machine an address is not one person. The server
therefore makes a token when it starts, prints it on the terminal, or in its log where there is none, without an address
that would carry it into a browser's history, and keeps it in a file that only its owner can read. One visit enters it
once.

The token belongs to the module, and so to the process: any visitor can empty a cache, and would thereby change it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import threading
import time
from typing import TextIO

import streamlit as st

from pages.common import hosted, show
from privcov.core import paths
from privcov.steward import token_file

SETTING = "PRIVCOV_TOKEN"
OFF = "off"
SHORTEST = 16  # characters of a secret that the owner chose
BYTES = 20
PACE = 0.25  # seconds from one comparison to the next, over all visits
LINE = 5.0  # seconds that an entry waits for its comparison at most

_MADE = secrets.token_hex(BYTES)
_ENTRY, _OPENED, _PROBLEM = "token-entry", "token-opened", "token-problem"


class TokenRequiredError(ValueError):
    """Error: the visit has not entered the token; one sentence with the remedy."""


class _TokenEntered:
    """What a visit holds once it has entered the token. No widget event can be deserialised into one."""


class _Line:
    """Entries of all visits one after the other, so that opening more visits does not make guessing faster.

    Entries of others shut no visit out: a full queue is empty ``LINE`` seconds after the last entry.
    """

    def __init__(self) -> None:
        self._moved, self._free = threading.Lock(), 0.0

    def wait(self) -> bool:
        """Sleep until it is this entry's turn; return False, at once, where that would take too long."""
        with self._moved:
            now = time.monotonic()
            turn = max(now, self._free)
            if turn - now > LINE:
                return False
            self._free = turn + PACE
        time.sleep(turn - now)
        return True


_line = _Line()
_announced = threading.Event()
_first = threading.Lock()


def required() -> bool:
    """Return whether a visit has to enter a token: always, unless ``PRIVCOV_TOKEN`` turns it off."""
    return _owner_secret().lower() != OFF


def announce() -> None:
    """Print the token once per process, and keep it for ``privcov app token``; nothing where no token is usable."""
    with _first:
        if _announced.is_set():
            return
        _announced.set()
    if (hosted.is_public() and not hosted.for_class()) or not required():
        return
    if problem := _trouble():
        print(f"PrivCov: {problem}", file=sys.stderr, flush=True)
    elif not _owner_secret():
        page = "Teach, on Lessons," if hosted.for_class() else '"Your data"'
        print(f"PrivCov: the token for {page} is {_MADE} (enter it on that page)", file=_printed(), flush=True)
        try:
            token_file.write_token(_MADE)
        except token_file.TokenFileError as unkept:
            print(f"PrivCov: {unkept}", file=sys.stderr, flush=True)


def is_open() -> bool:
    """Return whether this visit has entered the token, or none is asked for."""
    return not required() or isinstance(st.session_state.get(_OPENED), _TokenEntered)


def guard() -> None:
    """Raise `HostedError` or `TokenRequiredError` where a private file or the ledger must not be touched."""
    hosted.guard()
    if not is_open():
        raise TokenRequiredError(
            'This visit has not entered the token of this server. Open "Your data" and enter it there.'
        )


def ask() -> None:
    """Show the field in place of the page, or why no entry could be right."""
    if problem := _trouble():
        st.error(show.as_text(problem))
        return
    with st.form("token"):
        st.markdown(
            f"Enter the token that `{SETTING}` was set to."
            if _owner_secret()
            else "Enter the token that PrivCov printed in its terminal or log when it started. "
            f"`{paths.command()} app token` prints it again."
        )
        st.text_input("Token", type="password", autocomplete="off", key=_ENTRY)
        st.form_submit_button("Open", type="primary", on_click=_enter)
    if problem := st.session_state.pop(_PROBLEM, ""):
        st.error(problem)


def _enter() -> None:
    """Compare the entry with the token; for the form's button."""
    entry = st.session_state[_ENTRY].strip()
    st.session_state[_ENTRY] = ""  # the entry is not kept
    if not _line.wait():
        st.session_state[_PROBLEM] = f"Too many entries at once. Try again in {LINE:.0f} seconds."
    elif not _trouble() and _same(entry, _owner_secret() or _MADE):
        st.session_state[_OPENED] = _TokenEntered()
    else:
        st.session_state[_PROBLEM] = "This is not the token of this server."


def _same(entry: str, token: str) -> bool:
    """Compare in a time that depends neither on the length of the token nor on where they differ."""
    one, other = (hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in (entry, token))
    return hmac.compare_digest(one, other)


def _owner_secret() -> str:
    return os.environ.get(SETTING, "").strip()


def _printed() -> TextIO | None:
    """Return the terminal, or else standard output, which is the log."""
    streams = [stream for stream in (sys.stdout, sys.stderr) if stream is not None]
    return next((stream for stream in streams if stream.isatty()), streams[0] if streams else None)


def _trouble() -> str:
    """Return why no entry could be right, in a sentence, or ""."""
    if 0 < len(_owner_secret()) < SHORTEST:
        return (
            f"{SETTING} must be {OFF} or have at least {SHORTEST} characters, got {len(_owner_secret())}. Restart the "
            "server with a longer one, or without it: then it makes a token itself."
        )
    return ""
