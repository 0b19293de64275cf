"""Write one page for each method: formula, pictures, cost, source. The table is METHODS."""

from pathlib import Path
from typing import NamedTuple

from sphinx.application import Sphinx

from stablek.selectors import SELECTORS


class Method(NamedTuple):
    """What a page says."""

    title: str
    formula: str
    words: str
    cost: str
    source: str


INDEX = "K-means for each K, then one pass over the points: $N K p$."
PAIRS = (
    "K-means for each K, then the distances of all pairs: $N^2 p$, in memory that grows with N."
)

METHODS = {
    "stadion": Method(
        "Stadion",
        r"\max_{\varepsilon > 0} \left[\mathrm{Between}(K, \varepsilon) - "
        r"\mathrm{Within}(K, \varepsilon)\right]",
        "The partition shall survive noise, and no cluster shall have a stable partition itself. "
        "A test with a p-value decides about K = 1.",
        r"D noisy copies at each noise level: $D\, n_\varepsilon$ times the cost of labeling, for "
        "each K and each part of each cluster. Compiled engines share most of it.",
        "Mourer, Forest, Lebbah, Azzag, Lacaille (2023)",
    ),
    "wemmert_gancarski": Method(
        "Wemmert-Gançarski",
        r"\frac{1}{N} \sum_k \max\left(0,\; n_k - \sum_{i \in C_k} R_i\right), \quad "
        r"R_i = \frac{d(x_i, g_k)}{\min_{l \neq k} d(x_i, g_l)}",
        "Points shall be much nearer to their own mean than to any other. In our study the best "
        "of the indices.",
        INDEX,
        "Wemmert, Gançarski, Korczak (2000)",
    ),
    "silhouette": Method(
        "Silhouette",
        r"\frac{1}{N} \sum_i \frac{b_i - a_i}{\max(a_i, b_i)}",
        "$a_i$ is the mean distance to the other points of the cluster, $b_i$ the smallest mean "
        "distance to another cluster.",
        PAIRS,
        "Rousseeuw (1987)",
    ),
    "davies_bouldin": Method(
        "Davies-Bouldin",
        r"\frac{1}{K} \sum_k \max_{l \neq k} \frac{\delta_k + \delta_l}{d(g_k, g_l)}",
        r"$\delta_k$ is the mean distance to the mean. Lower is better.",
        INDEX,
        "Davies and Bouldin (1979)",
    ),
    "ray_turi": Method(
        "Ray-Turi",
        r"\frac{\mathrm{WGSS} / N}{\min_{k < l} d(g_k, g_l)^2}",
        "Scatter inside, divided by the distance of the two nearest means. Lower is better.",
        INDEX,
        "Ray and Turi (1999)",
    ),
    "calinski_harabasz": Method(
        "Calinski-Harabasz",
        r"\frac{\mathrm{BGSS} / (K - 1)}{\mathrm{WGSS} / (N - K)}",
        "The variance ratio: scatter between the clusters over scatter inside.",
        INDEX,
        "Caliński and Harabasz (1974)",
    ),
    "dunn": Method(
        "Dunn",
        r"\frac{\min \text{ distance between clusters}}{\max \text{ distance inside a cluster}}",
        "Two single pairs of points decide, so one outlier can change the answer.",
        PAIRS,
        "Dunn (1974)",
    ),
    "xie_beni": Method(
        "Xie-Beni",
        r"\frac{\mathrm{WGSS} / N}{(\min \text{ distance between clusters})^2}",
        "Scatter inside, divided by the smallest gap between points. Lower is better.",
        PAIRS,
        "Xie and Beni (1991)",
    ),
    "elbow": Method(
        "Elbow",
        r"\frac{W_{\max} - W_K}{W_{\max} - W_{\min}} - \frac{K - K_{\min}}{K_{\max} - K_{\min}}",
        "How far the inertia $W_K$ lies below the line between its ends, by the rule of Kneedle.",
        "K-means for each K, and nothing else.",
        "Satopää, Albrecht, Irwin, Raghavan (2011)",
    ),
    "gap_a": Method(
        "Gap statistic, uniform in the range of each feature",
        r"\frac{1}{B} \sum_b \log W^*_{bK} - \log W_K",
        "Compares the scatter with that of B reference sets without clusters.",
        "B + 1 times K-means for each K.",
        "Tibshirani, Walther, Hastie (2001)",
    ),
    "gap_b": Method(
        "Gap statistic, uniform along principal components",
        r"\frac{1}{B} \sum_b \log W^*_{bK} - \log W_K",
        "As gap_a, with reference sets in the box of the principal components.",
        "B + 1 times K-means for each K.",
        "Tibshirani, Walther, Hastie (2001)",
    ),
    "bic": Method(
        "BIC of Gaussian mixtures",
        r"-2 \log L + m \log N",
        "m is the number of free parameters. Counts components of a density, not clusters.",
        "A mixture for each K.",
        "Schwarz (1978); Fraley and Raftery (2002)",
    ),
    "x_means": Method(
        "X-means",
        r"\log L - \frac{m}{2} \log N",
        "Splits a cluster in two if that raises the BIC of spherical Gaussians.",
        "Two-means on each cluster, repeated.",
        "Pelleg and Moore (2000)",
    ),
    "g_means": Method(
        "G-means",
        r"A^2_* > 1.8692",
        "Splits a cluster if its points fail the Anderson-Darling test of normality.",
        "Two-means on each cluster, repeated.",
        "Hamerly and Elkan (2003)",
    ),
    "hennig": Method(
        "Hennig",
        r"\frac{1}{K} \sum_k \frac{1}{B} \sum_b \max_l J(C_k, D_{bl})",
        "J is the Jaccard similarity to the clusters of a bootstrap sample.",
        "B times K-means for each K.",
        "Hennig (2007)",
    ),
    "lange": Method(
        "Lange",
        r"\frac{\text{instability of halves}}{\text{instability of random labels}}",
        "Clusters two halves, carries labels over by nearest neighbors, and compares.",
        "40 times K-means on half of the rows for each K.",
        "Lange, Roth, Braun, Buhmann (2004)",
    ),
    "ben_hur": Method(
        "Ben-Hur",
        r"P(\text{similarity of two subsamples} > 0.9)",
        "The answer is the K before the largest drop.",
        "200 times K-means on 80% of the rows for each K.",
        "Ben-Hur, Elisseeff, Guyon (2002)",
    ),
    "hofmeyr": Method(
        "Hofmeyr",
        r"N p \log \mathrm{WGSS}(K) + \log(N p)\, \mathrm{edf}(K)",
        "A BIC with effective degrees of freedom. The first local minimum is the answer.",
        INDEX,
        "Hofmeyr (2020)",
    ),
    "special_k": Method(
        "SpecialK",
        r"\log m - \frac{t^2}{2 (n \sigma^2 + t / 3)} \le \log \alpha",
        "Finds clusters in a spectral embedding, until a bound no longer keeps two of them apart.",
        "200 eigenvectors of a graph, then K-means on them.",
        "Hess and Duivesteijn (2019)",
    ),
}

PAGE = """# {title}

`select_k(X, method="{name}")`, class `{cls}`.

$$
{formula}
$$

{words}

**Where it is right**

```{{eval-rst}}
.. plot::
   :context: reset
   :alt: A data set on which {name} finds the true number of clusters, and its scores.

   from method_pictures import draw_win

   draw_win("{name}")
```

**Where it is wrong**

```{{eval-rst}}
.. plot::
   :context: close-figs
   :alt: A data set on which {name} does not find the true number of clusters.

   from method_pictures import draw_failure

   draw_failure("{name}")
```

The pictures are the first of a fixed list of data sets on which the method is right, and wrong
(`docs/_ext/method_pictures.py`).

**Cost.** {cost}

**Source.** {source}.

[All methods](../methods.md) has the exact definition, the defaults and the special cases.
"""


def write_pages(app: Sphinx) -> None:
    """Write a page for each selector; a missing row of the table is an error."""
    folder = Path(app.srcdir) / "methods"
    folder.mkdir(exist_ok=True)
    for name, selector in SELECTORS.items():
        page = PAGE.format(name=name, cls=selector.__name__, **METHODS[name]._asdict())
        (folder / f"{name}.md").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before they are read."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
