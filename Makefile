PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test check test-browser bench clean

demo: $(READY)
	$(BIN)/stablek demo

test: $(READY)
	$(BIN)/pytest -n 2 -m "not browser"

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

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
