"""Stop with one sentence when the workbench cannot listen on the port given.

Streamlit would say so too, but only after loading, and without a remedy.
"""

import contextlib
import socket
import sys


def trouble(text: str) -> str | None:
    """Return why `text` is no usable loopback port, or None when it is one."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= 65535):
        return f"PORT must be a whole number from 1 to 65535, got PORT={text}. Try: make run PORT=8600"
    port = int(text)
    other = 8600 if port != 8600 else 8700
    busy = f"port {port} is in use. Stop what is using it, or choose another: make run PORT={other}"
    # Asking for an answer comes first: macOS lets two programs listen on one port under different addresses.
    with contextlib.closing(socket.socket()) as caller:
        caller.settimeout(2)
        if caller.connect_ex(("127.0.0.1", port)) == 0:
            return busy
    with contextlib.closing(socket.socket()) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port just closed is not a busy one
        try:
            listener.bind(("127.0.0.1", port))
        except PermissionError:
            return f"port {port} is reserved for the system. Choose another: make run PORT={other}"
        except OSError:
            return busy
    return None


if __name__ == "__main__":
    problem = trouble(sys.argv[1])
    if problem:
        sys.exit(f"PrivCov: {problem}")
