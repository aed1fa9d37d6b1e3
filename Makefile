# Needs python 3.11 or newer (PYTHON=... names another one), git and make.
# All paths are relative, so the directory may lie anywhere.

PYTHON ?= python3
PYTEST_ARGS ?= -n 2
UPGRADE ?=
CLIENTS ?= sdk claude-code openclaw
# Paths to what is not carried: --sets DIR --labelled DIR --peers build/peers
PROVING ?=

VENV := .venv
PY := $(VENV)/bin/python
PACKAGES := $(VENV)/.packages
READY := $(VENV)/.ready

# Local mirrors would put their own files' hashes into the locks.
PUBLIC := PIP_CONFIG_FILE=/dev/null PIP_EXTRA_INDEX_URL= PIP_FIND_LINKS=
COMPILE := $(PUBLIC) CUSTOM_COMPILE_COMMAND="make lock" $(PY) -m piptools compile --quiet \
	--generate-hashes --allow-unsafe --strip-extras --no-emit-options \
	--no-emit-index-url --no-emit-find-links --no-emit-trusted-host $(UPGRADE)
sdk := @modelcontextprotocol/sdk@1.32.2
claude-code := @anthropic-ai/claude-code@2.1.197
openclaw := openclaw@2026.9.6
# Some of them refuse an older one, at their installation too.
node := node@24
NODE := $(CURDIR)/.clients/node/node_modules/.bin

DEV_GROUP := import tomllib; \
	print(*tomllib.load(open("pyproject.toml", "rb"))["dependency-groups"]["dev"], sep="\n")

.PHONY: help demo clients test test-long lint format docs bench judge lock build clean

help:
	@echo "make demo    the tour on sample data, offline"
	@echo "make test    the tests"
	@echo "make test-long  the tests, with 10,000 cases for each law of merging"
	@echo "make clients the real programs that agents run in, from npm, for their tests (1 GB)"
	@echo "make lint    ruff, mypy and the words"
	@echo "make format  rewrite the code in the house format"
	@echo "make docs    refresh tables and transcripts of the documentation, and the list of messages"
	@echo "make site    the documentation as a site, in build/site"
	@echo "make bench   the benchmarks (LARGE=1: 100,000 memories too)"
	@echo "make judge   train the model of read/learned.py again, from the rows in benchmarks/judge"
	@echo "make lock    resolve the lock files again (UPGRADE=--upgrade for newer versions)"
	@echo "make build   wheel and source archive in dist/"
	@echo "make clean   remove everything that these made"

demo: $(READY)
	@$(VENV)/bin/memrepo demo --fast

test: $(READY)
	@$(PY) -m pytest $(PYTEST_ARGS)

# Their tests skip where this was not done; CLIENTS="sdk claude-code" takes less.
clients:
	@npm install --prefix .clients/node --no-audit --no-fund $(node)
	@$(foreach name,$(CLIENTS),PATH="$(NODE):$$PATH" npm install --prefix .clients/$(name) \
		--no-audit --no-fund $($(name)) &&) true

test-long: $(READY)
	@HYPOTHESIS_PROFILE=long $(PY) -m pytest $(PYTEST_ARGS)

lint: $(READY)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy
	@$(PY) tests/words.py

format: $(READY)
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .

docs: $(READY)
	@$(PY) tests/docs_parts.py
	@$(PY) tests/messages.py --write
	@$(PY) tests/words.py --write
	@$(PY) tests/transcripts.py --write

site: $(READY)
	@$(PY) -m pip install -qq --disable-pip-version-check --group docs
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

bench: $(READY)
	@$(PY) -m benchmarks
	@$(PY) -m benchmarks.scale $(if $(LARGE),--large)

judge: $(READY)
	@$(PY) -m benchmarks.judge

lock: $(READY)
	$(COMPILE) -o requirements.lock pyproject.toml
	$(PY) -c '$(DEV_GROUP)' | $(COMPILE) -c requirements.lock -o requirements-dev.lock pyproject.toml -
	sed 's/-r -$$/memrepo (dev group)/' requirements-dev.lock > requirements-dev.lock.new
	mv requirements-dev.lock.new requirements-dev.lock

build: $(READY)
	@$(PY) -m build --no-isolation

clean:
	rm -rf $(VENV) dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Two stamps: an edit of pyproject.toml installs memrepo again, which needs no network. Its modules
# are compiled as pip does for others: where PYTHONDONTWRITEBYTECODE is set no start keeps them.
$(PACKAGES): requirements-dev.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		found=$$($(PYTHON) --version 2>/dev/null); \
		echo "memrepo needs Python 3.11 or newer; $(PYTHON) is $${found:-not there}." >&2; \
		echo "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@command -v git >/dev/null || { echo "memrepo needs git on the PATH." >&2; exit 1; }
	@echo "Installing the locked packages into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install -qq --disable-pip-version-check --require-hashes -r $<
	@touch $@

$(READY): $(PACKAGES) pyproject.toml README.md
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(PY) -m compileall -q memrepo
	@touch $@
