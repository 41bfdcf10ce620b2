"""Renew the locks, or look for known vulnerabilities; both in a throw-away environment.

    python .ci/tools.py lock [--upgrade | --upgrade-package NAME ...]
    python .ci/tools.py audit

"lock" writes a .lock beside every requirements file: everything it pulls in, with the hash of every file the registry
offers, for Linux and macOS and for all supported Pythons. A version that is locked already stays where it can; more
arguments are handed to uv. "audit" compares the locks with the registry's list of known vulnerabilities. It informs and
never gates: it exits with 0 whatever it finds, and says so in a sentence where it could not ask.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OLDEST = "3.11"
# Each with the lock it must agree with. The tests' own is the first: what is tested is then what is run.
LOCKED = {"requirements-dev": None, "requirements": "requirements-dev", ".ci/uv": None, ".ci/audit": None}
AUDITED = ("requirements-dev", ".ci/uv")
SECONDS = 300  # for all questions to the registry together


def environment(folder: Path, *locks: str) -> Path:
    """A new environment in ``folder`` with what the locks name; returns its Python."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    for lock in locks:
        words = ["install", "-q", "--disable-pip-version-check", "--require-hashes", "-r", ROOT / f"{lock}.lock"]
        run([python, "-m", "pip", *words], check=True)
    return python


def run(command: list, **how: object) -> subprocess.CompletedProcess:
    return subprocess.run(command, stdin=subprocess.DEVNULL, cwd=ROOT, text=True, **how)


def lock(python: Path, more: list[str]) -> None:
    """Write every lock. more: further arguments for uv, such as --upgrade."""
    # Neither an address nor a folder of this machine gets into a file that others read.
    words = ["--universal", "--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--quiet"]
    words += ["--python-version", OLDEST, "--custom-compile-command", "make lock"]
    for name, master in LOCKED.items():
        agree = ["-c", f"{master}.lock"] if master else []
        files = [f"{name}.txt", *agree, "-o", f"{name}.lock"]
        run([python, "-m", "uv", "pip", "compile", *words, *more, *files], check=True)
        print(f"PrivCov: {name}.lock is up to date.")


def verdict(done: subprocess.CompletedProcess) -> list[str]:
    """What an audit found, in lines to print; also where it could not ask."""
    try:
        packages = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        last = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        return [f"The list of known vulnerabilities could not be asked, so nothing was checked ({last[-200:]})."]
    checked = [package for package in packages if "version" in package]
    skipped = [package["name"] for package in packages if "version" not in package]
    if not checked:
        return ["The registry offers no list of known vulnerabilities, so nothing was checked."]
    more = [f"Not checked, because the registry knows nothing of them: {', '.join(skipped)}."] if skipped else []
    lines = []
    for package in checked:
        for found in package["vulns"]:
            mended = f"mended in {', '.join(found['fix_versions'])}" if found["fix_versions"] else "not mended yet"
            lines.append(f"{package['name']} {package['version']}: {found['id']}, {mended}.")
    if not lines:
        return [f"No known vulnerability in {len(checked)} packages.", *more]
    remedy = "raise the pins, then `make lock ARGS='--upgrade-package NAME'`"
    return [*lines, f"Known vulnerabilities: {len(lines)} in {len(checked)} packages; {remedy}.", *more]


def audit(python: Path) -> list[str]:
    """Ask about every package of the locks, by name and version; nothing is installed or built for it."""
    named = [word for name in AUDITED for word in ("-r", f"{name}.lock")]
    words = ["--disable-pip", "--require-hashes", "--format", "json", "--progress-spinner", "off", *named]
    try:
        return verdict(run([python, "-m", "pip_audit", *words], capture_output=True, timeout=SECONDS))
    except subprocess.TimeoutExpired:
        return [f"The list of known vulnerabilities did not answer within {SECONDS} s, so nothing was checked."]


def main(arguments: list[str]) -> None:
    if arguments[:1] not in (["lock"], ["audit"]):
        sys.exit("usage: python .ci/tools.py lock|audit")
    task, *more = arguments
    os.environ.pop("PYTHONPATH", None)
    with tempfile.TemporaryDirectory(prefix="privcov-tools-") as folder:
        try:
            python = environment(Path(folder), ".ci/uv" if task == "lock" else ".ci/audit")
            if task == "lock":
                lock(python, more)
            else:
                print(*(f"PrivCov: {line}" for line in audit(python)), sep="\n")
        except subprocess.CalledProcessError as problem:
            reason = f"{' '.join(map(str, problem.cmd[1:5]))} ended with {problem.returncode}"
            if task == "lock":
                sys.exit(f"PrivCov: the locks are not renewed: {reason}; its own words are above.")
            print(f"PrivCov: the audit could not be installed, so nothing was checked ({reason}).")


if __name__ == "__main__":
    main(sys.argv[1:])
