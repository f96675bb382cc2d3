# `make demo` and `make test` need nothing but Python 3.11 or newer; each sets up what it uses.

PYTHON ?= python3
PORT ?= 8000
HOST ?= 127.0.0.1
VENV := .venv
PY := $(VENV)/bin/python

.PHONY: help install install-tests demo serve worker test lint format bench clean

help:
	@echo "make demo   the whole path on the sample collection, then http://localhost:$(PORT)"
	@echo "make serve  the application on what is there already"
	@echo "make worker has LLMs judge that were started on a pool's page"
	@echo "make test   the test suite, on SQLite and, where it is installed, on PostgreSQL"
	@echo "make lint   ruff, mypy, djlint, import-linter"
	@echo "make bench  the benchmarks"

# One stamp a requirements file: what was installed once is not asked for again until the file changes.
$(VENV)/installed: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Unjudged needs Python 3.11 or newer, found " + sys.version.split()[0] + "; say which one with: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/installed-tests: tests/requirements.txt $(VENV)/installed
	$(PY) -m pip install --quiet --disable-pip-version-check -r tests/requirements.txt
	@touch $@

install: $(VENV)/installed
	@$(PY) manage.py migrate --verbosity 0
	@$(PY) manage.py collectstatic --noinput --verbosity 0

install-tests: $(VENV)/installed-tests

demo: install
	@$(PY) manage.py demo
	@$(MAKE) --no-print-directory serve

serve: install
	@echo
	@echo "Unjudged is on http://localhost:$(PORT)  (Ctrl-C stops it)"
	@echo "LLMs that are started on its pages judge while this runs beside it: make worker"
	@$(VENV)/bin/gunicorn annotator.wsgi --bind $(HOST):$(PORT) --workers 2 --threads 4 --log-level warning

worker: install
	@$(PY) manage.py worker

test: install-tests
	$(PY) -m pytest --numprocesses 2 --dist loadgroup
	$(PY) -m tests.with_postgres $(PY) -m pytest --numprocesses 2 --dist loadgroup -m "database and not browser"

lint: install-tests
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/djlint templates --check --lint --quiet
	$(VENV)/bin/lint-imports
	$(PY) manage.py makemigrations --check --dry-run

format: install-tests
	$(VENV)/bin/ruff check --fix --quiet . || true
	$(VENV)/bin/ruff format .
	$(VENV)/bin/djlint templates --reformat --quiet

bench: install-tests
	@for script in tests/benchmarks/bench_*.py; do echo "== $$script"; $(PY) -m $$(echo $${script%.py} | tr / .) || exit 1; done

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis htmlcov .coverage
