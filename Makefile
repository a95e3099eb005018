# The two commands: `make demo` checks a real server, `make test` runs every test.
# Both set up what they need from a machine with Python 3.11, pip, make, git, Node and npm.

PYTHON ?= python3.11
# Many tests wait for processes, so more of them than cores run at a time.
WORKERS ?= 4
SHARED ?= ../shared
VENV := .venv
BIN := $(VENV)/bin
REAL := .cache/real-servers
EXAMPLES := examples/servers
CLIENTS := .cache/real-clients
OFFICIAL := .cache/official

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint types layers fresh spec-drift generate real-servers real-clients official official-suite audit worked-example defects bench coverage clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "%-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.stamp ## the development environment in .venv

$(VENV)/.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: setup $(REAL)/python-sdk/.stamp ## check a real server on the official Python SDK and print the report
	$(BIN)/python examples/demo.py --python $(REAL)/python-sdk/bin/python

test: setup real-servers real-clients official-suite ## every test
	$(BIN)/pytest --numprocesses $(WORKERS) --dist worksteal

check: lint types layers fresh test ## lint, types, import layers, generated files, tests

lint: setup
	$(BIN)/ruff format --check src tests examples bench
	$(BIN)/ruff check src tests examples bench

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

fresh: setup ## generated files are what their sources give
	$(BIN)/python -m clausewise.registry.compile --check

generate: setup ## write generated files anew
	$(BIN)/python -m clausewise.registry.compile

spec-drift: setup ## every quote and locator is found in a local copy of the specification
	$(BIN)/python -m clausewise.registry.drift $(SHARED)/spec

real-servers: $(REAL)/python-sdk/.stamp $(REAL)/fastmcp/.stamp $(REAL)/everything/.stamp ## the real servers that tests check

$(REAL)/python-sdk/.stamp $(REAL)/fastmcp/.stamp: $(REAL)/%/.stamp: $(EXAMPLES)/requirements/%.txt
	$(PYTHON) -m venv $(REAL)/$*
	$(REAL)/$*/bin/pip install --quiet --requirement $<
	@touch $@

$(REAL)/everything/.stamp: $(EXAMPLES)/everything/package.json
	mkdir -p $(REAL)/everything
	cp $< $(REAL)/everything/
	npm install --silent --no-audit --no-fund --prefix $(REAL)/everything
	@touch $@

real-clients: $(CLIENTS)/.stamp ## the real clients whose sessions tests record

# Node looks for a script's packages beside the script, so they go where those are.
$(CLIENTS)/.stamp: examples/clients/package.json examples/clients/typescript_sdk_client.mjs \
		$(wildcard tests/real/sdk_sessions/*.mjs)
	mkdir -p $(CLIENTS)
	cp $^ $(CLIENTS)/
	npm install --silent --no-audit --no-fund --prefix $(CLIENTS)
	@touch $@

official: setup official-suite ## the official conformance suite against the reference implementations
	$(BIN)/python -m tests.official.run

official-suite: $(OFFICIAL)/.stamp ## the official conformance suite that tests run

$(OFFICIAL)/.stamp: tests/official/package.json
	mkdir -p $(OFFICIAL)
	cp $< $(OFFICIAL)/
	npm install --silent --no-audit --no-fund --prefix $(OFFICIAL)
	@touch $@

audit: setup official-suite ## the audits of the project's own server and client: docs/CONFORMANCE*.md
	$(BIN)/python -m tests.audit.evidence
	$(BIN)/clausewise audit --write --quiet
	$(BIN)/clausewise audit --config clausewise-client.toml --write --quiet

worked-example: setup ## the audits of examples/audited, before and after the fixes
	$(BIN)/python examples/audited/evidence.py
	for version in before after; do \
	  $(BIN)/clausewise audit --config examples/audited/$$version/clausewise.toml --write --quiet --fail-on never; done
	$(BIN)/python examples/audited/readme_tables.py

cases: setup ## the checks of recordings, each with the number of its cases that break and keep it
	$(BIN)/python -m tests.judge.list_cases

coverage: setup ## how much of what there is to judge is judged on the right reference server
	$(BIN)/python -m tests.defects.coverage --missing

defects: setup ## each defect of the reference server and client: what it must trip, and what is found
	$(BIN)/python -m tests.defects.table
	$(BIN)/python -m tests.reference_client.table

bench: setup official-suite ## time of the commands, `check` beside the official suite, the recorder, `validate` beside the floor; BENCH_FULL=1 adds a million events
	$(BIN)/python -m bench

clean: ## remove everything that was made
	rm -rf $(VENV) .cache build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
