"""The command line and the system: exit codes, closed or full streams, interruptions, and files written whole.

Exit codes: 0 for success, also where the reader of the output stops early (``| head``); 1 for a failure while running;
2 where what was typed cannot be carried out; 130 for an interruption. Every failure is one sentence on standard error
and leaves no half file.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, TextIO

from privcov.extras import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from _typeshed import ReadableBuffer

FAILED, USAGE, INTERRUPTED = 1, 2, 130


class OutputError(OSError):
    """Standard output cannot be written."""


class Failed(ValueError):
    """Something failed while it ran; it is not what was typed."""


class _Answers(io.FileIO):
    """Standard output, whose failures can be distinguished from those of other files."""

    def write(self, some: ReadableBuffer) -> int:
        try:
            return super().write(some)
        except OSError as problem:
            raise OutputError(problem.errno, problem.strerror) from None


class _Remarks(io.FileIO):
    """Standard error: a remark that cannot be written must not end the work that it is about."""

    def write(self, some: ReadableBuffer) -> int:
        try:
            return super().write(some)
        except OSError:
            return memoryview(some).nbytes


class _Closed(io.TextIOBase):
    """A stand-in for a closed standard output, in which Python would silently lose answers."""

    def write(self, text: str) -> int:
        raise OutputError(errno.EBADF, "it is closed")


def begin() -> None:
    """Prepare interruptions and both output streams, before anything that takes time to import."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # unless a shell has switched it off
        signal.signal(signal.SIGINT, _leave)
    for place in (0, 1, 2):  # a closed one would be given to the next file that is opened, such as a ledger
        try:
            os.fstat(place)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    # Text for people is shown in any encoding; `answer` refuses to change data.
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process
    else:
        sys.stderr = _over(_Remarks, sys.stderr)
    sys.stdout = _Closed() if sys.stdout is None else _over(_Answers, sys.stdout)


def _over(raw: type[io.FileIO], stream: TextIO) -> TextIO:
    """Return the stream with ``raw`` below it."""
    how: dict[str, Any] = {"errors": "backslashreplace", "line_buffering": stream.line_buffering}
    below = io.BufferedWriter(raw(stream.fileno(), "w", closefd=False))
    return io.TextIOWrapper(below, encoding=stream.encoding, **how)


def _leave(*_: object) -> None:
    """End at an interruption while Python imports, when there is nothing to tidy up and a library might ignore it."""
    print("privcov: Interrupted.", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


def guarded(act: Callable[[], None]) -> int:
    """Carry out ``act`` and return the exit code, with one sentence for whatever goes wrong."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        try:
            act()
        finally:
            sys.stdout.flush()
    except SystemExit as ended:  # argparse has printed the reason
        return ended.code if isinstance(ended.code, int) else FAILED
    except KeyboardInterrupt as interruption:
        return _report(str(interruption) or "Interrupted.", INTERRUPTED)
    except OutputError as problem:
        _give_up_output()
        if problem.errno == errno.EPIPE:
            return 0
        return _report(f"Standard output could not be written ({problem.strerror}).", FAILED)
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
    print(f"privcov: {printable(' '.join(sentence.split()))}", file=sys.stderr, flush=True)
    return code


def _of_running(problem: Exception) -> bool:
    """Return whether a ValueError is about files, the ledger or the network rather than about what was typed."""
    from privcov.data_sources.private_file import PrivateFileError
    from privcov.ledger import LedgerError
    from privcov.table_files import TableFileError

    return isinstance(problem, Failed | PrivateFileError | LedgerError | TableFileError)


def _place(problem: BaseException) -> str:
    trace = problem.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (
        "" if trace is None else f" in {os.path.basename(trace.tb_frame.f_code.co_filename)}, line {trace.tb_lineno}"
    )
    return f"{type(problem).__name__}{where}"


def _give_up_output() -> None:
    """Discard standard output: what is still in the buffer would fail again when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# --- answers ------------------------------------------------------------------------------------------------


def check_place(out: Path | None, option: str = "--out") -> None:
    """Raise ValueError or OutputError where the answer could not be written, before anything is computed or spent."""
    if out is None:
        if isinstance(sys.stdout, _Closed):
            raise OutputError(errno.EBADF, f"it is closed; give {option}")
        return
    if out.is_dir() or not out.parent.is_dir():
        raise ValueError(
            f"{option} must name a file in a folder that exists, got {out}. Make the folder, or choose another."
        )
    beside = out.exists() and not out.is_file()  # a device or a pipe is written in place
    if not os.access(out if out.exists() else out.parent, os.W_OK) or not (beside or os.access(out.parent, os.W_OK)):
        raise ValueError(f"{option} {out} cannot be written. Choose another place.")


def check_apart(places: Mapping[str, Path | None], needed: Iterable[Path]) -> None:
    """Raise ValueError where an answer would replace another, or a file that is needed, under whatever name or link."""
    given = [(option, place) for option, place in places.items() if place is not None]
    for at, (option, place) in enumerate(given):
        for other, taken in given[:at]:
            if _same(place, taken):
                raise ValueError(f"{other} and {option} cannot both be {place}. Choose another name for one.")
        if any(_same(place, file) for file in needed):
            raise ValueError(f"{option} {place} would replace a file that this command needs. Choose another name.")


def _same(one: Path, other: Path) -> bool:
    if one.exists() and not one.is_file():
        return False  # a device or a pipe takes any number of answers
    with contextlib.suppress(OSError):
        return one.samefile(other)
    return one.resolve() == other.resolve()


def check_folder(folder: Path) -> None:
    """Raise `Failed`, before anything is computed, if no file could be put into a folder, which need not exist."""
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir() or not os.access(place, os.W_OK):
        raise Failed(f"Nothing can be written into {folder}. Make it a folder that you may write to.")


def answer(text: str, out: Path | None, otherwise: str = "") -> None:
    """Write the answer to its place, whole or not at all.

    Where that fails, ``otherwise`` is added to the message, and a reader that stops early counts as a failure too.
    """
    try:
        if out is None:
            _print_data(text)
        else:
            with all_or_none() as begin_file:
                begin_file(out).write_text(text, encoding="utf-8", newline="")
    except OutputError as problem:
        _give_up_output()
        if problem.errno == errno.EPIPE and not otherwise:
            raise
        raise Failed(_failed("Standard output", problem, otherwise)) from None
    except OSError as problem:
        raise Failed(_failed(str(out), problem, otherwise)) from None


def _failed(place: str, problem: OSError, otherwise: str) -> str:
    return f"{place} could not be written ({problem.strerror}). {otherwise}".rstrip()


def _print_data(text: str) -> None:
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError as problem:
        reason = (
            f"{problem.encoding} has no {problem.object[problem.start]!a}; set PYTHONIOENCODING=utf-8 or give --out"
        )
        raise OutputError(errno.EILSEQ, reason) from None
    print(text, end="", flush=True)


@contextlib.contextmanager
def all_or_none() -> Iterator[Callable[[Path], Path]]:
    """Yield begin(path), which returns the temporary name to write to; all are renamed at the end, or none is left.

    The names begin with a dot, so that no reader of the folder takes a half file for a table. A device or a pipe is
    written in its place. Raises ValueError where there is no folder to write to.
    """
    begun: list[tuple[Path, Path]] = []

    def begin_file(path: Path) -> Path:
        path = path.resolve()  # a link stays a link
        if not path.parent.is_dir():
            raise ValueError(f"There is no folder {path.parent}. Make it first.")
        if path.is_dir():
            raise ValueError(f"{path} is a folder. Name a file.")
        if path.exists() and not path.is_file():
            return path
        begun.append((path.with_name(f".{path.name}.{os.getpid()}.part"), path))
        return begun[-1][0]

    try:
        yield begin_file
        for half, path in begun:
            os.replace(half, path)
    finally:
        for half, _ in begun:
            half.unlink(missing_ok=True)
