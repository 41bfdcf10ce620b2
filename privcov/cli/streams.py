"""The command line and the system: exit codes, closed or full streams, interruptions, and files written whole.

Exit codes: 0 for success, also where the reader of the output stops early (``| head``); 1 for a failure while running;
2 where what was typed cannot be carried out; 130 for an interruption. Every failure is one sentence on standard error
and leaves no half file.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from typing import TYPE_CHECKING

from privcov.core.extras import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path


FAILED, USAGE, INTERRUPTED = 1, 2, 130


class Failed(ValueError):
    """Something failed while it ran; it is not what was typed."""


def begin() -> None:
    """Prepare the standard streams. Open a closed one: the next file, such as a ledger, would get its number."""
    for place in (0, 1, 2):
        try:
            os.fstat(place)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:  # a remark would be printed among the answers
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for people; `answer` refuses to change data


def guarded(act: Callable[[], None]) -> int:
    """Carry out ``act`` and return the exit code, with one sentence for whatever goes wrong."""
    try:
        act()
        if sys.stdout is not None:
            sys.stdout.flush()
    except SystemExit as ended:  # argparse has printed the reason
        return ended.code if isinstance(ended.code, int) else FAILED
    except KeyboardInterrupt as interruption:
        return _report(str(interruption) or "Interrupted.", INTERRUPTED)
    except BrokenPipeError:  # the reader of the output stops early
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what is still in the buffer would fail again
        return 0
    except MemoryError:
        return _report("The memory did not suffice. Ask for less at once, or use fewer workers.", FAILED)
    except OSError as problem:
        where = f"{problem.filename} cannot be used" if problem.filename else "The system refused"
        return _report(f"{where} ({problem.strerror})." if problem.strerror else str(problem), FAILED)
    except (ValueError, TypeError) as problem:
        return _report(str(problem), FAILED if _of_running(problem) else USAGE)
    except RecursionError:
        return _report("What was given has too many levels of brackets.", FAILED)
    except OverflowError:
        return _report("A number that was given is too large or too small to compute with. Give another.", USAGE)
    except (RuntimeError, MissingExtra) as problem:
        return _report(str(problem), FAILED)
    except Exception as problem:  # the text of a library's exception might repeat a cell
        return _report(f"This is a defect of PrivCov ({_place(problem)}). Please report it with the command.", FAILED)
    return 0


def printable(text: str) -> str:
    """Return a text without signs that a terminal would obey, but for ends of lines."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


def _report(sentence: str, code: int) -> int:
    with contextlib.suppress(OSError):  # the code says it all where standard error is full
        print(f"privcov: {printable(' '.join(sentence.split()))}", file=sys.stderr, flush=True)
    return code


def _of_running(problem: Exception) -> bool:
    """Return whether a ValueError is about files, the ledger or the network rather than about what was typed."""
    from privcov.ledger import LedgerError
    from privcov.tables.declaration.declaration import PrivateFileError
    from privcov.tables.readers import TableFileError

    return isinstance(problem, Failed | PrivateFileError | LedgerError | TableFileError)


def _place(problem: BaseException) -> str:
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (
        "" if trace is None else f" in {os.path.basename(trace.tb_frame.f_code.co_filename)}, line {trace.tb_lineno}"
    )
    return f"{type(problem).__name__}{where}"


# --- answers ------------------------------------------------------------------------------------------------


def check_place(out: Path | None, option: str = "--out", required_files: Iterable[Path | None] = ()) -> None:
    """Raise ValueError where the answer could not be written, or would replace a file that is needed."""
    if out is None:
        return
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(
            f"{option} must name a file in a folder that exists, got {out}. Make the folder, or choose another."
        )
    if not os.access(out if out.exists() else out.parent, os.W_OK):
        raise ValueError(f"{option} {out} cannot be written. Choose another place.")
    for file in required_files:
        if file is not None and (
            out.resolve() == file.resolve() or (out.is_file() and file.exists() and out.samefile(file))
        ):
            raise ValueError(f"{option} {out} would replace a file that this command needs. Choose another name.")


def check_folder(folder: Path) -> None:
    """Raise `Failed`, before anything is computed, where a folder, which need not exist yet, could not take a file."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise Failed(f"Nothing can be written into {folder}. Make it a folder that you may write to.")


def answer(text: str, out: Path | None, otherwise: str = "") -> None:
    """Write the answer to its place, whole or not at all; where that fails, ``otherwise`` is added to the message."""
    try:
        if out is not None:
            write(out, text.encode())
        elif sys.stdout is None:
            raise Failed(f"Standard output is closed. {otherwise}".rstrip())
        else:
            text.encode(sys.stdout.encoding or "utf-8")
            print(text, end="", flush=True)
    except UnicodeEncodeError as problem:
        lacks = f"{problem.encoding} has no {problem.object[problem.start]!a}"
        raise Failed(f"{lacks}: set PYTHONIOENCODING=utf-8 or give --out. {otherwise}".rstrip()) from None
    except OSError as problem:
        if isinstance(problem, BrokenPipeError) and not otherwise:
            raise
        place = "Standard output" if out is None else out
        raise Failed(f"{place} could not be written ({problem.strerror}). {otherwise}".rstrip()) from None


def write(out: Path, raw: bytes) -> None:
    """Write a file whole or not at all; a device, a pipe or the file behind a link is written in its place."""
    out = out.resolve()
    if out.exists() and not out.is_file():
        out.write_bytes(raw)
        return
    half = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        half.write_bytes(raw)
        os.replace(half, out)
    finally:
        half.unlink(missing_ok=True)
