# Every target does its own set-up: Python 3.11 and make are all a machine needs to have.

SHELL := /bin/sh
.DEFAULT_GOAL := help
# Two installs at once into one environment would trip over each other.
.NOTPARALLEL:

VENV ?= .venv
PY := $(VENV)/bin/python
# Passed on: make lab ARGS=--no-browser, make test ARGS="-k roofline"
ARGS ?=
# Tests run in two processes; those that share a browser or a graded lab stay together, and the
# scopes that take longest start first (tests/conftest.py says how).
SPREAD ?= -n 2 --dist loadscope --no-loadscope-reorder
# Whole days, whole classes, a real browser, and everything that starts servers, kernels or children for
# strangers' work: minutes each, so they are tested by make test-hub.
DAYS := $(addprefix tests/,hub courses browser howto grading sandbox server lite) \
	$(addprefix tests/authoring/test_,new_lab.py version_keeper.py write_an_instrument.py) \
	$(addprefix tests/cards/test_,fresh_kernel.py measurement_card.py moves.py) \
	$(addprefix tests/classes/test_,lms_command.py lms_push.py neighbor_keys.py) \
	$(addprefix tests/labs/test_,malformed.py nbgrader.py nbval.py) tests/measured/test_background.py
# What a developer runs between two edits: no browser, no nbgrader, no server.
CORE := wording physics drawing ledger labs instruments cards
QUICK := tests/test_architecture.py tests/test_cli.py tests/test_files.py \
	$(addprefix tests/,$(filter-out labs,$(CORE))) $(addprefix mlsys_widgets/,$(CORE))
STARTED := $(shell date +%s)
TOOK = @echo "make $@ took $$(( $$(date +%s) - $(STARTED) )) s"

# 3.11 first, because constraints.txt was tested with it. A name may exist and not run (pyenv).
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)

# Where a student works: copies of the released labs, so that the checkout stays clean.
LAB_FOLDER := my_labs
# They are for practice; --assignments: as a course hands them out.
WAY ?=
ALLOW_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help lab hub quick test test-hub test-all nbval lint types format docs gallery pictures bench wheel bundle site constraints labextension clean system-packages

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# The page is shown rendered by the settings in tools/jupyter; the path is for mlsys in a terminal.
lab: $(VENV)/.student ## Open JupyterLab on your copy of the labs (over ssh: ARGS=--no-browser)
	@$(PY) tools/my_labs.py $(LAB_FOLDER) $(WAY)
	PATH="$(abspath $(VENV))/bin:$$PATH" \
	JUPYTER_CONFIG_PATH="$(CURDIR)/tools/jupyter$${JUPYTER_CONFIG_PATH:+:$$JUPYTER_CONFIG_PATH}" \
	exec $(PY) -m jupyterlab $(ALLOW_ROOT) --ServerApp.root_dir=$(LAB_FOLDER) \
		--LabApp.default_url=/lab/tree/START_HERE.md $(ARGS)

# Users must not read the clone's keys, so the hub makes its own course from a bundle.
hub: $(VENV)/.hub ## Run a JupyterHub for the course on this machine (without root: ARGS=--single)
	@$(PY) -m mlsys_widgets build --bundle build/course.tar.gz
	exec $(PY) -m mlsys_widgets hub --from build/course.tar.gz $(ARGS)

quick: $(VENV)/.dev ## Lint and run the fast tests: what to run between two edits
	$(PY) -m ruff check .
	$(PY) -m pytest $(SPREAD) -m "not slow and not long" $(QUICK) $(ARGS)
	$(TOOK)

test: system-packages lint types ## Lint, check types and run the tests, except those of test-hub
	$(PY) -m pytest $(SPREAD) --durations=10 $(addprefix --ignore=,$(DAYS)) $(ARGS)
	$(TOOK)

# Their own target, because they take minutes: real users, a real hub, a browser. As root, or most are skipped.
# In three processes: half of a whole day is waiting for a page or pip.
test-hub: system-packages $(VENV)/.dev ## Whole days: labs in a browser, grading, servers, courses, hub
	$(PY) -m pytest $(SPREAD) -n 3 --durations=10 $(DAYS) $(ARGS)
	$(TOOK)

# Sweeps over everybody, kills by the dozen, whole terms: hours, so they are no part of .ci/run.
test-all: system-packages lint types ## The same with the slow tests and many more examples
	MLSYS_SWEEP=1 $(PY) -m pytest $(SPREAD) -m "" --hypothesis-profile=thorough --timeout=1800 $(ARGS)

# What an instructor types in any course (docs/authors/nbval.md), two labs at a time.
nbval: $(VENV)/.dev ## Run every instructor's notebook again and compare its outputs
	$(PY) -m pytest --nbval source $(SPREAD) $(ARGS)
	$(TOOK)

lint: $(VENV)/.dev ## Check style and spelling
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m codespell_lib README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md docs mlsys_widgets tools benchmarks

types: $(VENV)/.dev ## Check types
	$(PY) -m mypy

format: $(VENV)/.dev ## Format the code and fix what can be fixed
	$(PY) -m ruff check --fix-only .
	$(PY) -m ruff format .

# Pages about names, commands, settings, instruments, labs and measurements are made from what ships,
# never typed; then examples are checked and the pages are built. A link, an anchor or a picture that
# leads nowhere is a warning of Sphinx, and -W makes it an error. -E: from scratch. A page that is not
# read again runs no cells and hides its warnings.
docs: $(VENV)/.dev ## Build the pages into build/html, and check them
	@rm -rf docs/measured docs/instruments docs/reference/api
	@set -e; for measurement in $(notdir $(basename $(wildcard mlsys_widgets/measured/data/*.json))); do \
		$(PY) -m mlsys_widgets validate $$measurement --report docs/measured > /dev/null; done
	@set -e; for page in labs_at_a_glance quoted_numbers instrument_pages api_pages command_pages setting_pages \
		format_pages; do $(PY) tools/$$page.py; done
	$(PY) -m pytest -q tests/project/test_examples.py
	$(PY) -m sphinx -E -W --keep-going -b html docs build/html $(ARGS)

# Only these pages offer to run their instruments: the tag says that the app lies beside them.
gallery: override ARGS += -t app
gallery: docs ## Build the pages with instruments that run in them, in a browser alone (needs npm)
	$(PY) tools/gallery.py

# Look at every picture before you commit it.
pictures: system-packages $(VENV)/.dev ## Take the pictures of the pages again, in a real browser
	$(PY) tools/pictures.py
	UPDATE_PICTURES=1 $(PY) -m pytest -m "slow or not slow" tests/browser/test_screenshots.py $(ARGS)

bench: $(VENV)/.bench ## Run every benchmark
	@status=0; for benchmark in $(wildcard benchmarks/*.py); do \
		echo "== $$benchmark"; $(PY) $$benchmark $(ARGS) || status=$$?; done; exit $$status

# What a course needs on a machine without a clone; docs/install.md says what to do with them.
# Constraints travel with the wheel: without them, pip would install whatever is newest that day.
wheel: $(VENV)/.dev ## Make the package as one file, in dist, with the versions that were tested beside it
	@rm -f dist/mlsys_widgets-*.whl
	$(PY) -m build --wheel --no-isolation --outdir dist .
	@cp constraints.txt dist/

bundle: $(VENV)/.dev ## Make the labs with their keys as one file, in dist
	@mkdir -p dist
	@$(PY) -m mlsys_widgets build --bundle dist/course.tar.gz

site: $(VENV)/.dev ## Build labs that run in a browser alone, into build/site (needs npm; ARGS="--open --assignment")
	$(PY) tools/site.py $(ARGS)

# A fresh environment without pins, or the old ones would be found again. Make it with the oldest
# Python there is (Debian 12 has 3.11.2): some releases ask for a later patch release than that.
constraints: $(VENV)/.made ## Pin the newest versions that install together
	"$(PYTHON)" -m venv --clear build/constraints
	build/constraints/bin/python -m pip install --quiet '.[bench]'
	build/constraints/bin/python -m pip check
	build/constraints/bin/python -m pip freeze --exclude mlsys-widgets > build/frozen.txt
	$(PY) tools/constraints.py < build/frozen.txt > constraints.txt
	rm -rf build/constraints build/frozen.txt

# The outcome is committed, so that only who changes the panel needs npm.
labextension: $(VENV)/.dev ## Build the Lab panel (needs npm)
	$(PY) tools/labextension.py build

clean: ## Remove everything make has made, the environment too
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis \
		labextension/lib labextension/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Looks first and is done in a blink when nothing is missing.
system-packages: $(VENV)/.made
	@$(PY) tools/system_packages.py

# A stamp is touched only after its install went through, so a broken one is tried again.
$(VENV)/.student $(VENV)/.hub $(VENV)/.docs $(VENV)/.dev $(VENV)/.bench: $(VENV)/.%: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing mlsys-widgets[$*] into $(VENV); the first time takes a few minutes."
	$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	@$(PY) tools/labextension.py link
	@touch $@

$(VENV)/.made:
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "mlsys_widgets needs Python 3.11 or newer: install it, or name it with make PYTHON=/path/to/python." >&2; exit 1; }
	@"$(PYTHON)" tools/system_packages.py venv
	@"$(PYTHON)" -c 'import ensurepip' 2>/dev/null
	"$(PYTHON)" -m venv $(VENV)
	@touch $@
