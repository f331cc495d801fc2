# The front door. `make help` lists what it offers; each target sets up what it needs.
# Needs only make and Python >= 3.11 (choose one with: make test PYTHON=python3.12).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# uv unpacks in a sixth of the time; pip takes over where uv does not know the index that pip is told of.
INSTALL = install() { $(BIN)/uv pip install -qq --python $(BIN)/python "$$@" || $(PIP) install "$$@"; }; install
# More arguments for pytest, e.g. make test PYTEST_ARGS="-k auc"; for studies ARGS="--replicates 5"
PYTEST_ARGS ?=
ARGS ?=
JOBS ?= auto

# Bytecode makes every later start two seconds quicker; one BLAS thread per worker process.
unexport PYTHONDONTWRITEBYTECODE
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint format type docs dist fuzz mutate size freeze paper reality trust judge-study \
	leaderboard drill study requirements clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' \
		| while IFS="$$(printf '\t')" read -r name text; do printf '  %-13s %s\n' "$$name" "$$text"; done

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "purecover needs Python 3.11 or newer, and '$(PYTHON)' is not."; \
		echo "Hint: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Hint: '$(PYTHON) -m venv' failed; on Debian and Ubuntu install python3-venv."; exit 1; }
	@sed -n '/^uv==/,/[^\\]$$/p' requirements/dev.txt > $(VENV)/uv.txt
	@$(PIP) install --no-deps --require-hashes -r $(VENV)/uv.txt

# The files of requirements/ list everything. Left to look for itself, pip takes the newest release of
# what is wanted with an extra, finds no hash of it, and gives up.

# Enough to use the package.
$(VENV)/.core: requirements/core.txt pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing purecover and what it needs"
	@$(INSTALL) --no-deps --require-hashes -r requirements/core.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

# Enough to work on both packages; contains the above.
$(VENV)/.dev: requirements/dev.txt pyproject.toml paper/pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing purecover, purecover-paper and the tools of their developers"
	@$(INSTALL) --no-deps --require-hashes -r requirements/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation -e . -e ./paper
	@touch $(VENV)/.core $@

EXAMPLE := src/purecover/data/example_scores.csv
demo: $(VENV)/.core ## Evaluate the bundled scores, before and after ten answers; writes report.html
	@echo; echo "With nothing known:"
	$(BIN)/purecover evaluate $(EXAMPLE)
	@echo; echo "After ten rows were judged; the true classes stand in for the judge:"
	$(BIN)/purecover audit sample $(EXAMPLE) --n 10 --out to_judge.csv --quiet
	$(BIN)/purecover evaluate $(EXAMPLE) --judged to_judge.csv:truth --truth truth --html report.html

test: $(VENV)/.dev ## Run the fast tests of both packages (all tests: PYTEST_ARGS='-m ""')
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)

lint: $(VENV)/.dev ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.dev ## Format the code and fix what can be fixed safely
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

type: $(VENV)/.dev ## Check types
	$(BIN)/mypy

docs: $(VENV)/.dev ## Build the documentation in docs/_build/html, warnings as errors
	$(BIN)/python -m sphinx -W --keep-going -q -b html -d docs/_build/doctrees docs docs/_build/html
	@$(BIN)/python tools/check_docs.py docs/_build/html
	@echo "docs/_build/html/index.html"

dist: $(VENV)/.dev ## Build wheels and source archives of both packages, and check them
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	$(BIN)/python -m build --no-isolation --outdir dist paper
	$(BIN)/check-wheel-contents dist/*.whl
	@$(BIN)/python tools/check_dist.py dist

fuzz: $(VENV)/.dev ## Search at random for inputs that break functions and commands
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n $(JOBS) -m "" -k "fuzz or hypothesis" tests $(PYTEST_ARGS)

mutate: $(VENV)/.dev ## Change operators and numbers, print what no test notices (ARGS="--n 20 --seed 1")
	$(BIN)/python tools/mutate.py $(ARGS)

size: $(VENV)/.dev ## Print tokens, lines of code, public names and options by folder
	$(BIN)/python tools/size.py

freeze: $(VENV)/.dev ## Write anew figures, signatures, printed reports, numbers and pictures of pages
	$(BIN)/python tools/freeze.py
	$(BIN)/python -m pytest -q -m "" tests/test_golden.py --renew
	$(BIN)/python tools/fill_pages.py
	$(BIN)/python tools/make_pictures.py

paper: $(VENV)/.dev ## Run the quick study of the paper and write paper.html (five minutes)
	$(BIN)/purecover-paper run --quick --store paper-quick $(ARGS)
	$(BIN)/purecover-paper report --store paper-quick --html paper.html

reality: $(VENV)/.dev ## Judge reports on real problems that nothing learned from (a quarter of an hour)
	$(BIN)/python -m studies.reality --jobs 2 $(ARGS)
	$(BIN)/python -m studies.real_labels --jobs 2
	$(BIN)/python -m studies.real_labels --jobs 2 --once

trust: $(VENV)/.dev ## Study intervals of the AUC where an assumption fails
	$(BIN)/python -m studies.trust --jobs 2 $(ARGS)

judge-study: $(VENV)/.dev ## Study how far a few judged rows narrow the answer
	$(BIN)/python -m studies.judge --jobs 2 $(ARGS)

leaderboard: $(VENV)/.dev ## Compare all estimators of alpha and beta (an hour)
	$(BIN)/python -m studies.leaderboard --jobs 2 $(ARGS)

drill: $(VENV)/.dev ## Kill, fill, flip and feed hostile files (ARGS="--scale 0.1" for a tenth)
	$(BIN)/python -m studies.drill $(ARGS)

study: $(VENV)/.dev ## Run another study, e.g. make study NAME=speed (or coverage, engines)
	$(BIN)/python -m studies.$(NAME) $(ARGS)

# No addresses in the files (--no-emit-index-url), and no torch: its build depends on the machine.
COMPILE := UV_PYTHON_DOWNLOADS=never $(BIN)/uv pip compile --python $(BIN)/python --universal \
	--python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet
requirements: $(VENV)/.dev ## Renew the hashed requirements (UPGRADE=--upgrade for newer versions)
	$(COMPILE) $(UPGRADE) --group dev pyproject.toml -o requirements/dev.txt
	$(COMPILE) --group build pyproject.toml -c requirements/dev.txt -o requirements/core.txt

clean: ## Remove what the other targets made, the environments included
	rm -rf $(VENV) $(VENV)-* dist build paper-quick paper.html report.html to_judge.csv studies/out docs/_build docs/gallery \
		.coverage .coverage.* .mutate.json htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src paper tests tools studies docs examples -name __pycache__ -type d -prune -exec rm -rf {} +
