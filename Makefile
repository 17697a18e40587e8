# make demo      set up, analyse a real survey, write a page to look at
# make test      set up, lint, check types and which room imports which, run the whole suite
# make browser   install chromium (where it may) and, by npm, axe-core and typescript, without which make test skips some tests of pages
# make docs      build the site from docs/ into docs/_build/html, running its tutorials; look at each page in a browser
# make coverage  run the suite and say which lines it reached, room by room; the lines themselves in coverage/
# make fuzz      random tables, boxes and totals against rational arithmetic: FUZZ="--cases 100000 --seed 7"
# make faults    kills, bad inputs, full disks, two writers, for each command (minutes): FAULTS="--kills 100 --seed 7"
# make seeds     every random test on 200 seeds (hours, but --passed goes on): SEEDS="--seeds 20 --passed FILE tests/attacks"
# make bench     run the benchmarks, and say which figures miss their goal
# make dist      build the source archive and the wheel into dist/
# make format    rewrite the code in the project's style
# make clean     remove everything that make made
#
# Needs Python 3.11 or newer and a package index. Another interpreter: make test PYTHON=python3.13
# Arguments for pytest: make test PYTEST_ARGS="-k demo"

PYTHON ?= python3
PYTEST_ARGS ?= -n 2 --dist worksteal
SEEDS ?= --seeds 200
# Named exactly, and installed before whatever could ask for another: some builds fetch gigabytes.
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# Without bytecode on disk each of the many processes that tests start would compile the package anew.
unexport PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: help demo test lint types rooms browser docs coverage fuzz faults seeds bench dist format clean

help:
	@sed -n 's/^# make/make/p' Makefile

demo: $(VENV)/.demo
	@$(BIN)/deptriad demo --force

test: lint types rooms
	@echo "== tests"
	@$(BIN)/python -m pytest -q $(PYTEST_ARGS)

lint: $(VENV)/.dev
	@echo "== lint and format"
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { echo "not in the project's style: run 'make format'" >&2; exit 1; }

# The checker uses one core: meanwhile another compiles the loops, for which both workers of the suite would wait.
types: $(VENV)/.dev
	@echo "== types"
	@$(BIN)/deptriad compile >/dev/null 2>&1 & $(BIN)/mypy; found=$$?; wait; exit $$found

rooms: $(VENV)/.dev
	@echo "== rooms"
	@found=$$($(BIN)/lint-imports --no-logo) || { echo "$$found"; \
		echo "an import goes the wrong way: docs/architecture.md has the order of the rooms" >&2; exit 1; }

# The one target that may install system packages. It fails where it cannot; .ci/run goes on without.
browser: | $(VENV)/.made
	@command -v chromium >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && echo "== installing chromium" && \
			apt-get update -qq >/dev/null 2>&1 && apt-get install -qq -y chromium >/dev/null 2>&1; } || \
		{ echo "chromium does not install by apt here: install it by hand, or set DEPTRIAD_CHROMIUM to its place" >&2; exit 1; }
	@npm install --silent --no-fund --no-audit --prefix $(VENV)/browser axe-core typescript >/dev/null 2>&1 || \
		{ echo "axe-core and typescript do not install here: they need npm and its registry" >&2; exit 1; }

docs: $(VENV)/.dev
	@echo "== docs"
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@$(BIN)/python -m pytest -q $(PYTEST_ARGS) tests/docs_in_browser.py
	@echo "open docs/_build/html/index.html"

coverage: $(VENV)/.dev
	@$(BIN)/python -m pytest -q $(PYTEST_ARGS) --cov=deptriad --cov-report=html:coverage
	@$(BIN)/python tests/helpers/coverage_by_room.py

fuzz: $(VENV)/.dev
	@$(BIN)/python tests/fuzz.py $(FUZZ)

faults: $(VENV)/.dev
	@$(BIN)/python tests/faults.py $(FAULTS)

seeds: $(VENV)/.dev
	@$(BIN)/python -m pytest -q $(PYTEST_ARGS) $(SEEDS)

bench: $(VENV)/.dev
	@for file in $(sort $(filter-out benchmarks/_%,$(wildcard benchmarks/*.py))); do \
		echo "== $$file"; $(BIN)/python "$$file" || exit 1; \
	done
	@$(BIN)/python benchmarks/_history.py

dist: $(VENV)/.dev
	@rm -rf dist
	@$(BIN)/python -m build --quiet --outdir dist
	@ls dist/*

format: $(VENV)/.dev
	@$(BIN)/ruff check --fix --quiet || true
	@$(BIN)/ruff format --quiet

clean:
	@rm -rf $(VENV) dist build demo coverage docs/_build docs/reference/names .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# The environment. Each stamp is older than pyproject.toml exactly when the packages may have changed.
$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "deptriad needs Python 3.11 or newer, and '$(PYTHON)' is not: try make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); \
		echo "could not make $(VENV): on Debian and Ubuntu install python3-venv first" >&2; exit 1; }
	@touch $@

$(VENV)/.demo: pyproject.toml | $(VENV)/.made
	@echo "== setting up $(VENV) for the demo (the first time takes a minute)"
	@$(PIP) install -qq --editable '.[demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/.made
	@echo "== setting up $(VENV) for development (the first time takes a minute or two)"
	@{ $(PIP) install -qq '$(TORCH)' && $(PIP) install -qq --editable '.[attack]'; } 2>/dev/null || \
		echo "note: $(TORCH) and the attackers do not install here; the tests that need them are skipped"
	@$(PIP) install -qq --editable '.[dev]'
	@for extra in oracles engines; do \
		$(PIP) install -qq --editable ".[$$extra]" 2>/dev/null || \
			echo "note: the $$extra do not all install here; the tests that need them are skipped"; \
	done
	@touch $(VENV)/.demo $@
