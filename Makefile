PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.docs-ready

.PHONY: demo test check test-bounds test-browser docs docs-test screenshots coverage package fuzz bench study clean

demo: $(READY)
	$(BIN)/stablek demo

test: $(READY)
	$(BIN)/pytest -n 2 -m "not browser and not docs"

# The kernels with numba's bounds checks. The cache keeps them apart from those without.
test-bounds: $(READY)
	NUMBA_BOUNDSCHECK=1 $(BIN)/pytest -n 2 tests/test_kernels_kmeans.py tests/test_kernels_refit.py tests/test_engine_kmeans.py \
	tests/test_engine_agglomerative.py tests/test_engine_mixture.py tests/test_indices.py

# Thousands of wild inputs; prints how they ended. CASES=20000 runs more.
CASES ?= 5000
fuzz: $(READY)
	STABLEK_FUZZ=$(CASES) $(BIN)/pytest -q tests/test_fuzz.py --hypothesis-show-statistics

# Installs Chromium and its driver where they are missing.
test-browser: $(READY)
	bash tests/browser/install.sh
	$(BIN)/pytest -m browser tests/browser

# The documentation, from scratch, with its examples. Warnings are errors.
docs: $(DOCS_READY)
	rm -rf docs/_build docs/gallery docs/generated docs/methods docs/sg_execution_times.rst
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

# Every page in Chromium. Builds the documentation if there is none.
docs-test: docs/_build/html/index.html
	bash tests/browser/install.sh
	$(BIN)/pytest -m docs tests/browser/test_docs_browser.py

docs/_build/html/index.html:
	$(MAKE) docs

# The pictures of the README.
screenshots: docs-test
	$(BIN)/python docs/screenshots.py

# Lines of the library that the tests run, kernels left out: numba compiles those.
coverage: $(READY)
	$(BIN)/pytest -n 2 -m "not browser and not docs" --cov --cov-report=term --cov-fail-under=$(FLOOR)
FLOOR ?= 97

# Builds sdist and wheel, installs the wheel in a new environment and uses it.
package:
	$(PYTHON) tools/package.py

bench: $(READY)
	$(BIN)/python -m benchmarks.run

study: $(READY)
	$(BIN)/python -m study run --jobs -1
	$(BIN)/python -m study tables
	$(BIN)/python -m study figures

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# Made anew when the dependencies change, nothing to do otherwise.
$(READY): pyproject.toml
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'stablek needs Python 3.11 or newer: make PYTHON=python3.11')"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	touch $(READY)

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	touch $(DOCS_READY)

clean:
	rm -rf docs/_build docs/gallery docs/generated docs/methods docs/sg_execution_times.rst .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
