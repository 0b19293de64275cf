#!/usr/bin/env bash
# What the browser tests need: Chromium (from the system's packages) and Playwright (its driver).
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v chromium >/dev/null; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium
fi
.venv/bin/python -c "import playwright" 2>/dev/null ||
  .venv/bin/python -m pip install --quiet --disable-pip-version-check playwright
