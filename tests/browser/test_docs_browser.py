"""The built documentation in a real browser: every page, light and dark, desktop and phone.

A server on this machine hands out the pages, because search does not work from files.
"""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin

import pytest

pytestmark = pytest.mark.docs

BUILT = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = sorted(
    path.relative_to(BUILT).as_posix()
    for path in BUILT.rglob("*.html")
    if not path.is_relative_to(BUILT / "_static")  # templates of the theme
)
SIZES = {
    "desktop": {"viewport": {"width": 1280, "height": 900}, "color_scheme": "light"},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "color_scheme": "dark",
    },
}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=BUILT))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()


@pytest.fixture(params=SIZES)
def page(request, browser, site):
    """A page that collects errors on the console and requests that leave the site."""
    context = browser.new_context(**SIZES[request.param])
    opened = context.new_page()
    opened.wrong = []
    opened.on("pageerror", lambda error: opened.wrong.append(str(error)))
    opened.on(
        "console",
        lambda message: message.type == "error" and opened.wrong.append(message.text),
    )
    opened.on(
        "request",
        lambda asked: (
            asked.url.startswith((site, "data:", "blob:"))
            or opened.wrong.append(f"outside: {asked.url}")
        ),
    )
    opened.on(
        "response",
        lambda answer: answer.ok or answer.status == 304 or opened.wrong.append(answer.url),
    )
    yield opened
    context.close()


def test_documentation_is_built():
    assert len(PAGES) > 20, "run make docs first"


def test_every_page_loads(page, site):
    wide = []
    for name in PAGES:
        page.goto(site + name, wait_until="load")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth + 1"):
            wide.append(name)
    assert page.wrong == []
    assert wide == []


def test_no_dead_internal_link(browser, site):
    """Every link to a page of the site has a file, and every anchor has an element."""
    anchors, links = {}, {}
    for name in PAGES:
        text = (BUILT / name).read_text(encoding="utf-8")
        anchors[name] = set(re.findall(r'\bid="([^"]+)"', text))
        links[name] = set(re.findall(r'<a\b[^>]*?\bhref="([^"]+)"', text))
    dead = []
    for name, found in links.items():
        for link in found:
            if re.match(r"[a-z]+:", link):
                continue
            target, anchor = urldefrag(urljoin("/" + name, link))
            target = unquote(target).lstrip("/") or "index.html"
            if not (BUILT / target).is_file() or (
                anchor and target in anchors and unquote(anchor) not in anchors[target]
            ):
                dead.append((name, link))
    assert dead == []


def test_search_finds_pages(page, site):
    page.goto(site + "search.html?q=silhouette")
    page.wait_for_selector("#search-results li a")
    assert "silhouette" in page.inner_text("#search-results").lower()
    assert page.wrong == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colors_follow_the_reader(browser, site, mode):
    context = browser.new_context(color_scheme=mode)
    opened = context.new_page()
    opened.goto(site + "index.html")
    background = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(number) for number in re.findall(r"\d+", background)[:3])
    assert (brightness > 600) == (mode == "light")
    context.close()
