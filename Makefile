# Needs Python ≥ 3.11; uses uv where it is present. `make demo` and `make test` are all a user needs.

VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)

ifneq ($(UV),)
create = uv venv --quiet --python $(PYTHON) $(VENV)
install = uv pip install --quiet --python $(BIN)/python
else
create = $(PYTHON) -m venv $(VENV)
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
endif

.DEFAULT_GOAL := help
.PHONY: help demo test long scale dev ready check docs figures bench bench-quick reproduce results sbom audit clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

demo: $(VENV)/.plot  ## draw demo.png
	$(BIN)/timelike demo --out demo.png

# What one test has compiled, others need not, also of `make long` after `make test`, which begins anew.
test long scale: export JAX_COMPILATION_CACHE_DIR = $(CURDIR)/$(VENV)/compiled
test long scale: export JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS = 0.3
PYTEST := $(BIN)/pytest -n 2 --dist loadfile -q

test: $(VENV)/.test  ## run the tests
	@rm -rf $(VENV)/compiled
	$(PYTEST) -m "not slow and not long"

long: $(VENV)/.test $(VENV)/.clients  ## run what takes longer: every page, example and command of the documentation
	$(PYTEST) -m "long and not slow"

scale: $(VENV)/.test $(VENV)/.scale  ## run a few tests on several processes, Ray and a database
	$(BIN)/pytest -q -m "scale and not slow" tests/many

dev: $(VENV)/.dev  ## install everything for development
	@echo "Ready: $(BIN)/python; for checks at every commit run $(BIN)/pre-commit install"

ready: | $(BIN)/python  ## install at once what all other targets need, except scale and bench
	$(install) --editable ".[clients,dev,supply]"
	@touch $(addprefix $(VENV)/.,clients dev supply $(includes_dev))

check: $(VENV)/.dev  ## lint, format, types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

docs: $(VENV)/.docs  ## build docs/_build/html; a warning is an error
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

figures: $(VENV)/.docs  ## redraw the pictures in docs/_static
	PYTHONPATH=. $(BIN)/python docs/figures.py

bench: $(VENV)/.bench  ## speed and memory against peers, into benchmarks/results
	$(BIN)/python -m benchmarks

bench-quick: $(VENV)/.test  ## a few figures beside peers in the same run; fails if one fell by over 20 %
	$(BIN)/python -m benchmarks.watched

reproduce: $(VENV)/.plot  ## compute every table and figure of the paper with few seeds, d = 3 and 10, into reproduced/
	$(BIN)/python -m paper all --quick --resume --out reproduced

results: $(VENV)/.docs  ## write the results in paper/results into README and docs
	$(BIN)/python -m paper.pages

sbom: $(VENV)/.supply  ## the bill of materials: what is installed, with versions, as sbom.json (CycloneDX)
	$(BIN)/cyclonedx-py environment --output-reproducible --of JSON -o sbom.json $(BIN)/python

audit: $(VENV)/.supply  ## ask for known vulnerabilities of what is installed; says so where nobody answers
	$(BIN)/python tests/reliability/audit.py

clean:  ## remove everything that the targets made
	rm -rf $(VENV) docs/_build demo.png reproduced sbom.json .pytest_cache .mypy_cache .ruff_cache .hypothesis

# One stamp per extra, so that nothing is installed twice unless pyproject.toml changed; what an
# extra contains is stamped with it.
.PRECIOUS: $(BIN)/python
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "timelike needs Python >= 3.11; name one with make PYTHON=..." >&2; exit 1; }
	$(create)

includes_docs := plot
includes_clients := io plot
includes_test := explore io plot
includes_bench := explore io plot
includes_dev := docs explore io plot test

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(install) --editable ".[$*]"
	@touch $@ $(addprefix $(VENV)/.,$(includes_$*))
