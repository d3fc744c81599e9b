# Two commands do all the set-up: `make demo` and `make test`. Each makes its own virtual environment.
PYTHON ?= python3
VENV ?= $(if $(filter python3,$(PYTHON)),.venv,.venv-$(notdir $(PYTHON)))
RUN = $(VENV)/bin
# `make test TORCH=torch` also installs what local models need; name the build that suits the machine
TORCH ?=
READY = $(VENV)/.ready$(if $(TORCH),-hf)

comma := ,

.PHONY: help demo test check format bench clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(READY)  ## watermark this Python's own standard library, look at the marks, take them out again
	@$(RUN)/python examples/demo.py

test: $(READY)  ## run the tests
	$(RUN)/python -m pytest -n auto

check: $(READY)  ## ruff and mypy strict
	$(RUN)/ruff check .
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

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "PuzzleMark needs Python 3.11 or newer, and '$(PYTHON)' is none; name one: make $(MAKECMDGOALS) PYTHON=python3.12" >&2; exit 1; }
	@echo "Making $(VENV) and installing PuzzleMark into it (once)" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check $(TORCH) --editable '.[dev$(if $(TORCH),$(comma)hf)]'
	@touch $@
