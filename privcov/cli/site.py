"""The command ``site``: the lessons as HTML files that open from the disk, and a server of them for a class."""

from __future__ import annotations

import argparse
import functools
import logging
import subprocess
import sys
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from privcov.cli import streams
from privcov.core import extras, paths


def add_site(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``site`` to the commands of the parser."""
    site = commands.add_parser("site", help="write the lessons as HTML files that need no server")
    site.add_argument("out", type=Path, help="a folder; it is made where it is missing")
    site.set_defaults(act=_site)


def _site(options: argparse.Namespace) -> None:
    extras.require("streamlit", "The lessons")
    out = options.out
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file. Name a folder.")
    out.mkdir(parents=True, exist_ok=True)
    streams.check_folder(out)
    # In front of everything else, as `privcov app` does: another installed package may be called pages.
    sys.path.insert(0, str(paths.app_file().parent))
    # Streamlit would warn that every lesson is drawn without a page. It sets the level itself when it is loaded.
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").addFilter(lambda record: False)
    from pages.lessons import site

    for name, text in site.files():
        streams.answer(text, out / name)
    print(out / site.INDEX)


class _Files(SimpleHTTPRequestHandler):
    timeout = 10  # seconds: a connection that asks nothing holds a thread and a descriptor of the workbench

    def translate_path(self, path: str) -> str:
        """Return the file of an address; a name that no file can have is one that is not there."""
        return super().translate_path(path.replace("%00", ""))

    def log_message(self, *_: object) -> None:
        """Print nothing: the terminal is the lecturer's."""

    def list_directory(self, path: object) -> None:
        """Show no folder: before it is written there is nothing to see."""
        self.send_error(503, "The lessons are being written: try again in a minute.")


def serve(port: int) -> None:
    """Serve the lessons as files to every device, while a process of its own writes them into the cache folder."""
    folder = paths.cache_folder() / "lessons"
    command = [sys.executable, "-m", "privcov", "app", "site", str(folder)]
    subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = ThreadingHTTPServer(("0.0.0.0", port), functools.partial(_Files, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
