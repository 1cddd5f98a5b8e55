# Set-up and the suite's commands. Needs GNU make 3.81, a POSIX shell and Python 3.11 or later.
#   make verify      verify every theorem and write the report
#   make test        run the tests
#   make lint        ruff and pyright
#   make notebooks   execute the notebooks from their sources
#   make clean       remove the environment and everything built
PYTHON ?= python3
# Further pip arguments for the step that installs torch, such as the index with CPU wheels.
TORCH_ARGS ?=
# Worker processes of the tests.
JOBS ?= 2

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
REPORT := build/report
PIP := $(BIN)/python -m pip --disable-pip-version-check

# The worker processes are the parallelism; BLAS threads on top of them only contend.
export OMP_NUM_THREADS = 1

.PHONY: verify test lint notebooks clean

verify: $(STAMP)
	$(BIN)/attention-geometry verify --report $(REPORT)

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

notebooks: $(STAMP)
	$(BIN)/python notebooks/build.py

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache

# A changed dependency starts from an empty environment, so nothing stale can be imported.
# torch goes first: its CPU and CUDA wheels come from different places.
$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "attention-geometry needs Python 3.11 or later, and '$(PYTHON)' is not:" \
	    "name one with 'make PYTHON=python3.11'" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) install --quiet -c constraints.txt $(TORCH_ARGS) torch
	$(PIP) install --quiet -c constraints.txt -e '.[notebooks,models,peers,dev]'
	@touch $@
