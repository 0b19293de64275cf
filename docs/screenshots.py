"""Make the pictures of the README: `make screenshots`, after `make docs` and with Chromium.

The report is the one of docs/start/first_answer.md, the paths are the figure of docs/index.md.
"""

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
BUILT = HERE / "_build"


def main() -> None:
    """Write both pictures to _static."""
    chromium = shutil.which("chromium") or sys.exit("Chromium is missing: make test-browser")
    shutil.copy(BUILT / "html" / "_images" / "index-1.png", HERE / "_static" / "paths.png")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--headless", "--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 1000})
        page.goto((BUILT / "commands" / "wine.html").as_uri())
        page.wait_for_timeout(1500)  # the charts
        page.screenshot(path=HERE / "_static" / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
