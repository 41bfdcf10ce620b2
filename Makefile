# make run    the workbench on this machine, at http://127.0.0.1:8501 (PORT=8600 for another port)
# make test   every test; ARGS="-k ledger" is handed to pytest
# make check  a contributor's minute: style, types, the quick tests, and every page once; no browser
# make deep   the exhaustive tests that make test leaves out: every leaf and byte of a bundle, long searches and audits
# make docs   the documentation, as a site in docs/_build/html
# make bench  one table of ratios; ARGS="speed --store" measures a section and keeps it
# make reproduce  the papers' tables again (minutes; ARGS="--preset full" overnight); it goes on where it was stopped
# make durations  every test, and which of them make check leaves out from now on (tests/durations.json)
# make lock   the locks again, after a change of the requirements files; ARGS=--upgrade for newer versions of what they
#             pull in
# make audit  what is publicly known to be vulnerable among the packages; it informs and never fails
#
# PY=python3.12 chooses the Python that .venv is built with. Written for GNU make 3.81, which macOS ships.

PORT ?= 8501
ARGS ?=

VENV_PYTHON := .venv/bin/python

# Hundreds of tests start a Python. Without compiled files each of them compiles every library.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run check test deep docs durations bench reproduce lock audit rebuild

run: .venv/.stamp-run
	@$(VENV_PYTHON) -m privcov app --port="$(PORT)"

# The finder explains itself when there is no browser; the tests then skip, or fail with REQUIRE_BROWSER=1. Tests of the
# R readers and behind nginx skip without these.
test: .venv/.stamp-dev
	@$(VENV_PYTHON) .ci/chromium.py --install >/dev/null || true
	@$(VENV_PYTHON) .ci/programs.py || true
	@$(VENV_PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --max-worker-restart 1 $(ARGS)

# Two halves at once: pytest-xdist would load every test file in both, and pass every result through a third process.
# 5 is what pytest says where ARGS leaves nothing of a half.
CHECK := $(VENV_PYTHON) -m pytest -q -m "not deep and not slow" -p no:cacheprovider $(ARGS)

check: .venv/.stamp-dev
	@{ $(CHECK) --ignore=tests/browser tests/*/ || test $$? = 5; } & half=$$!; \
		{ $(CHECK) tests/*.py || test $$? = 5; }; here=$$?; wait $$half && exit $$here

deep: .venv/.stamp-dev
	@$(VENV_PYTHON) -m pytest -n 2 -m deep -o faulthandler_timeout=3600 $(ARGS)

durations: .venv/.stamp-dev
	@$(VENV_PYTHON) -m pytest -n 2 --dist loadfile --no-loadscope-reorder --store-durations

# Warnings are errors: a page with a dead link is not built.
docs: .venv/.stamp-dev
	@$(VENV_PYTHON) -m sphinx -q -W --keep-going -b html -d docs/_build/doctrees docs docs/_build/html $(ARGS)
	@echo "PrivCov: the documentation is in docs/_build/html/index.html"

bench: .venv/.stamp-dev
	@$(VENV_PYTHON) -m bench.table $(ARGS)

reproduce: .venv/.stamp-run
	@$(VENV_PYTHON) -m replication reproduce $(ARGS)

# Both work in an environment of their own, also where no .venv is built yet.
TOOLS := "$$(command -v $(VENV_PYTHON) || command -v "$${PY:-python3}")" .ci/tools.py

lock:
	@$(TOOLS) lock $(ARGS)

audit:
	@$(TOOLS) audit || echo "PrivCov: the audit did not run, so nothing was checked."

# A Python that no longer starts (upgraded away, copied from elsewhere) counts as no .venv at all.
ifneq ($(shell $(VENV_PYTHON) -c 'print("starts")' 2>/dev/null),starts)
REBUILD := rebuild
endif

# Two stamps for one .venv: somebody who only runs the workbench never installs the test tools.
.venv/.stamp-run: requirements.txt requirements.lock .ci/uv.lock $(REBUILD)
	@sh .ci/setup.sh run

.venv/.stamp-dev: requirements.txt requirements-dev.txt requirements-dev.lock .ci/uv.lock $(REBUILD)
	@sh .ci/setup.sh dev
