#!/bin/sh
# Builds .venv or brings it up to date. "run" installs what the workbench needs, "dev" the test tools as well.
# The Makefile calls it when a requirements file or a lock is newer than the stamp. PY names the Python to build with.
# Every file that is installed has a hash in a lock; one with another content is refused.
set -eu
trap 'exit 130' INT TERM

oldest=311
newest=313 # the pinned packages have ready-made builds up to here

python=.venv/bin/python
stamp=.venv/.stamp
unfinished=.venv/.unfinished # there while .venv is being changed, so an interruption cannot pass for a result

stop() {
    echo "PrivCov: $*" >&2
    exit 1
}

# "309" for Python 3.9. Prints nothing for what does not start: version managers leave shims that only fail.
version() { "$1" -c 'import sys; print(sys.version_info[0] * 100 + sys.version_info[1])' 2>/dev/null </dev/null || true; }

dotted() { echo "$(($1 / 100)).$(($1 % 100))"; }

supported() { [ -n "$1" ] && [ "$1" -ge $oldest ] && [ "$1" -le $newest ]; }

choose_python() {
    if [ -n "${PY:-}" ]; then
        py=$PY
        found=$(version "$py")
        [ -n "$found" ] || stop "PY=$py does not start; give the name or path of a Python 3.11, 3.12 or 3.13."
        [ "$found" -ge $oldest ] || stop "Python 3.11 or newer is needed, and $py is $(dotted "$found"); try PY=python3.12."
        return
    fi
    for py in python3 python3.13 python3.12 python3.11; do
        found=$(version "$py")
        if supported "$found"; then return; fi
    done
    py=python3
    found=$(version "$py")
    [ -n "$found" ] || stop "no Python was found; install Python 3.11, 3.12 or 3.13, or name one with PY=python3.12."
    # Newer than we know: let the installation decide.
    [ "$found" -ge $oldest ] ||
        stop "Python 3.11 or newer is needed, and python3 is $(dotted "$found"); install one and add PY=python3.12."
}

make_venv() {
    choose_python
    "$py" -c 'import ensurepip, venv' 2>/dev/null ||
        stop "$py has no venv module; on Debian or Ubuntu: apt-get install python3-venv (or python$(dotted "$found")-venv)."
    echo "PrivCov: building .venv with Python $(dotted "$found"); the first time takes half a minute to a few minutes."
    rm -rf .venv
    mkdir .venv
    : >$unfinished
    "$py" -m venv .venv || stop "$py could not build .venv."
}

# A pin that was changed by hand is not in the lock yet. $1: the readable file, $2: its lock.
agrees() {
    while read -r line || [ -n "$line" ]; do
        case $line in
        -r*) agrees "${line#-r }" "$2" ;;
        *==*) grep -q "^$line[ ;]" "$2" || stop "$1 asks for $line, and $2 has no such version; run: make lock" ;;
        esac
    done <"$1"
}

# uv is many times faster; plain pip is the fallback and the one whose complaints are shown.
install() {
    if "$python" -m pip install -q --disable-pip-version-check --require-hashes -r .ci/uv.lock >/dev/null 2>&1 &&
        "$python" -m uv pip install -q --python "$python" --require-hashes -r "$1" >/dev/null 2>&1; then
        return
    fi
    echo "PrivCov: installing with pip, which takes a few minutes."
    "$python" -m pip install -q --disable-pip-version-check --require-hashes -r "$1" && return
    found=$(version "$python")
    supported "$found" ||
        stop "the pinned packages could not be installed on Python $(dotted "$found"); try PY=python3.13."
    stop "the packages in $1 could not be installed; the lines above say why, and the same command tries again."
}

case ${1:-} in
run) requirements=requirements ;;
dev) requirements=requirements-dev ;;
*) stop "usage: sh .ci/setup.sh run|dev" ;;
esac
agrees $requirements.txt $requirements.lock

# A .venv that works and was not left half-built is kept: somebody may have made it by hand.
if [ -e $unfinished ] || ! "$python" -m pip --version >/dev/null 2>&1 || [ "$(version "$python")" -lt $oldest ]; then
    make_venv
fi
: >$unfinished
install $requirements.lock
# A script that a page wrote finds the package from any folder.
pwd >"$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/privcov.pth"
touch $stamp-run
[ "$1" = run ] || touch $stamp-dev
rm -f $unfinished
