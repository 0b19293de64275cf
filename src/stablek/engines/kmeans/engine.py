"""The K-means engine, and the check whether it honors all settings of a clusterer."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans

from stablek import seeding
from stablek.blocks import blocks, rows_per_block
from stablek.engines.base import Setting
from stablek.engines.copies import relabeled_copies, similarities_of_copies
from stablek.kernels.kmeans import ways
from stablek.kernels.kmeans.records import KMeansParameters
from stablek.results import Group, Partition, Request
from stablek.similarity import Agreement

__all__ = ["KMeansEngine", "unsupported"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SWAPS = 3  # rounds in which centers of the best restart are swapped
_POLISH = 2  # passes in which single points of a refit move


def unsupported(clusterer: Any) -> str | None:
    """Why the engine cannot replace the clusterer; None if it can.

    Examples
    --------
    >>> unsupported(KMeans(init="random", algorithm="elkan"))
    >>> unsupported(KMeans(init=[[0.0], [1.0]]))
    "init is not 'k-means++' or 'random'"
    """
    if type(clusterer) is not KMeans:
        return f"{type(clusterer).__name__} is not KMeans"
    init, n_init, seed = clusterer.init, clusterer.n_init, clusterer.random_state
    if not isinstance(init, str) or init not in ("k-means++", "random"):
        return "init is not 'k-means++' or 'random'"
    if n_init != "auto" and not _is_count(n_init):
        return f"n_init={n_init!r} is not 'auto' or a positive int"
    if not _is_count(clusterer.max_iter):
        return f"max_iter={clusterer.max_iter!r} is not a positive int"
    if not isinstance(clusterer.tol, numbers.Real) or not 0.0 <= float(clusterer.tol) < np.inf:
        return f"tol={clusterer.tol!r} is not a finite non-negative number"
    if clusterer.algorithm not in ("lloyd", "elkan"):
        return f"algorithm={clusterer.algorithm!r} is not 'lloyd' or 'elkan'"
    if seed is not None and not isinstance(seed, numbers.Integral):
        return f"random_state={seed!r} is not None or an int"
    if clusterer.verbose:
        return "verbose is set"
    return None


def _is_count(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= 1


class KMeansEngine:
    """Engine for `sklearn.cluster.KMeans`.

    The starts of a fit depend on the role of the fit, the draw and the points, but not on K: a fit
    with K clusters starts from the first K centers of sequences that every K shares. The model
    of a partition is its centers.

    Parameters
    ----------
    clusterer : KMeans
        A KMeans for which `unsupported` returns None.
    swap_centers : bool
        Whether the best restart is improved: copies of it in which one center was moved race
        against it. Without them, fits are as different from each other as scikit-learn's.
    """

    prefer: Literal["threads", "processes"] = "threads"
    values_are_independent = True

    def __init__(self, clusterer: Any, *, swap_centers: bool = True) -> None:
        self.clusterer = clusterer
        self.swap_centers = swap_centers

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions, with their centers as models."""
        from stablek.engines.kmeans.fits import batches

        if not requests:
            return []
        X = np.ascontiguousarray(X)
        sizes = np.array([len(X) if r.rows is None else len(r.rows) for r in requests])
        for request, size in zip(requests, sizes, strict=True):
            if request.k_values and max(request.k_values) > size:
                raise ValueError(
                    f"k_range: {max(request.k_values)} clusters are asked of {size} points; "
                    f"leave out values above the number of points"
                )
        result: list[tuple[Partition, ...]] = []
        parameters = self._parameters(X.shape[1], entropy, "reference")
        for batch in batches(sizes, X.shape[1]):
            result += _references(X, requests[batch], parameters)
        return result

    def runs(self, X: Floats, requests: Sequence[Request], seed: int) -> list[list[Ints]]:
        """Labels of ``n_init`` runs, for each request and value: arrays of shape (n_init, n)."""
        from stablek.engines.kmeans.fits import labels_of_runs

        X = np.ascontiguousarray(X)
        parameters = self._parameters(X.shape[1], seed, "runs")
        found = iter(labels_of_runs(X, _plan(X, requests), parameters))
        return [[next(found) for _ in request.k_values] for request in requests]

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) per group."""
        from stablek.engines.kmeans.similarities import extended_sums, refitted_sums

        X, epsilons = np.ascontiguousarray(X), np.ascontiguousarray(epsilons, dtype=float)
        if not any(group.partitions for group in groups):
            return [np.empty((0, len(epsilons))) for _ in groups]
        if not setting.perturbation.is_additive or setting.similarity.of_agreement is None:
            return [
                similarities_of_copies(self._labels, X, group, draw, epsilons, setting)
                for group in groups
            ]
        if setting.relabel != "refit":
            sums = extended_sums(X, groups, draw, epsilons, setting)
        else:
            parameters = self._parameters(X.shape[1], setting.entropy, "refit", draw)
            sums = refitted_sums(X, groups, draw, epsilons, setting, parameters)
        similarity = setting.similarity.of_agreement(Agreement(*np.moveaxis(sums, -1, 0)))
        return np.split(similarity, np.cumsum([len(group.partitions) for group in groups[:-1]]))

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        from stablek.engines.kmeans.similarities import extended_labels, refitted_labels

        if not setting.perturbation.is_additive:
            return relabeled_copies(self._labels, X, partition, draw, epsilons, setting)
        if setting.relabel != "refit":
            copies = extended_labels(X, partition, draw, epsilons, setting)
        else:
            parameters = self._parameters(X.shape[1], setting.entropy, "refit", draw)
            X, levels = np.ascontiguousarray(X), np.ascontiguousarray(epsilons, dtype=float)
            copies = refitted_labels(X, partition, draw, levels, setting, parameters)
        return [(None, labels) for labels in copies]

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """A fitted KMeans that has the partition's labels and centers."""
        fitted = clone(self.clusterer).set_params(n_clusters=partition.k)
        params = fitted.get_params()
        fitted.set_params(init=partition.model, n_init=1, max_iter=1, algorithm="lloyd")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # For what scikit-learn keeps beside the result; the partition replaces the result. A
            # fit of X would copy X, so the centers are the points, and warnings mean nothing.
            warnings.simplefilter("ignore")
            fitted.fit(partition.model)
        fitted.set_params(**params)
        fitted.cluster_centers_ = partition.model.copy()
        fitted.labels_ = partition.labels.astype(np.int32)
        fitted.inertia_ = _inertia(X, partition)
        return fitted

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """Nearest center of each new point, as precise far from the origin as near to it."""
        from stablek.engines.kmeans.fits import nearest_labels

        [labels] = nearest_labels(np.ascontiguousarray(X), [partition.model])
        return labels

    def bic(self, X: Floats, partition: Partition) -> None:
        """None: K-means has no likelihood."""

    def _parameters(self, n_features: int, entropy: int, *what: Any) -> KMeansParameters:
        """Parameters of the clusterer, and the seed for one role."""
        given = self.clusterer
        if given.random_state is not None:
            what = (*what, int(given.random_state))
        automatic = 1 if given.init == "k-means++" else 10
        n_init = automatic if given.n_init == "auto" else int(given.n_init)
        refit = what[0] == "refit"
        parameters = KMeansParameters(
            seed=seeding.seed(entropy, *what),
            n_init=ways.n_merged_starts(n_init) if refit else n_init,
            plus_plus=given.init == "k-means++",
            max_iter=int(given.max_iter),
            tol=float(given.tol) / n_features,
            n_rounds=_POLISH if refit else _SWAPS,
            refit=refit,
        )
        return parameters if self.swap_centers else parameters._replace(n_rounds=0)

    def _labels(
        self, noisy: Floats, partitions: Sequence[Partition], draw: int, setting: Setting
    ) -> list[Ints]:
        """Labels of perturbed points, for each reference partition."""
        from stablek.engines.kmeans.fits import FitPlan, fit, nearest_labels
        from stablek.engines.kmeans.pairs import pair_products

        noisy, name = np.ascontiguousarray(noisy), setting.perturbation.name
        n, n_features = noisy.shape
        if not np.isfinite(noisy).all():
            raise ValueError(f"perturbation {name!r} gave NaN or infinity")
        same_features = n_features == partitions[0].model.shape[1]
        if setting.relabel != "refit":
            if not same_features:
                raise ValueError(
                    f"perturbation {name!r} gave {n_features} features "
                    f"for {partitions[0].model.shape[1]}: use relabel='refit'"
                )
            return nearest_labels(noisy, [p.model for p in partitions])
        # A subsample can have fewer points than clusters: then each point is its own cluster.
        labels = [np.arange(n) for _ in partitions]
        fitted = [i for i, p in enumerate(partitions) if p.k < n]
        if fitted:
            guides = None
            # If the features are not kept, the centers are in another space.
            if setting.perturbation.keeps_features and same_features:
                guides = np.concatenate([partitions[i].model for i in fitted])
            plan = FitPlan.of_one_set(np.arange(n), [partitions[i].k for i in fitted])
            parameters = self._parameters(n_features, setting.entropy, "refit", draw)
            shared = parameters.refit and ways.shares_pairs(n, n_features)
            pairs = pair_products(noisy) if shared else None
            found, _ = fit(noisy, noisy, plan, guides, parameters, pairs).labels()
            for i, own in zip(fitted, found.reshape(len(fitted), n), strict=True):
                labels[i] = own.astype(np.intp)
        return labels


def _plan(X: Floats, requests: Sequence[Request]) -> Any:
    """The fits of requests, without noise."""
    from stablek.engines.kmeans.fits import FitPlan

    rows = [np.arange(len(X)) if r.rows is None else r.rows for r in requests]
    sizes = np.array([len(own) for own in rows])
    n_fits = [len(r.k_values) for r in requests]
    return FitPlan(
        np.concatenate(rows),
        np.cumsum(sizes) - sizes,
        sizes,
        np.zeros(len(requests)),
        np.repeat(np.arange(len(requests)), n_fits),
        np.array([k for r in requests for k in r.k_values], dtype=np.intp),
    )


def _references(
    X: Floats, requests: Sequence[Request], parameters: KMeansParameters
) -> list[tuple[Partition, ...]]:
    """Partitions of one batch of requests."""
    from stablek.engines.kmeans.fits import fit, labels_of, put_on_sphere

    plan = _plan(X, requests)
    # What `fit` returns is as large as X, and `labels_of` needs as much: it is not kept.
    centers = fit(X, X, plan, None, parameters).centers_of_points(X.shape[1])
    if parameters.spherical:
        put_on_sphere(X, plan, centers)
    labels, first_label = labels_of(X, plan, centers)
    result = []
    f = first = 0
    for request, size in zip(requests, plan.sizes, strict=True):
        partitions = []
        for k in request.k_values:
            # A cluster has many partitions, and only this engine reads their labels: few bytes.
            small: Any = np.int8 if request.rows is not None and k < 128 else np.int32
            own = labels[first_label[f] : first_label[f] + size].astype(small)
            partitions.append(Partition(k, own, centers[first : first + k].copy()))
            f, first = f + 1, first + k
        result.append(tuple(partitions))
    return result


def _inertia(X: Floats, partition: Partition) -> float:
    """Sum of squared distances to the centers, without a second copy of X."""
    total = 0.0
    with np.errstate(over="ignore"):
        for rows in blocks(len(X), rows_per_block(X.shape[1])):
            gaps = X[rows] - partition.model[partition.labels[rows]]
            total += float(np.einsum("ij,ij->", gaps, gaps))
    return total
