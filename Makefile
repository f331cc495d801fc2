# The front door. `make help` lists what it offers; each target sets up what it needs.
# Needs only make and Python >= 3.11 (choose one with: make test PYTHON=python3.12).

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
# More arguments for pytest, e.g. make test PYTEST_ARGS="-k auc"
PYTEST_ARGS ?=
JOBS ?= auto

# Bytecode makes every later start two seconds quicker; one BLAS thread per worker process.
unexport PYTHONDONTWRITEBYTECODE
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1

EXAMPLE := src/purecover/data/example_scores.csv

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: kinds help demo test test-all lint type docs links bench report-speed files-speed coverage calibration mirror quantify repairs peers trust fuzz line-coverage \
	leaderboard priors-speed priors-speed-peers prior-coverage prior-peers networks-speed networks-few-labels \
	networks-times networks-paper reality-collection reality-learn reality app-load drill soak engines examples-check mutation \
	test-oldest test-newest format requirements changelog example figure train-dist-curve freeze size architecture path choosing paper-findings pictures screens vendor dist stranger clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' \
		| while IFS="$$(printf '\t')" read -r name text; do printf '  %-20s %s\n' "$$name" "$$text"; done

# -- set-up ---------------------------------------------------------------------------------

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "purecover needs Python 3.11 or newer, and '$(PYTHON)' is not."; \
		echo "Hint: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Hint: '$(PYTHON) -m venv' failed; on Debian and Ubuntu install python3-venv."; exit 1; }

# The files list everything. Left to look for itself, pip takes the newest release of what is wanted
# with an extra, finds no hash of it, and gives up.

# Enough to use the package.
$(VENV)/.core: requirements/core.txt pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing purecover and what it needs"
	@$(PIP) install --no-deps --require-hashes -r requirements/core.txt
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

# Enough to work on it; contains the above.
$(VENV)/.dev: requirements/dev.txt pyproject.toml paper/pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing purecover and the tools of its developers"
	@$(PIP) install --no-deps --require-hashes -r requirements/dev.txt
	@$(PIP) install --no-deps --no-build-isolation -e . -e ./paper
	@touch $(VENV)/.core $@

# -- to use ---------------------------------------------------------------------------------

demo: $(VENV)/.core ## Recover the performance behind the bundled scores; writes report.html
	$(BIN)/purecover evaluate $(EXAMPLE) --score score --labeled labeled --truth truth \
		--html report.html

# -- to develop -----------------------------------------------------------------------------

test: $(VENV)/.dev ## Run the fast tests, doctests included
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile $(PYTEST_ARGS)

test-all: $(VENV)/.dev ## Run the slow tests too (those that need data, a browser or torch may skip)
	$(BIN)/python -m pytest -n $(JOBS) -m "" $(PYTEST_ARGS)

line-coverage: $(VENV)/.dev ## Run the fast tests, list the lines they miss, and count the branches they take
	$(BIN)/python -m pytest -n $(JOBS) --cov --cov-report=term-missing:skip-covered $(PYTEST_ARGS)
	$(BIN)/python tools/check_coverage.py

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

# Not in CI, which must not fail because another site is down. Runs no script of the gallery.
links: $(VENV)/.dev ## List the links to other sites in docs/_build/links/output.txt and try them
	-$(BIN)/python -m sphinx -q -b linkcheck -D plot_gallery=False -d docs/_build/links/doctrees docs docs/_build/links
	@cat docs/_build/links/output.txt

# PYTEST_ARGS="--hypothesis-seed=1" repeats one search.
fuzz: $(VENV)/.dev ## Search at random for inputs that break the public functions and the command line
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -n $(JOBS) -m "" -k "fuzz or hypothesis" tests $(PYTEST_ARGS)

# -- studies --------------------------------------------------------------------------------

bench: $(VENV)/.dev ## Time against scikit-learn at 10^5, 10^6, 10^7 scores
	$(BIN)/python -m benchmarks.speed

report-speed: $(VENV)/.dev ## Time reports of 11,000 scores, the example, and a CSV of 10^6 scores to the page
	$(BIN)/python -m benchmarks.report_speed $(STUDY_ARGS)

files-speed: $(VENV)/.dev ## Time the way from files of 10^6 rows to counts, beside pandas and the csv module
	$(BIN)/python -m benchmarks.files $(STUDY_ARGS)

coverage: $(VENV)/.dev ## Study how often nominal 95 % intervals hold the truth
	$(BIN)/python -m benchmarks.coverage
	$(BIN)/python -m benchmarks.coverage_metrics

calibration: $(VENV)/.dev ## Study metrics of probabilities: coverage, size of the test, the paper's rows
	$(BIN)/python -m benchmarks.calibration --write

mirror: $(VENV)/.dev ## Compare estimates of pi0 from known negatives and a mixture with Storey's and mokapot's
	$(BIN)/python -m benchmarks.mirror $(STUDY_ARGS)
	$(BIN)/python -m benchmarks.mirror_intervals $(STUDY_ARGS)

quantify: $(VENV)/.dev ## Read alpha of later samples, beside QuaPy's methods where it is installed
	$(BIN)/python -m benchmarks.quantify $(STUDY_ARGS)

repairs: $(VENV)/.dev ## Study bias and error of every curve repair
	$(BIN)/python -m benchmarks.repairs

# More arguments for the studies of estimators, e.g. make leaderboard STUDY_ARGS="--parts a --no-slow".
# The real scores need PURECOVER_DATA, the folder of the data sets.
STUDY_ARGS ?=
STUDY_JOBS ?= 2
PEERS := $(VENV)-peers

# A folder of their own beside the environment: their requirements are not ours.
$(PEERS)/.installed: Makefile | $(VENV)/.dev
	@$(PIP) install --no-deps --upgrade --target $(PEERS) pulearn==0.2.0 pu-toolbox==1.11.0 six==1.17.0 \
		&& touch $@ || echo "pulearn and pu-toolbox are out of reach: their rows say so"

peers: $(VENV)/.dev $(PEERS)/.installed ## Compare with other packages and corrections by hand on the same simulated data
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.migration

kinds: $(VENV)/.dev ## Estimate alpha where some kinds of positives are labeled more often than others (minutes)
	$(BIN)/python -m benchmarks.kinds $(STUDY_ARGS)

trust: $(VENV)/.dev ## Study intervals of the AUC where an assumption fails
	$(BIN)/python -m benchmarks.trust --jobs $(STUDY_JOBS) $(STUDY_ARGS)

leaderboard: $(VENV)/.dev $(PEERS)/.installed ## Compare all estimators of alpha and beta (an hour; real data: PURECOVER_DATA)
	$(BIN)/python -m benchmarks.leaderboard --jobs $(STUDY_JOBS) $(STUDY_ARGS)

priors-speed: $(VENV)/.dev ## Time the estimators of alpha and beta, up to 10^6 + 10^7 scores
	$(BIN)/python -m benchmarks.priors_speed $(STUDY_ARGS)

priors-speed-peers: $(VENV)/.dev $(PEERS)/.installed ## Time the estimators of alpha on features and scores, beside other packages
	$(BIN)/python -m benchmarks.priors_speed_peers $(STUDY_ARGS)

prior-coverage: $(VENV)/.dev ## Study how often intervals of estimated proportions hold the truth
	$(BIN)/python -m benchmarks.prior_coverage --jobs $(STUDY_JOBS) $(STUDY_ARGS)

prior-peers: $(VENV)/.dev ## Compare the estimators of alpha with the programs of their authors
	$(BIN)/python -m benchmarks.prior_peers --jobs $(STUDY_JOBS) $(STUDY_ARGS)

networks-speed: $(VENV)/.dev ## Time the bagged networks against scikit-learn's, and their memory
	$(BIN)/python -m benchmarks.networks_speed $(STUDY_ARGS)

networks-few-labels: $(VENV)/.dev ## Study out-of-bag scores of networks with few labeled rows
	$(BIN)/python -m benchmarks.networks_few_labels $(STUDY_ARGS)

networks-times: $(VENV)/.dev ## Time the bagged networks on tables of different shapes
	$(BIN)/python -m benchmarks.networks_times $(STUDY_ARGS)

networks-paper: $(VENV)/.dev ## Train the paper's networks on its data sets (PURECOVER_DATA; seconds on a CUDA card, else an hour)
	$(BIN)/python -m benchmarks.networks_paper --jobs $(STUDY_JOBS) $(STUDY_ARGS)

reality-collection: $(VENV)/.dev ## Make the reference collection of real problems (downloads packages; half an hour)
	$(BIN)/python -m benchmarks.reality_collection $(STUDY_ARGS)

reality-learn: $(VENV)/.dev ## Learn the default estimator from the first part of that collection (minutes)
	$(BIN)/python -m benchmarks.reality_learn --stretch 1.1 --risk 0.1 $(STUDY_ARGS)

reality: $(VENV)/.dev ## Judge reports on the second part of that collection, from which nothing was learned (a quarter of an hour)
	$(BIN)/python -m benchmarks.reality --jobs $(STUDY_JOBS) $(STUDY_ARGS)

engines: $(VENV)/.dev ## Time counts of 10^6 to 10^8 rows of Parquet beside the engine's own GROUP BY
	$(BIN)/python -m benchmarks.engines $(STUDY_ARGS)

# The program that makes the mutants, in a folder of its own: nothing else needs it.
MUTATION := $(VENV)-mutation
$(MUTATION)/.installed: Makefile | $(VENV)/.dev
	@$(PIP) install --no-deps --upgrade --target $(MUTATION) cosmic-ray==8.7.0 parso==0.8.7 stevedore==5.9.1
	@touch $@

mutation: $(VENV)/.dev $(MUTATION)/.installed ## Put small faults into recovery and estimation, and count those that tests find
	PYTHONPATH=$(MUTATION) $(BIN)/python -m benchmarks.mutation $(STUDY_ARGS)

examples-check: $(VENV)/.dev ## Count how often the intervals on the pages with real data hold, over other seeds (minutes)
	$(BIN)/python -m benchmarks.examples_check --jobs $(STUDY_JOBS) $(STUDY_ARGS)

app-load: $(VENV)/.dev ## Send 200 files of 10^5 rows to the local page, 8 at once: times, errors, files left, memory
	$(BIN)/python -m benchmarks.app_load $(STUDY_ARGS)

drill: $(VENV)/.dev ## Kill, fill, flip and feed hostile files: nothing lost, nothing changed unseen (STUDY_ARGS="--scale 0.1" for a tenth)
	$(BIN)/python -m benchmarks.drill $(STUDY_ARGS)

soak: $(VENV)/.dev ## Use the local page for an hour: memory stays flat and no file open (STUDY_ARGS="--minutes 10" for less)
	$(BIN)/python -m benchmarks.soak $(STUDY_ARGS)

# -- upkeep ---------------------------------------------------------------------------------

# No addresses in the files (--no-emit-index-url), and no torch: its build depends on the machine.
COMPILE := UV_PYTHON_DOWNLOADS=never $(BIN)/uv pip compile --python $(BIN)/python --universal \
	--python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet
requirements: $(VENV)/.dev ## Renew the hashed requirements (UPGRADE=--upgrade for newer versions)
	$(COMPILE) $(UPGRADE) --group dev pyproject.toml -o requirements/dev.txt
	$(COMPILE) --group build pyproject.toml -c requirements/dev.txt -o requirements/core.txt

test-oldest: $(VENV)/.dev ## Run the fast tests with the oldest versions declared
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(BIN)/uv pip install --quiet --python $(VENV)-oldest/bin/python --group oldest
	$(BIN)/uv pip install --quiet --python $(VENV)-oldest/bin/python --no-deps --no-build-isolation -e .
	$(VENV)-oldest/bin/python -m pytest -n $(JOBS) src tests $(PYTEST_ARGS)

test-newest: $(VENV)/.dev ## Run the fast tests with the newest versions there are, pinned or not
	$(PYTHON) -m venv --clear $(VENV)-newest
	$(BIN)/uv pip install --quiet --python $(VENV)-newest/bin/python --upgrade -e . --group test --group build
	$(VENV)-newest/bin/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

changelog: ## Show what the next release will say (tools/changelog.py release VERSION writes it)
	$(PYTHON) tools/changelog.py draft

example: $(VENV)/.dev ## Make the bundled example scores again
	$(BIN)/python tools/make_example_scores.py

figure: $(VENV)/.dev ## Make the figures of README and how-to pages again
	$(BIN)/python tools/make_readme_figure.py
	$(BIN)/python tools/make_howto_pictures.py

train-dist-curve: $(VENV)/.dev ## Train the network of DistCurve again (a few minutes)
	$(BIN)/python paper/tools/train_dist_curve.py

freeze: $(VENV)/.dev ## Write down anew the figures and signatures that must not change unnoticed
	$(BIN)/python tools/freeze.py

size: $(VENV)/.dev ## Print lines of code, files and public names by folder, beside other packages
	$(BIN)/python tools/size.py

architecture: $(VENV)/.dev ## Draw the layers of the package and what imports what again
	$(BIN)/python tools/make_architecture.py

path: $(VENV)/.dev ## Print the functions that one evaluate runs through
	$(BIN)/python tools/path.py

choosing: $(VENV)/.dev ## Make the tables and the figure on choosing an estimator again
	$(BIN)/python tools/make_choosing.py

paper-findings: $(VENV)/.dev ## Make the tables and figures on what the paper's study found again
	$(BIN)/python tools/make_paper_findings.py

pictures: $(VENV)/.dev ## Make the pictures of the report page again (needs chromium)
	$(BIN)/python tools/make_report_pictures.py

screens: $(VENV)/.dev ## Draw all report pages in docs/_build/screens: wide, narrow, light, dark, printed (needs chromium)
	$(BIN)/python tools/make_report_pictures.py --screens docs/_build/screens

vendor: ## Bundle the chart library of the report page again (needs node and npm)
	tools/vendor_plot.sh

dist: $(VENV)/.dev ## Build the wheel and the source archive, and check what is in them
	rm -rf dist
	$(BIN)/python -m build --no-isolation
	@$(BIN)/python tools/check_dist.py dist

stranger: $(VENV)/.dev dist ## Install the wheel in a fresh environment and follow tutorial and README there
	$(BIN)/python tools/stranger.py

clean: ## Remove what the other targets made, the environments included
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-newest $(VENV)-peers $(VENV)-mutation $(VENV)-extras dist build benchmarks/out docs/_build docs/gallery \
		report.html .coverage .coverage.* htmlcov .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks
	find src tests tools benchmarks docs examples -name __pycache__ -type d -prune -exec rm -rf {} +
