"""Whether other people can reach this server; if so, it takes no private file and keeps no ledger.

A file that is sent to a server has left its owner's machine before any noise is drawn, and one ledger for all visitors
would show each of them the others' tables. Every function that takes private bytes, reads them or opens the ledger
calls `guard` first; hiding the button is not enough.
"""

from __future__ import annotations

import ipaddress
import os
from urllib.parse import urlsplit

import streamlit as st

HOSTED = "PRIVCOV_HOSTED"

CLASS = "class"  # what `privcov app --class` declares

_NOT = ("", "0", "no", "false", "off")
_OF_A_PROXY = ("forwarded", "via", "x-real-ip")
_NAMES_THE_SERVER = ("Host", "Origin")


class HostedError(ValueError):
    """Error: the server refuses this, because others can reach it; one sentence with the remedy."""


def for_everybody() -> bool:
    """Return whether the operator declared the server public. Any word that is not plainly "no" counts as yes."""
    return os.environ.get(HOSTED, "").strip().lower() not in _NOT


def for_class() -> bool:
    """Return whether the server is for the devices of a room, whose lecturer has the token."""
    return os.environ.get(HOSTED) == CLASS


def is_reachable() -> bool:
    """Return whether other people can reach this server; when in doubt, they can.

    They can where the operator says so, where it listens on an address that is not a loopback address, and where a
    visit came through a proxy or under a name that is not this machine's own, whatever the server listens on.
    """
    if for_everybody() or not loopback(st.get_option("server.address")):
        return True
    headers = {name.lower(): value for name, value in st.context.headers.items()}
    if any(name.startswith("x-forwarded-") or name in _OF_A_PROXY for name in headers):
        return True
    hosts = [headers[name.lower()] for name in _NAMES_THE_SERVER if name.lower() in headers]
    return not all(loopback(_host(text)) for text in hosts)


def is_public() -> bool:
    """Return whether this server takes no private file from any visit, whatever its headers or login."""
    return for_everybody() or not loopback(st.get_option("server.address"))


def refusal() -> str:
    """Return why this server takes no private file and opens no ledger, or ""."""
    if not is_reachable():
        return ""
    return (
        "This server can be reached from other machines, so it takes no confidential file and keeps no ledger. Run "
        "PrivCov on your own machine, which the rows do not leave."
    )


def guard() -> None:
    """Raise `HostedError` where a private file or the ledger would be touched and must not be."""
    if reason := refusal():
        raise HostedError(reason)


def loopback(address: str | None) -> bool:
    """Return whether a host or address is this machine's own; no address at all means every address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address or "").is_loopback
    except ValueError:
        return False


def _host(text: str) -> str:
    try:
        return urlsplit(text if "//" in text else f"//{text}").hostname or ""
    except ValueError:
        return ""
