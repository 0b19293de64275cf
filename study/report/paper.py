"""Numbers and statements of the paper (Mourer et al., 2023) and of its supplement."""

from __future__ import annotations

ALGORITHMS = {
    "kmeans": "K-means",
    "ward": "Ward",
    "gmm": "GMM",
    "gmm_best": "GMM from the best of 35 K-means",
    "gmm_svd": "GMM from the SVD hierarchy",
}

# Table 1: (average rank of the ARI, wins) by method and algorithm.
TABLE1: dict[str, dict[str, tuple[float, int]]] = {
    "oracle": {"kmeans": (8.11, 73), "ward": (4.77, 73), "gmm": (5.05, 73)},
    "stadion_max": {"kmeans": (7.46, 50), "ward": (5.25, 54)},
    "stadion_mean": {"kmeans": (7.70, 51), "ward": (5.80, 49)},
    "stadion_max_extended": {"kmeans": (7.58, 56), "gmm": (5.59, 56)},
    "stadion_mean_extended": {"kmeans": (8.09, 48), "gmm": (6.79, 43)},
    "bic": {"gmm": (6.45, 48)},
    "wemmert_gancarski": {"kmeans": (8.33, 53), "ward": (5.40, 54), "gmm": (5.77, 52)},
    "silhouette": {"kmeans": (9.55, 46), "ward": (6.47, 45), "gmm": (7.01, 45)},
    "lange": {"kmeans": (10.18, 45), "ward": (6.53, 51), "gmm": (6.99, 48)},
    "davies_bouldin": {"kmeans": (10.21, 40), "ward": (6.45, 41), "gmm": (7.29, 34)},
    "ray_turi": {"kmeans": (10.28, 37), "ward": (6.97, 40), "gmm": (7.68, 33)},
    "hennig": {"kmeans": (10.72, 37)},
    "calinski_harabasz": {"kmeans": (11.44, 41), "ward": (7.14, 39), "gmm": (7.43, 37)},
    "gap_b": {"kmeans": (11.49, 29)},
    "x_means": {"kmeans": (11.56, 28)},
    "dunn": {"kmeans": (13.09, 26), "ward": (7.77, 33), "gmm": (7.92, 34)},
    "hofmeyr": {"kmeans": (13.20, 30)},
    "xie_beni": {"kmeans": (13.30, 22), "ward": (7.61, 34), "gmm": (8.19, 28)},
    "gap_a": {"kmeans": (13.57, 26)},
    "g_means": {"kmeans": (13.74, 24)},
    "ben_hur": {"kmeans": (14.34, 20), "ward": (7.86, 31), "gmm": (8.85, 28)},
    "special_k": {"kmeans": (17.07, 19)},
}
SPECIAL_K_FAILURES = 11


def column(algorithm: str) -> str:
    """The paper's column for an algorithm. All starts of GMM share one column."""
    return algorithm.partition("_")[0]


TITLES = {
    "oracle": "K* (oracle)",
    "stadion_max": "Stadion-max",
    "stadion_mean": "Stadion-mean",
    "stadion_max_extended": "Stadion-max (extended)",
    "stadion_mean_extended": "Stadion-mean (extended)",
    "stadion_max_extended_sqrt": "Stadion-max (extended), even levels to √p",
    "stadion_mean_extended_sqrt": "Stadion-mean (extended), even levels to √p",
    "stadion_max_extended_noise": "Stadion-max (extended), knows the noise",
    "stadion_mean_extended_noise": "Stadion-mean (extended), knows the noise",
    "stadion_max_default": "Stadion-max (default of stablek)",
    "stadion_mean_default": "Stadion-mean (default of stablek)",
    "stadion_max_sqrt": "Stadion-max, even levels to √p",
    "stadion_mean_sqrt": "Stadion-mean, even levels to √p",
    "bic": "BIC",
    "wemmert_gancarski": "Wemmert-Gançarski",
    "silhouette": "Silhouette",
    "silhouette_micro": "Silhouette, mean over points",
    "lange": "Lange",
    "davies_bouldin": "Davies-Bouldin",
    "ray_turi": "Ray-Turi",
    "hennig": "Hennig",
    "hennig_min": "Hennig, weakest cluster",
    "hennig_stable": "Hennig, largest K all of whose clusters reach 0.75",
    "calinski_harabasz": "Calinski-Harabasz",
    "gap_a": "Gap statistic (A)",
    "gap_b": "Gap statistic (B)",
    "x_means": "X-means",
    "x_means_original": "X-means, formula as printed",
    "dunn": "Dunn",
    "hofmeyr": "Hofmeyr",
    "hofmeyr_raw": "Hofmeyr, no smoothing",
    "xie_beni": "Xie-Beni",
    "g_means": "G-means",
    "g_means_0.01": "G-means, level 0.01",
    "ben_hur": "Ben-Hur",
    "special_k": "SpecialK",
    "special_k_neighbors": "SpecialK, nearest-neighbor graph",
}


def title(method: str) -> str:
    """Name of a method for tables and figures."""
    if method in TITLES:
        return TITLES[method]
    if method.startswith("gap_"):
        name, _, rest = method.removeprefix("gap_").partition("_")
        power = ", squared distances" if rest.startswith("power2") else ""
        rule = rest.removeprefix("power2").removeprefix("_")
        return f"Gap statistic ({name.upper()}){power}" + (f", {rule}" if rule else "")
    return method


# Supplement: K on the five data sets without clusters.
UNCLUSTERED_K = 1

# Supplement: ARI of K-means on 4clusters_corner by K. Stadion ranks the K in the same order.
CORNER_ARI = {1: 0.00, 2: 0.74, 3: 0.92, 4: 0.58, 5: 0.65}
CORNER_SIGNS = {  # K: StabB, StabW, Stadion
    1: ("++", "--", "0"),
    2: ("++", "-", "+"),
    3: ("++", "+", "+++"),
    4: ("--", "+", "-"),
    5: ("--", "++", "0"),
}

# Supplement, correlated Gaussians: the best K, and the second best K where the paper gives it.
CORRELATED = {
    "stadion": (2, None),
    "stadion_bootstrap": (1, 4),
    "ben_hur": (6, 4),
    "lange": (4, 6),
}

# Supplement: whether Friedman's test found differences, by (algorithm, aggregation, noise).
FRIEDMAN_D = {
    (algorithm, aggregation, noise): algorithm == "gmm" and aggregation == "max"
    for algorithm in ("kmeans", "ward", "gmm")
    for aggregation in ("max", "mean")
    for noise in ("uniform", "gaussian")
}
FRIEDMAN_OMEGA = {
    ("kmeans", "max", "uniform"): True,
    ("kmeans", "max", "gaussian"): True,
    ("kmeans", "mean", "uniform"): False,
    ("kmeans", "mean", "gaussian"): True,
    ("ward", "max", "uniform"): True,
    ("ward", "max", "gaussian"): False,
    ("ward", "mean", "uniform"): True,
    ("ward", "mean", "gaussian"): True,
    ("gmm", "max", "uniform"): True,
    ("gmm", "max", "gaussian"): True,
    ("gmm", "mean", "uniform"): False,
    ("gmm", "mean", "gaussian"): False,
}

# Supplement: exponents of the time of standard Stadion with K-means and ARI.
COMPLEXITY = {"N": 1, "K": 1, "K'": 2, "D": 1, "M": 1}
