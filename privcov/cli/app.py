"""``privcov app``: the workbench in a browser, served on this machine alone; ``privcov app token`` prints its token."""

from __future__ import annotations

import argparse
import contextlib
import os
import socket
import sys
import threading
import time

from privcov.cli import site
from privcov.core import extras, paths

PORT = 8501


def add_app(commands: argparse._SubParsersAction) -> None:
    """Add ``app`` to the commands of the parser, with what belongs to the workbench."""
    parser = commands.add_parser("app", help="serve the workbench at http://127.0.0.1:8501")
    parser.add_argument("--port", default=str(PORT), help=f"another port than {PORT}")
    parser.add_argument(
        "--class", dest="room", action="store_true", help="for the devices of a room; Your data is shut"
    )
    parser.set_defaults(act=_app)
    parts = parser.add_subparsers(dest="part", metavar="{token,site}")
    token = parts.add_parser("token", help='print the token for "Your data" of the server that started last')
    token.set_defaults(act=_token)
    site.add_site(parts)


def _token(options: argparse.Namespace) -> None:
    from privcov.steward.token_file import read_token

    print(read_token())


def trouble(port: str) -> str | None:
    """Return why a text is no usable loopback port, with the remedy, or None when it is one.

    Streamlit would say so too, but only after loading, and without a remedy.
    """
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        return f"The port must be a whole number from 1 to 65535, got {port!r}. Try --port 8600 (make run PORT=8600)."
    number = int(port)
    other = 8600 if number != 8600 else 8700
    remedy = f"choose another: --port {other} (make run PORT={other})."
    busy = f"Port {number} is in use. Stop the program that uses it, or {remedy}"
    # Asking for an answer comes first: macOS lets two programs listen on one port under different addresses.
    with contextlib.closing(socket.socket()) as caller:
        caller.settimeout(2)
        if caller.connect_ex(("127.0.0.1", number)) == 0:
            return busy
    with contextlib.closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port just closed is not a busy one
        try:
            listener.bind(("127.0.0.1", number))
        except PermissionError:
            return f"Port {number} is reserved for the system; {remedy}"
        except OSError:
            return busy
    return None


def _app(options: argparse.Namespace) -> None:
    extras.require("streamlit", "The pages")
    for port in (options.port, *([str(int(options.port) + 1)] if options.room and options.port.isdigit() else [])):
        if problem := trouble(port):
            raise ValueError(problem)
    script = paths.app_file()
    # In front of everything else, as `streamlit run` does: another installed package may be called pages.
    sys.path.insert(0, str(script.parent))
    from streamlit.web import cli

    threading.Thread(target=_announce, daemon=True).start()
    settings = [f"--server.port={options.port}", *(_for_class(options.port) if options.room else ())]
    cli.main(["run", str(script), *settings], prog_name="streamlit", standalone_mode=False)


def _for_class(port: str) -> list[str]:
    """Return the settings of a server for a room, and print its address with the QR code and what it opens."""
    import segno

    os.environ["PRIVCOV_HOSTED"] = "class"
    host, folder_port = _host(), int(port) + 1
    address = os.environ[paths.LESSONS] = f"http://{host}:{folder_port}"
    site.serve(folder_port)
    segno.make(address, error="l", micro=False).terminal(compact=True)
    print(f"The class opens {address}: the lessons as files, after a minute the first time.")
    print(f"The projector, and whoever wants all pages: http://{host}:{port}/Lessons")
    print(
        "Every device of this network reaches both until you stop them (Ctrl+C). Your data is shut, and Teach asks for "
        "the token.",
        flush=True,
    )
    hosts = [f"--server.allowedHosts={name}" for name in (host, "localhost", "127.0.0.1")]
    return ["--logger.hideWelcomeMessage=true", "--server.address=0.0.0.0", f"--browser.serverAddress={host}", *hosts]


def _host() -> str:
    """Return the address of this machine in its network. Nothing is sent: the socket has only a direction."""
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as outward:
        try:
            outward.connect(("192.0.2.1", 9))
        except OSError:
            raise ValueError("This machine is in no network, so no class can reach it. Connect it first.") from None
        return outward.getsockname()[0]


def _announce() -> None:
    """Print the token as soon as the server runs, not at the first visit: only then are its settings read."""
    from streamlit import runtime

    while not runtime.exists():
        time.sleep(0.05)
    from pages.common import owner_token

    owner_token.announce()
