"""Exit with 0 when the server answers on its health endpoint, with 1 and a sentence when it does not.

Port and base path are those of the server: STREAMLIT_SERVER_PORT and STREAMLIT_SERVER_BASE_URL_PATH.
"""

import http.client
import os
import sys

SECONDS = 4


def address() -> tuple[int, str]:
    """The port, and the endpoint's path under the base path."""
    base = os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "").strip("/")
    port = int(os.environ.get("STREAMLIT_SERVER_PORT") or 8501)
    return port, f"/{base}/_stcore/health" if base else "/_stcore/health"


def main() -> None:
    port, path = address()
    # http.client asks no proxy for a loopback address, whatever the environment says of proxies.
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", path)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as problem:
        sys.exit(f"no answer on port {port}: {problem}")
    finally:
        connection.close()
    if status != 200:
        sys.exit(f"port {port} answers {path} with {status}")


if __name__ == "__main__":
    main()
