"""The browser of all tests in this folder: Chromium, driven by Playwright."""

import os
import shutil

import pytest

CHROMIUM = os.environ.get("STABLEK_CHROMIUM") or shutil.which("chromium") or "chromium"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    # Chosen by a marker: a missing browser is an error, never a silent pass.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()
