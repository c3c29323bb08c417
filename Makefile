# Three commands do everything on a fresh machine with Python 3.11 or newer:
#   make run     the main job: a real tensor-parallel training run on this machine, recorded and shown live
#   make fleet   the same over four nodes: a Slurm, a PostgreSQL and a Prometheus of its own on this machine
#   make test    everything that is checked
# All make their own environment in .venv. PYTHON=python3.12 chooses another interpreter.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
RANKS  ?= 4
TP     ?= 2
STEPS  ?= 20
# Byte code is made once, not in every process: an environment may have PYTHONDONTWRITEBYTECODE, as images for Docker do.
# A package may hold files for another Python, which do not compile.
PIP    := --quiet --no-compile -c constraints.txt
BYTE_CODE := $(BIN)/python -m compileall -qq -j 0 $(VENV)/lib neuron_top dashboard parsers || true

.PHONY: run fleet test check format bench compat fuzz adversary docs man clean help
.DEFAULT_GOAL := help

help:
	@sed -n 's/^# \{0,1\}//p' Makefile | head -5
	@echo '  make check   format, lint, types, import contracts;  make bench   measured ratios;  make adversary   every attack;  make format, compat, fuzz, docs, man, clean'

run: $(VENV)/.run
	OMP_NUM_THREADS=1 $(BIN)/neurontop run --name tutorial -- $(BIN)/torchrun --nproc_per_node=$(RANKS) \
	  assets/examples/train_bert_tp.py --tensor_parallel_size $(TP) --steps_this_run $(STEPS)

# Nothing but the document goes to stdout: others read it.
fleet:
	@$(MAKE) --no-print-directory $(VENV)/.fleet >&2
	@$(BIN)/python -m tests.servers

# Three at a time, since tests wait for a third of their time. Tests of a group share fixtures that are expensive to make, so they stay together, and
# groups begin first.
# Failed tests are run once more by themselves (as CPython's --rerun does); the first failure stays in the output.
test: check
	$(BIN)/python -m pytest -n 3 --dist loadgroup || { \
	  echo 'failed above: the same tests once more, one at a time and with nothing beside them' >&2; \
	  $(BIN)/python -m pytest --last-failed --last-failed-no-failures none --verbose; }

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	$(BIN)/python -m tests.bench

fuzz: $(VENV)/.dev
	$(BIN)/python -m tests.fuzz

# Every attack in full, which takes about an hour; `make test` runs the quick ones and a sample of the others.
adversary: $(VENV)/.dev
	NEURONTOP_ADVERSARY=long $(BIN)/python -m pytest -n 2 --dist loadgroup tests/adversary tests/actions/test_real_job.py

# Other people's programs with our back end and with Inductor; hours. What has a result in build/compat is not run again.
compat: $(VENV)/.dev
	$(BIN)/python -m pip install $(PIP) --group compat
	$(BIN)/python -m tests.compat

docs: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

man: $(VENV)/.dev
	mkdir -p build
	$(BIN)/python docs/manual.py build/neurontop.1

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/.base:
	.ci/system run
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "neuron-top needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	@touch $@

$(VENV)/.run: $(VENV)/.base pyproject.toml constraints.txt
	$(BIN)/python -m pip install $(PIP) -e '.[torch]'
	$(BYTE_CODE)
	@touch $@

$(VENV)/.fleet: $(VENV)/.base pyproject.toml constraints.txt
	.ci/system fleet
	$(BIN)/python -m pip install $(PIP) -e '.[torch,fleet]'
	$(BYTE_CODE)
	@touch $@ $(VENV)/.run

$(VENV)/.dev: $(VENV)/.run
	.ci/system test
	$(BIN)/python -m pip install $(PIP) --group dev
	$(BYTE_CODE)
	@touch $@
