# Two commands do everything: `make quickstart` and `make test`. Both make a virtual environment of their own in .venv.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# Python compiles what it imports and keeps that, a fifth of what pip would compile: tests do, and commands unless they are
# told to keep nothing.
COMPILE = $(if $(PYTHONDONTWRITEBYTECODE),,--no-compile)

.PHONY: browser docs screenshots quickstart quickstart-results test checks lint types layers unit benchmark search paper calibration answers zoo clean

quickstart: $(VENV)/.installed
	@COLUMNS=100 $(BIN)/designstudio evaluate studies/quickstart/study.toml

# What studies/quickstart/results holds.
quickstart-results: $(VENV)/.installed
	@COLUMNS=100 $(BIN)/designstudio evaluate studies/quickstart/study.toml --out $(VENV)/quickstart > $(VENV)/output.txt
	@mkdir -p studies/quickstart/results
	@sed '/^Wrote /d' $(VENV)/output.txt > studies/quickstart/results/output.txt
	@cp $(VENV)/quickstart/result.json $(VENV)/quickstart/prior_cost.png $(VENV)/quickstart/behavior_two-levels.png \
		studies/quickstart/results
	@$(BIN)/python studies/readme.py

# Checks of the text beside the tests, which wait for other processes now and then.
test: $(VENV)/.installed-dev browser
	@$(MAKE) --no-print-directory -j 2 checks unit

checks:
	@$(MAKE) --no-print-directory -j 1 lint types layers

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

layers: $(VENV)/.installed-dev
	$(BIN)/lint-imports --no-cache

unit: $(VENV)/.installed-dev browser
	@# Tests start a hundred processes, each of which would compile the package again.
	PYTHONDONTWRITEBYTECODE= $(BIN)/pytest -n 3 --dist worksteal

# Tests of the studio want a real browser: Debian's, if it may be installed here.
browser:
	@command -v chromium >/dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo 'Installing chromium, for tests of the studio in the browser.'; \
		(apt-get install -y -qq chromium || (apt-get update -qq && apt-get install -y -qq chromium)) >/dev/null; \
	else \
		echo 'There is no chromium: tests of the studio in the browser are skipped. Install it with `apt-get install chromium`.'; \
	fi

# The documentation, into site/: open site/index.html. It needs no network to be read.
docs: $(VENV)/.installed-dev
	$(BIN)/python docs/make_commands.py
	$(BIN)/python docs/make_tables.py
	$(BIN)/mkdocs build --strict

# Pictures of every page, for README. About three minutes.
screenshots: $(VENV)/.installed-dev browser
	$(BIN)/python studies/screenshots/take.py

# Accuracy, training time, a million actions, fits, evaluations: the numbers in README. About three quarters of an hour.
benchmark: $(VENV)/.installed-dev
	$(BIN)/python studies/benchmark/actors.py
	$(BIN)/python studies/benchmark/fits.py
	$(BIN)/python studies/benchmark/nuts.py
	$(BIN)/python studies/benchmark/references.py
	$(BIN)/python studies/benchmark/evaluations.py
	$(BIN)/python studies/benchmark/search.py
	$(BIN)/python studies/benchmark/dashboard.py
	$(BIN)/python studies/readme.py

# The search of studies/search. About two minutes.
search: $(VENV)/.installed
	@rm -rf $(VENV)/search
	@COLUMNS=120 $(BIN)/designstudio search studies/search/study.toml --candidates 100 --out $(VENV)/search > $(VENV)/search.txt
	@mkdir -p studies/search/results
	@sed '/^Wrote /d' $(VENV)/search.txt > studies/search/results/output.txt
	@cd $(VENV)/search && cp result.json candidates.csv history.png designs.png importance.png parallel.png \
		$(CURDIR)/studies/search/results
	@cat studies/search/results/output.txt

# Every synthetic result of the paper, next to its own numbers. Under half an hour.
paper: $(VENV)/.installed
	$(BIN)/python studies/paper/reproduce.py
	$(BIN)/python studies/paper/side_by_side.py

# Simulation-based calibration of all seven costs: 1,000 data sets each, and 500 by NUTS. About half an hour.
calibration: $(VENV)/.installed
	for cost in quadratic absolute quadratic_effort asymmetric_quadratic inverted_gaussian linex absolute_effort; do \
		$(BIN)/designstudio calibrate $$cost --datasets 1000 --out studies/calibration/results || exit 1; \
		$(BIN)/designstudio calibrate $$cost --datasets 500 --method nuts --out studies/calibration/results/nuts || exit 1; done
	$(BIN)/python studies/calibration/summarize.py

# Sentences that were wrong: what is said now, and what is true. About an hour.
answers: $(VENV)/.installed-dev
	$(BIN)/python studies/answers/model_recovery.py
	$(BIN)/python studies/answers/errors.py
	$(BIN)/python studies/answers/false_positives.py
	PYTHONPATH=. $(BIN)/python studies/answers/random_studies.py
	$(BIN)/python studies/answers/run.py

# Train the actors that come with the package again. About three minutes.
zoo: $(VENV)/.installed
	for cost in absolute quadratic inverted_gaussian absolute_effort quadratic_effort asymmetric_quadratic linex; do \
		$(BIN)/designstudio train $$cost --out designstudio/model/actors/zoo_weights/$$cost.actor || exit 1; done

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	@echo 'Installing into $(VENV): about two minutes, once.'
	@$(BIN)/python -m pip install --quiet $(COMPILE) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	@echo 'Installing into $(VENV), with what the tests need: about two minutes, once.'
	@$(BIN)/python -m pip install --quiet --no-compile --editable '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
