"""Write one page for each method: formula, pictures, cost, source. The table is METHODS."""

import csv
from pathlib import Path
from typing import NamedTuple

from sphinx.application import Sphinx

from stablek.selectors import SELECTORS

TABLES = Path(__file__).parents[2] / "study" / "results" / "tables"
STUDY_NAMES = {
    "gap_a": "Gap statistic (A)",
    "gap_b": "Gap statistic (B)",
    "bic": "BIC",
}
"""Names in the study's tables, where they are not the titles below."""


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

GAP_SOURCE = (
    "Tibshirani, Walther, Hastie (2001), [*Estimating the number of clusters in a data "
    "set via the gap statistic*](https://doi.org/10.1111/1467-9868.00293), Journal of the "
    "Royal Statistical Society B 63(2)"
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
        "Mourer, Forest, Lebbah, Azzag, Lacaille (2023), *Selecting the number of clusters K "
        "with a stability trade-off: an internal validation criterion*, "
        "[arXiv:2006.08530](https://arxiv.org/abs/2006.08530)",
    ),
    "wemmert_gancarski": Method(
        "Wemmert-Gançarski",
        r"\frac{1}{N} \sum_k \max\left(0,\; n_k - \sum_{i \in C_k} R_i\right), \quad "
        r"R_i = \frac{d(x_i, g_k)}{\min_{l \neq k} d(x_i, g_l)}",
        "Points shall be much nearer to their own mean than to any other. In our study the best "
        "of the indices.",
        INDEX,
        "Wemmert, Gançarski, Korczak (2000), *A collaborative approach to combine multiple "
        "learning methods*, International Journal on Artificial Intelligence Tools 9(1)",
    ),
    "silhouette": Method(
        "Silhouette",
        r"\frac{1}{N} \sum_i \frac{b_i - a_i}{\max(a_i, b_i)}",
        "$a_i$ is the mean distance to the other points of the cluster, $b_i$ the smallest mean "
        "distance to another cluster.",
        PAIRS,
        "Rousseeuw (1987), [*Silhouettes: a graphical aid to the interpretation and "
        "validation of cluster analysis*](https://doi.org/10.1016/0377-0427(87)90125-7), "
        "Journal of Computational and Applied Mathematics 20",
    ),
    "davies_bouldin": Method(
        "Davies-Bouldin",
        r"\frac{1}{K} \sum_k \max_{l \neq k} \frac{\delta_k + \delta_l}{d(g_k, g_l)}",
        r"$\delta_k$ is the mean distance to the mean. Lower is better.",
        INDEX,
        "Davies and Bouldin (1979), [*A cluster separation "
        "measure*](https://doi.org/10.1109/TPAMI.1979.4766909), IEEE Transactions on Pattern "
        "Analysis and Machine Intelligence 1(2)",
    ),
    "ray_turi": Method(
        "Ray-Turi",
        r"\frac{\mathrm{WGSS} / N}{\min_{k < l} d(g_k, g_l)^2}",
        "Scatter inside, divided by the distance of the two nearest means. Lower is better.",
        INDEX,
        "Ray and Turi (1999), *Determination of number of clusters in K-means clustering and "
        "application in colour image segmentation*, 4th International Conference on Advances "
        "in Pattern Recognition and Digital Techniques",
    ),
    "calinski_harabasz": Method(
        "Calinski-Harabasz",
        r"\frac{\mathrm{BGSS} / (K - 1)}{\mathrm{WGSS} / (N - K)}",
        "The variance ratio: scatter between the clusters over scatter inside.",
        INDEX,
        "Caliński and Harabasz (1974), [*A dendrite method for cluster "
        "analysis*](https://doi.org/10.1080/03610927408827101), Communications in Statistics "
        "3(1)",
    ),
    "dunn": Method(
        "Dunn",
        r"\frac{\min \text{ distance between clusters}}{\max \text{ distance inside a cluster}}",
        "Two single pairs of points decide, so one outlier can change the answer.",
        PAIRS,
        "Dunn (1974), [*Well-separated clusters and optimal fuzzy "
        "partitions*](https://doi.org/10.1080/01969727408546059), Journal of Cybernetics 4(1)",
    ),
    "xie_beni": Method(
        "Xie-Beni",
        r"\frac{\mathrm{WGSS} / N}{(\min \text{ distance between clusters})^2}",
        "Scatter inside, divided by the smallest gap between points. Lower is better.",
        PAIRS,
        "Xie and Beni (1991), [*A validity measure for fuzzy "
        "clustering*](https://doi.org/10.1109/34.85677), IEEE Transactions on Pattern "
        "Analysis and Machine Intelligence 13(8)",
    ),
    "elbow": Method(
        "Elbow",
        r"\frac{W_{\max} - W_K}{W_{\max} - W_{\min}} - \frac{K - K_{\min}}{K_{\max} - K_{\min}}",
        "How far the inertia $W_K$ lies below the line between its ends, by the rule of Kneedle.",
        "K-means for each K, and nothing else.",
        'Satopää, Albrecht, Irwin, Raghavan (2011), [*Finding a "Kneedle" in a haystack: '
        "detecting knee points in system behavior*](https://doi.org/10.1109/ICDCSW.2011.20), "
        "ICDCS Workshops",
    ),
    "gap_a": Method(
        "Gap statistic, uniform in the range of each feature",
        r"\frac{1}{B} \sum_b \log W^*_{bK} - \log W_K",
        "Compares the scatter with that of B reference sets without clusters.",
        "B + 1 times K-means for each K.",
        GAP_SOURCE,
    ),
    "gap_b": Method(
        "Gap statistic, uniform along principal components",
        r"\frac{1}{B} \sum_b \log W^*_{bK} - \log W_K",
        "As gap_a, with reference sets in the box of the principal components.",
        "B + 1 times K-means for each K.",
        GAP_SOURCE,
    ),
    "bic": Method(
        "BIC of Gaussian mixtures",
        r"-2 \log L + m \log N",
        "m is the number of free parameters. Counts components of a density, not clusters.",
        "A mixture for each K.",
        "Schwarz (1978), [*Estimating the dimension of a "
        "model*](https://doi.org/10.1214/aos/1176344136), Annals of Statistics 6(2); Fraley "
        "and Raftery (2002), [*Model-based clustering, discriminant analysis, and density "
        "estimation*](https://doi.org/10.1198/016214502760047131), Journal of the American "
        "Statistical Association 97(458)",
    ),
    "x_means": Method(
        "X-means",
        r"\log L - \frac{m}{2} \log N",
        "Splits a cluster in two if that raises the BIC of spherical Gaussians.",
        "Two-means on each cluster, repeated.",
        "Pelleg and Moore (2000), *X-means: extending K-means with efficient estimation of "
        "the number of clusters*, 17th International Conference on Machine Learning",
    ),
    "g_means": Method(
        "G-means",
        r"A^2_* > 1.8692",
        "Splits a cluster if its points fail the Anderson-Darling test of normality.",
        "Two-means on each cluster, repeated.",
        "Hamerly and Elkan (2003), *Learning the k in k-means*, Advances in Neural "
        "Information Processing Systems 16",
    ),
    "hennig": Method(
        "Hennig",
        r"\frac{1}{K} \sum_k \frac{1}{B} \sum_b \max_l J(C_k, D_{bl})",
        "J is the Jaccard similarity to the clusters of a bootstrap sample.",
        "B times K-means for each K.",
        "Hennig (2007), [*Cluster-wise assessment of cluster "
        "stability*](https://doi.org/10.1016/j.csda.2006.11.025), Computational Statistics "
        "and Data Analysis 52(1)",
    ),
    "lange": Method(
        "Lange",
        r"\frac{\text{instability of halves}}{\text{instability of random labels}}",
        "Clusters two halves, carries labels over by nearest neighbors, and compares.",
        "40 times K-means on half of the rows for each K.",
        "Lange, Roth, Braun, Buhmann (2004), [*Stability-based validation of clustering "
        "solutions*](https://doi.org/10.1162/089976604773717621), Neural Computation 16(6)",
    ),
    "ben_hur": Method(
        "Ben-Hur",
        r"P(\text{similarity of two subsamples} > 0.9)",
        "The answer is the K before the largest drop.",
        "200 times K-means on 80% of the rows for each K.",
        "Ben-Hur, Elisseeff, Guyon (2002), *A stability based method for discovering "
        "structure in clustered data*, Pacific Symposium on Biocomputing 7",
    ),
    "hofmeyr": Method(
        "Hofmeyr",
        r"N p \log \mathrm{WGSS}(K) + \log(N p)\, \mathrm{edf}(K)",
        "A BIC with effective degrees of freedom. The first local minimum is the answer.",
        INDEX,
        "Hofmeyr (2020), *Degrees of freedom and model selection for k-means clustering*, "
        "Computational Statistics and Data Analysis 149",
    ),
    "special_k": Method(
        "SpecialK",
        r"\log m - \frac{t^2}{2 (n \sigma^2 + t / 3)} \le \log \alpha",
        "Finds clusters in a spectral embedding, until a bound no longer keeps two of them apart.",
        "200 eigenvectors of a graph, then K-means on them.",
        "Hess and Duivesteijn (2019), *k is the magic number: inferring the number of "
        "clusters through nonparametric concentration inequalities*, ECML PKDD",
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
   :include-source: false
   :alt: A data set on which {name} finds the true number of clusters, and its scores.

   from method_pictures import draw_win

   draw_win("{name}")
```

**Where it is wrong**

```{{eval-rst}}
.. plot::
   :context: close-figs
   :include-source: false
   :alt: A data set on which {name} does not find the true number of clusters.

   from method_pictures import draw_failure

   draw_failure("{name}")
```

The pictures are the first of a fixed list of data sets on which the method is right, and wrong
(`docs/_ext/method_pictures.py`).

**Cost.** {cost}{study}

**Reference.** {source}.

[All methods](../methods.md) has the exact definition, the defaults and the special cases.
"""


def in_the_study(name: str, title: str) -> str:
    """What the study measured of a method, as a paragraph; empty if it left the method out."""
    algorithm, table = ("Gaussian mixtures", "gmm") if name == "bic" else ("K-means", "kmeans")
    row = rows_of(f"table1_{table}.csv").get(STUDY_NAMES.get(name, title))
    if name == "stadion":  # the default, and not one of the paper's versions
        default = rows_of("table1_default.csv")["Stadion-max (default of stablek)"]
        wins, cost = default["wins by seed"].split(",")[0], ""
    elif row is None:
        return ""
    else:
        wins, cost = row["wins, ours"], f", in {row['seconds']} s each (median, K from 1 to 60)"
    return (
        f"\n\n**In the study.** It found the true K on {wins} data sets with the partitions of "
        f"{algorithm}{cost}. [The full table](../study/table1.md) has all methods."
    )


def rows_of(table: str) -> dict[str, dict[str, str]]:
    """Rows of a table of the study, the first of each method."""
    text = (TABLES / table).read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {}
    for row in csv.DictReader(text.splitlines()):
        found.setdefault(row["method"], row)
    return found


def write_pages(app: Sphinx) -> None:
    """Write a page for each selector; a missing row of the table is an error."""
    folder = Path(app.srcdir) / "methods"
    folder.mkdir(exist_ok=True)
    for name, selector in SELECTORS.items():
        method = METHODS[name]
        fields = {"cls": selector.__name__, "study": in_the_study(name, method.title)}
        page = PAGE.format(name=name, **fields, **method._asdict())
        (folder / f"{name}.md").write_text(page, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages before they are read."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
