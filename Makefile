# Two commands do all the set-up: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV ?= $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
RUN = $(VENV)/bin
# Byte code is kept, whatever the environment says: hundreds of tests start the program. The tests of a file share
# what they need, so they run in one process.
# One process more than there are cores, as some tests wait for servers.
WORKERS ?= $(shell expr `getconf _NPROCESSORS_ONLN || echo 2` + 1)
TESTING = PYTHONDONTWRITEBYTECODE= $(RUN)/python -m pytest -n $(WORKERS) --dist loadfile
# `make test TORCH=torch` also runs the tests that need torch; name the build that suits the machine
TORCH ?=
MADE = $(VENV)/.made
READY = $(VENV)/.ready
LEARNING = $(VENV)/.ready-train

.PHONY: help demo demo-quick test test-slow slow-list docs check format bench clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(LEARNING)  ## watermark real code, train a real model on it, and find the mark in the model
	@$(RUN)/python -m examples.demo

demo-quick: $(READY)  ## without a model: watermark, look at the marks, take them out again
	@$(RUN)/python -m examples.demo_quick

test: $(READY) $(if $(TORCH),$(LEARNING))  ## run the tests, but those that take long
	$(TESTING) -m 'not slow'

test-slow: $(READY) $(if $(TORCH),$(LEARNING))  ## run the tests that take long
	$(TESTING) -m slow

slow-list: $(READY)  ## after both: write tests/slow.txt anew, from the times that were measured
	$(RUN)/python -m tests.slowness

docs: $(READY)  ## the documentation as a website: build/site/index.html
	@NO_MKDOCS_2_WARNING=1 PYTHONPATH=. $(RUN)/python -m mkdocs build --strict
	@echo "build/site/index.html"

check: $(READY)  ## ruff and mypy strict
	$(RUN)/ruff check .
	$(RUN)/ruff check --preview --select PLW1514 src examples benchmarks website  # an encoding is named
	$(RUN)/ruff format --check .
	$(RUN)/mypy

format: $(READY)  ## let ruff lay out the code
	$(RUN)/ruff check --fix .
	$(RUN)/ruff format .

bench: $(READY)  ## measure speed and memory: make bench CORPUS=functions.jsonl.gz
	$(RUN)/python benchmarks/speed.py $(CORPUS)
	$(RUN)/python benchmarks/memory.py $(CORPUS)

clean:  ## remove environments and caches
	rm -rf .venv .venv-* build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis demo

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "PuzzleMark needs Python 3.11 or newer, and '$(PYTHON)' is none; name one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Making $(VENV) (once)" >&2
	@$(PYTHON) -m venv $(VENV)
	@touch $@

INSTALL = $(RUN)/python -m pip install --quiet --disable-pip-version-check

$(READY): pyproject.toml | $(MADE)
	@echo "Installing PuzzleMark into $(VENV) (once)" >&2
	@$(INSTALL) --editable '.[dev]'
	@touch $@

# torch in a fixed version, of which CPU-only machines can have a small build
$(LEARNING): pyproject.toml | $(MADE)
	@echo "Installing PuzzleMark with torch into $(VENV) (once, some minutes)" >&2
	@$(INSTALL) $(or $(TORCH),torch==2.13.0) --editable '.[train]'
	@touch $@
