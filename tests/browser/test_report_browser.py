"""The report in a real browser: Chromium, driven by Playwright, at desktop and phone width."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs

from stablek import Stadion
from stablek.report import write_report
from stablek.selectors.index import Silhouette
from stablek.selectors.subsamples import SubsampleFrequency

pytestmark = pytest.mark.browser

SIZES = {
    "desktop": {"viewport": {"width": 1280, "height": 900}},
    "phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}
EVIL = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 1'>",
    "\"quotes' & <b>bold</b> <!--",
    "שלום עולם",
    "long" * 1000,
    "<a href='https://example.org'>link</a>",
]
COMPARISON = [
    {"method": "stadion", "n_clusters": 3, "score": 0.7, "seconds": 0.5, "agreement": 0.8},
    {"method": "silhouette", "n_clusters": 2, "score": 0.6, "seconds": 0.1, "agreement": 0.7},
    {"method": "bic", "n_clusters": None, "reason": "for mixtures only"},
]


@pytest.fixture(scope="session")
def fitted():
    X, _ = make_blobs(150, centers=[[0, 0], [8, 0], [0, 12]], random_state=0)
    selector = Stadion(k_range=range(1, 6), n_perturbations=3, n_epsilons=5, random_state=0)
    return selector.fit(pd.DataFrame(X, columns=["height", "width"]))


@pytest.fixture(scope="session")
def crossed(fitted):
    """The same by the paper's rule."""
    return clone(fitted).set_params(one_cluster="crossing").fit(fitted._fit_X)


@pytest.fixture(scope="session")
def nothing(fitted):
    """A fit on data without clusters."""
    return clone(fitted).fit(np.random.default_rng(0).uniform(size=(120, 2)))


@pytest.fixture(scope="session")
def folder(tmp_path_factory, fitted, crossed, nothing):
    folder = tmp_path_factory.mktemp("reports")
    subsamples = SubsampleFrequency((3,) * 18 + (5,) * 2, n_rows=120)
    write_report(
        fitted,
        folder / "plain.html",
        comparison=COMPARISON,
        subsamples=subsamples,
        source="blobs.csv",
    )
    write_report(crossed, folder / "crossing.html")
    write_report(nothing, folder / "nothing.html")

    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, len(EVIL))) + 6 * (np.arange(60) % 2)[:, None]
    selector = Stadion(k_range=[1, 2, 3], n_perturbations=2, n_epsilons=4, random_state=0)
    selector.fit(pd.DataFrame(points, columns=EVIL))
    rows = [{"method": name, "n_clusters": 2, "reason": name} for name in EVIL]
    write_report(
        selector, folder / "evil.html", comparison=rows, source=EVIL[1], load="\n".join(EVIL)
    )
    # Two columns: their names become the axes of the scatter plot.
    for name, columns in {
        "evil-axes": [EVIL[1], EVIL[5]],
        "evil-long": [EVIL[4], EVIL[3]],
    }.items():
        frame = pd.DataFrame(points[:, :2], columns=columns)
        write_report(selector.set_params().fit(frame), folder / f"{name}.html")

    wide = Stadion(k_range=[1, 2, 3], n_perturbations=3, n_epsilons=4, random_state=0)
    many = np.hstack([rng.normal(size=(60, 8)), points, points + rng.normal(size=(60, 6))])
    names = [f"f{j}" for j in range(many.shape[1])]
    wide.fit(pd.DataFrame(many, columns=names))
    write_report(wide, folder / "wide.html", ids=[f"=id-{i} <b>" for i in range(60)])

    silhouette = Silhouette(k_range=range(2, 5), random_state=0).fit(fitted._fit_X)
    write_report(silhouette, folder / "silhouette.html", X=fitted._fit_X)
    one = Stadion(k_range=[2, 3], n_perturbations=1, n_epsilons=4, random_state=0)
    write_report(one.fit(points[:, :1]), folder / "one.html")
    return folder


class Visit:
    """A page, and everything that it said or asked for."""

    def __init__(self, page):
        self.page = page
        self.said, self.asked = [], []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))

    def data(self, chart, expression):
        """Something of what a chart shows; `g` is the chart."""
        return self.page.evaluate(
            f"(() => {{ const g = document.getElementById('{chart}'); return {expression}; }})()"
        )

    def colors(self):
        return self.data("plot-scatter", "g.data[0].marker.color")

    def n_clusters(self):
        return self.page.locator("#clusters tbody tr").count()

    def wait_for_status(self, text):
        from playwright.sync_api import expect

        expect(self.page.locator("#status")).to_contain_text(text)

    def overflow(self):
        return self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )


@pytest.fixture
def visit(browser, folder):
    contexts = []

    def open_page(name="plain", size="desktop", **options):
        context = browser.new_context(**SIZES[size], **options)
        contexts.append(context)
        seen = Visit(context.new_page())
        seen.page.goto((folder / f"{name}.html").as_uri())
        seen.page.wait_for_selector("html[data-ready=true]")
        return seen

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize(
    "name, size",
    [
        *(
            (name, "desktop")
            for name in ("plain", "evil", "evil-axes", "silhouette", "one", "nothing")
        ),
        *((name, "phone") for name in ("plain", "evil", "evil-long")),
    ],
)
def test_nothing_is_asked_for_and_nothing_complains(visit, folder, name, size):
    seen = visit(name, size)
    page = seen.page
    for k in range(page.locator("#ks button").count()):
        page.locator("#ks button").nth(k).click()
    page.click("#theme")
    page.wait_for_timeout(300)
    assert seen.said == []
    assert seen.asked == [(folder / f"{name}.html").as_uri()]
    assert page.evaluate("window.hacked") is None
    assert seen.overflow() <= 0


@pytest.mark.parametrize("size", SIZES)
def test_the_answer_is_on_the_first_screen(visit, size):
    page = visit(size=size).page
    headline = page.locator("h1")
    assert " ".join(headline.inner_text().split()).startswith("3 clusters")
    assert "p < 0.001 against no structure" in headline.inner_text()
    assert "same K on 18 of 20 subsamples" in headline.inner_text()
    assert page.locator("figcaption").inner_text().endswith("p < 0.001")
    for selector in (".why li", "#plot-structure svg.main-svg"):
        box = page.locator(selector).first.bounding_box()
        assert box["y"] + box["height"] < SIZES[size]["viewport"]["height"]


def test_the_picture_of_the_structure_test(visit, fitted):
    seen, test = visit(), fitted.structure_test_
    for i, kind in enumerate(test.statistics):
        statistics, valleys = test.reference_statistics[kind], test.reference_valleys[kind]
        drawn = (seen.data("plot-structure", f"g.data[{i}].{axis}") for axis in "xy")
        expected = [*statistics, test.statistics[kind]], [*valleys, test.valley]
        for found, numbers in zip(drawn, expected, strict=True):
            assert found == pytest.approx(numbers, abs=1e-5)


def test_subsamples_are_the_main_answer_to_how_sure(visit):
    seen = visit()
    assert seen.page.locator("#h-frequency").inner_text() == "How sure is it?"
    assert seen.data("plot-frequency", "g.data[0].y") == pytest.approx([0, 0, 0.9, 0, 0.1])
    seen.page.locator("#draws summary").click()
    assert "noise draws only" in seen.page.locator("#draws").inner_text()
    alone = visit("crossing")
    assert alone.page.locator("#draws").count() == 0
    section = alone.page.locator("section[aria-labelledby=h-frequency]")
    assert "noise draws only" in section.inner_text()


def test_the_reference_band_is_that_of_the_shown_k(visit, fitted):
    seen, test = visit(), fitted.structure_test_
    for k in (3, 2):
        seen.page.get_by_role("radio", name=str(k)).first.click()
        row = test.k_values.tolist().index(k)
        paths = test.reference_paths[test.kind][:, row]
        outline = [*paths.max(axis=0), *paths.min(axis=0)[::-1]]
        assert seen.data("plot-stadion", "g.data[0].y") == pytest.approx(outline, abs=1e-5)
        assert seen.data("plot-stadion", "g.data[0].name") == f"no clusters, K = {k}"


def test_scores_are_drawn_at_one_level(visit, fitted):
    levels = np.flatnonzero(fitted.epsilons_ > 0)
    level = levels[np.argmax(fitted.stadion_paths_[2, levels])]
    heights = visit().data("plot-scores", "g.data[0].y")
    assert heights[0] is None
    assert heights[1:] == pytest.approx(fitted.stadion_paths_[1:, level], abs=1e-5)


def test_no_structure_has_a_pvalue_and_no_nan(visit, nothing):
    assert nothing.n_clusters_ == 1
    seen = visit("nothing")
    pvalue = f"p = {nothing.structure_pvalue_:.2f}"
    assert seen.page.locator("h1").inner_text().startswith("No cluster structure found")
    assert pvalue in seen.page.locator("#status").inner_text()
    assert pvalue in seen.page.locator("#plot-scores").inner_text()
    body = seen.page.locator("main").inner_text()
    assert not re.search(r"\b(NaN|null|undefined)\b", body, flags=re.I)


@pytest.mark.parametrize("size", SIZES)
def test_choosing_another_k_changes_everything_that_depends_on_it(visit, size, fitted):
    seen = visit(size=size)
    page = seen.page
    before = seen.colors()
    assert seen.n_clusters() == 3
    assert len(set(before)) == 3
    assert seen.data("plot-stadion", "g.data.at(-2).line.width") > 2
    page.get_by_role("radio", name="5", exact=True).click()
    assert len(set(seen.colors())) == 5
    assert seen.n_clusters() == 5
    assert page.locator("#means tbody tr").count() == 6
    assert page.locator("#h-scatter").inner_text() == "Partition for K = 5"
    assert "Showing K = 5" in page.locator("#status").inner_text()
    assert page.get_by_role("radio", name="5", exact=True).get_attribute("aria-checked") == "true"
    # Its paths, its score and its frequency are the emphasized ones.
    np.testing.assert_allclose(
        seen.data("plot-stadion", "g.data.at(-2).y"), fitted.stadion_paths_[4], atol=1e-5
    )
    assert seen.data("plot-scores", "g.data[1].x") == [5]
    assert seen.data("plot-frequency", "g.data[0].marker.line.width") == [0, 0, 0, 0, 2]
    sizes = [int(n) for n in page.locator("#clusters tbody td:nth-child(2)").all_inner_texts()]
    assert sizes == np.bincount(fitted.reference_labels_[4]).tolist()
    page.click("#back")
    assert seen.colors() == before
    assert page.locator("#back").is_hidden()


@pytest.mark.parametrize("size", SIZES)
def test_least_stable_points_follow_the_k_and_have_ids(visit, size):
    seen = visit("wide", size=size)
    page = seen.page
    summary = json.loads(page.locator("#summary").text_content())

    def shown():
        cells = page.locator("#points tbody tr").all_inner_texts()
        return page.locator("#h-points").inner_text(), cells

    title, rows = shown()
    assert title == "Least stable points for K = 2"
    others = summary["unstable_of_others"]["2"]
    page.get_by_role("radio", name="3", exact=True).click()
    title, rows = shown()
    assert title == "Least stable points for K = 3"
    assert len(rows) == len(others) > 0
    assert [row.split("\t")[0] for row in rows] == [point["id"] for point in others]
    assert page.locator("#points b").count() == 0
    page.get_by_role("radio", name="1", exact=True).click()
    assert "best other candidates only" in shown()[1][0]
    assert seen.overflow() <= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_means_table_begins_with_the_ten_best_features(visit, scheme):
    seen = visit("wide", color_scheme=scheme)
    page = seen.page
    heads = page.locator("#means thead th .name")
    first = heads.all_text_contents()
    assert len(first) == 1 + 10
    assert not {f"f{j}" for j in range(8)} >= set(first[1:])  # the first eight separate nothing
    page.click("#all-features")
    assert len(heads.all_text_contents()) == 1 + 20
    assert page.locator("#all-features").get_attribute("aria-pressed") == "true"
    page.click("#all-features")
    assert heads.all_text_contents() == first


def test_candidates_and_clusters_have_different_colors(visit):
    seen = visit()
    clusters = {color.lower() for color in seen.colors()}
    drawn = "g.data.flatMap(t => t.marker ? [].concat(t.marker.color) : [])"
    scores = {str(color).lower() for color in seen.data("plot-scores", drawn)}
    assert clusters
    assert not clusters & scores


def test_points_have_the_color_of_their_cluster(visit, fitted):
    seen = visit()
    colors = np.array(seen.colors())
    chips = seen.page.evaluate(
        "[...document.querySelectorAll('#clusters .chip')].map(c => c.style.background)"
    )
    by_label = [set(colors[fitted.labels_ == label]) for label in range(3)]
    assert all(len(found) == 1 for found in by_label)
    assert len(set.union(*by_label)) == len(set(chips)) == 3
    opacity = np.array(seen.data("plot-scatter", "g.data[0].marker.opacity"))
    np.testing.assert_allclose(opacity, 0.15 + 0.85 * fitted.point_stability_, atol=1e-4)


def test_hovering_a_k_shows_it_and_leaving_it_goes_back(visit):
    seen = visit()
    page = seen.page
    page.get_by_role("radio", name="2", exact=True).hover()
    seen.wait_for_status("A look at")
    assert seen.n_clusters() == 2
    assert len(set(seen.colors())) == 2
    page.mouse.move(640, 20)
    seen.wait_for_status("Showing")
    assert seen.n_clusters() == 3


def test_pointing_at_a_score_and_clicking_it(visit):
    seen = visit()
    page = seen.page
    page.locator("#plot-scores").scroll_into_view_if_needed()
    # K = 1 has no score and no point: the third point is that of K = 4.
    point = page.locator("#plot-scores .points path").nth(2).bounding_box()
    x, y = point["x"] + point["width"] / 2, point["y"] + point["height"] / 2
    page.mouse.move(x - 5, y - 5)
    page.mouse.move(x, y)
    seen.wait_for_status("K = 4")
    assert "A look at" in page.locator("#status").inner_text()
    page.mouse.click(x, y)
    seen.wait_for_status("Showing K = 4")
    assert seen.n_clusters() == 4


def test_a_criterion_of_the_comparison_points_at_its_k(visit):
    seen = visit()
    page = seen.page
    assert page.locator("#votes").inner_text() == "1 of 3 criteria say 3; 1 gave no answer."
    page.locator("#comparison tbody tr").nth(1).hover()
    seen.wait_for_status("K = 2")
    assert seen.data("plot-votes", "g.data[0].x") == ["2", "3"]


def test_keys_are_enough(visit):
    seen = visit()
    page = seen.page
    page.focus("#ks button[aria-checked=true]")
    page.keyboard.press("ArrowRight")
    assert "Showing K = 4" in page.locator("#status").inner_text()
    assert page.evaluate("document.activeElement.textContent") == "4"
    page.keyboard.press("Home")
    assert "Showing K = 1" in page.locator("#status").inner_text()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert "Showing K = 5" in page.locator("#status").inner_text()
    # One stop in the tab order for all candidates.
    assert page.locator("#ks button[tabindex='0']").count() == 1
    page.focus("#epsilon")
    before = page.locator("#epsilon-value").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#epsilon-value").inner_text() != before
    page.focus("#clusters tbody tr:first-child")
    opacity = seen.data("plot-scatter", "g.data[0].marker.opacity")
    assert min(opacity) < 0.1 < max(opacity)


@pytest.mark.parametrize("size", SIZES)
def test_the_slider_moves_through_the_noise_levels(visit, size, fitted):
    seen = visit(size=size)
    page = seen.page
    for level in (0, 3):
        page.locator("#epsilon").fill(str(level))
        epsilon = fitted.epsilons_[level]
        assert page.locator("#epsilon-value").inner_text() == f"{epsilon:.3f}"
        for chart in ("between", "within", "stadion"):
            assert seen.data(f"plot-{chart}", "g.layout.shapes[0].x0") == pytest.approx(
                epsilon, abs=1e-5
            )
        reading = page.locator("#epsilon-reading").inner_text()
        assert f"between {fitted.between_stability_[2, level]:.3f}" in reading
        assert f"within {fitted.within_stability_[2, level]:.3f}" in reading
    best = fitted.k_values_[1:][np.argmax(fitted.stadion_paths_[1:, 3])]  # K = 1 has no score
    assert f"Best at this level: K = {best}" in reading


def test_the_crossing_is_marked_where_it_decides(visit, crossed):
    for name, expected in {"crossing": [crossed.crossing_epsilon_], "plain": []}.items():
        seen = visit(name)
        for chart in ("between", "within", "stadion"):
            dashed = "g.layout.shapes.filter(s => s.line.dash === 'dash').map(s => s.x0)"
            assert seen.data(f"plot-{chart}", dashed) == pytest.approx(expected, abs=1e-5)


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_follows_the_system_and_the_button(visit, scheme):
    seen = visit(color_scheme=scheme)
    page = seen.page
    other = {"light": "dark", "dark": "light"}[scheme]
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    first, ink = background(page), seen.data("plot-scores", "g.layout.font.color")
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == other
    assert background(page) != first
    assert seen.data("plot-scores", "g.layout.font.color") != ink
    page.click("#theme")
    assert background(page) == first


def test_names_from_data_are_shown_as_they_are(visit):
    page = visit("evil").page
    heads = page.locator("#means thead th .name").all_text_contents()
    assert heads[1:5] == EVIL[:4]
    assert page.locator(".source").text_content() == EVIL[1]
    assert page.locator("#comparison tbody th").first.text_content() == EVIL[0]
    assert page.locator("img").count() == 0
    assert page.locator("#snippet").text_content().count("<script>") == 1


def test_axis_names_are_no_markup(visit):
    page = visit("evil-axes").page
    titles = page.evaluate(
        "['x', 'y'].map(a =>"
        " document.querySelector(`#plot-scatter .g-${a}title text`).textContent)"
    )
    assert titles[0].startswith("</script><img")
    assert titles[1].startswith("<a href=")
    assert page.locator("#plot-scatter a[href*='example.org']").count() == 0


def test_a_script_that_gets_in_is_not_run(visit):
    seen = visit()
    seen.page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'),"
        " { textContent: 'window.hacked = 1' }))"
    )
    assert seen.page.evaluate("window.hacked") is None
    assert any("Content Security Policy" in line for line in seen.said)


def test_paper_is_light_and_charts_fit_it(visit):
    seen = visit(color_scheme="dark")
    page = seen.page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    assert page.locator("#theme").is_hidden()
    too_wide = page.evaluate(
        "[...document.querySelectorAll('.plot')].filter(p => p.querySelector('svg')"
        ".getBoundingClientRect().width > p.clientWidth + 1).map(p => p.id)"
    )
    assert too_wide == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.locator("#theme").is_visible()
    assert page.pdf(format="A4")[:5] == b"%PDF-"
    assert seen.said == []


def test_other_selectors_have_a_report_too(visit):
    seen = visit("silhouette")
    page = seen.page
    assert page.locator("h1").inner_text().startswith("3 clusters")
    assert page.locator("#plot-stadion").count() == 0
    assert seen.n_clusters() == 3
    page.get_by_role("radio", name="2", exact=True).click()
    assert seen.n_clusters() == 2  # the other partitions are there as well
    assert "67%" in page.locator("#clusters").inner_text()


def test_it_reads_without_colors_and_pictures(visit):
    page = visit().page
    assert page.locator(".plot:not([role=img][aria-label])").count() == 0
    page.locator("summary", has_text="All candidates").click()
    assert page.locator("#candidates tbody tr").count() == 5
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input')]"
        ".filter(e => !e.textContent.trim() && !e.labels?.length && !e.ariaLabel).length"
    )
    assert unnamed == 0
