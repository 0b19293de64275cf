"""K-means: restarts that race in kernels, extension by the nearest reference center."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans

from stablek import seeding
from stablek.engines.base import Setting
from stablek.engines.copies import compare
from stablek.engines.packing import scaled_noise
from stablek.engines.subspace import Subspace, is_worthwhile
from stablek.perturbations import Draw, perturb
from stablek.results import Group, Partition, Request
from stablek.similarity import Agreement

__all__ = ["KMeansEngine", "unsupported"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_CELLS = 1 << 24  # of the contingency tables that are held at a time


def unsupported(clusterer: Any) -> str | None:
    """Why the engine cannot stand for the clusterer; None when it can.

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

    The starts of a fit depend on the role of the fit, the draw and the points, not on K: a fit
    of K clusters starts from the first K centers of sequences that every K shares. The models
    of the partitions are their centers.

    Parameters
    ----------
    clusterer : KMeans
        A clusterer for which `unsupported` returns None.
    challenge : bool
        Whether the best restart of a fit is challenged by copies of it in which one center was
        moved. Without, restarts are as different from each other as scikit-learn's.
    """

    prefer: Literal["threads", "processes"] = "threads"
    values_are_independent = True

    def __init__(self, clusterer: Any, *, challenge: bool = True) -> None:
        self.clusterer = clusterer
        self.challenge = challenge

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions, with their centers as models."""
        from stablek.kernels.kmeans_batches import batches

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
        subspace = Subspace.of(X) if is_worthwhile(*X.shape) else None
        points = X if subspace is None else subspace.coordinates(X)
        for start, stop in batches(sizes, points.shape[1]):
            result += self._references(X, points, subspace, requests[start:stop], entropy)
        return result

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) a group."""
        X, epsilons = np.ascontiguousarray(X), np.ascontiguousarray(epsilons, dtype=float)
        if not any(group.partitions for group in groups):
            return [np.empty((0, len(epsilons))) for _ in groups]
        if setting.perturbation.is_additive and setting.similarity.of_agreement is not None:
            if setting.relabel == "extend":
                sums = _extended(X, groups, draw, epsilons, setting)
            else:
                sums = self._refitted(X, groups, draw, epsilons, setting)
            similarity = setting.similarity.of_agreement(Agreement(*np.moveaxis(sums, -1, 0)))
            ends = np.cumsum([len(group.partitions) for group in groups])
            return np.split(similarity, ends[:-1])
        return [self._compared(X, group, draw, epsilons, setting) for group in groups]

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        if setting.perturbation.is_additive and setting.relabel == "extend":
            return [(None, labels) for labels in _relabeled(X, partition, draw, epsilons, setting)]
        source = Draw(setting.entropy, draw, len(X))
        result = []
        for epsilon in epsilons:
            noisy, rows = perturb(X, epsilon, setting.scale, source, setting.perturbation)
            [labels] = self._labels(noisy, [partition], draw, setting)
            result.append((rows, labels))
        return result

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """A fitted KMeans that has the partition's labels and centers."""
        fitted = clone(self.clusterer).set_params(n_clusters=partition.k)
        params = fitted.get_params()
        fitted.set_params(init=partition.model, n_init=1, max_iter=1, algorithm="lloyd")
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # For what scikit-learn keeps beside the result, which the partition replaces. The
            # centers are points enough, where X would be copied, and warnings mean nothing.
            warnings.simplefilter("ignore")
            fitted.fit(partition.model)
        fitted.set_params(**params)
        fitted.cluster_centers_ = partition.model.copy()
        fitted.labels_ = partition.labels.astype(np.int32)
        fitted.inertia_ = _inertia(X, partition)
        return fitted

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """Nearest center of each new point, as precise far from the origin as near to it."""
        from stablek.kernels.kmeans_batches import nearest_labels

        [labels] = nearest_labels(np.ascontiguousarray(X), [partition.model])
        return labels

    def bic(self, X: Floats, partition: Partition) -> None:
        """K-means has no likelihood."""

    def _rule(self, n_features: int, entropy: int, *what: Any) -> Any:
        """The clusterer's parameters and the seed for one role."""
        from stablek.kernels.kmeans_batches import Rule

        given = self.clusterer
        if given.random_state is not None:
            what = (*what, int(given.random_state))
        automatic = 1 if given.init == "k-means++" else 10
        rule = Rule(
            seeding.seed(entropy, *what),
            automatic if given.n_init == "auto" else int(given.n_init),
            given.init == "k-means++",
            int(given.max_iter),
            float(given.tol) / n_features,
        )
        return rule if self.challenge else rule._replace(n_challenges=0)

    def _references(
        self,
        X: Floats,
        points: Floats,
        subspace: Subspace | None,
        requests: Sequence[Request],
        entropy: int,
    ) -> list[tuple[Partition, ...]]:
        """Partitions of the points, which are X or its coordinates in a subspace."""
        from stablek.kernels.kmeans_batches import Task, fit, in_units, labels_of

        packed = _pack(X, [r.rows for r in requests], [r.k_values for r in requests])
        n_fits, sizes = np.diff(packed.parts), np.diff(packed.bounds)
        task = Task(
            packed.rows,
            packed.bounds[:-1],
            sizes,
            np.zeros(len(requests)),
            np.repeat(np.arange(len(requests)), n_fits),
            packed.ks,
        )
        rule = self._rule(X.shape[1], entropy, "reference")
        work, clouds, centers = fit(points, points, task, None, rule)
        centers = in_units(clouds, work, centers, points.shape[1])
        del clouds  # as large as X, and `labels_of` needs as much
        if subspace is not None:
            # Products are rounded by their shape: those of a fit are alone, as in any other task.
            fits = np.split(centers, np.cumsum(packed.ks)[:-1])
            centers = np.concatenate([subspace.points(own) for own in fits])
        labels, label_at = labels_of(X, task, centers)
        center_at = np.cumsum(packed.ks) - packed.ks
        result = []
        for r, request in enumerate(requests):
            partitions = []
            for value, f in zip(request.k_values, range(*packed.parts[r : r + 2]), strict=True):
                found = labels[label_at[f] : label_at[f] + sizes[r]]
                # A cluster's partitions are many, and only this engine reads their labels: they
                # are kept in few bytes.
                tiny = request.rows is not None and value < 128
                kept: Any = found.astype(np.int8 if tiny else np.int32)
                model = centers[center_at[f] : center_at[f] + value].copy()
                partitions.append(Partition(value, kept, model))
            result.append(tuple(partitions))
        return result

    def _refitted(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> Floats:
        """Sums over the contingency tables of reference and refitted labels."""
        from stablek.kernels.agreement import N_SUMS, label_sums
        from stablek.kernels.kmeans_batches import Task, batches

        noise = scaled_noise(X, draw, 0, len(X), setting)
        rule = self._rule(X.shape[1], setting.entropy, "refit", draw)
        subspace = Subspace.of(X, noise) if is_worthwhile(2 * len(X), X.shape[1]) else None
        if subspace is not None:
            X, noise = subspace.coordinates(X), noise @ subspace.axes
        n_levels, n_parts = len(epsilons), [len(group.partitions) for group in groups]
        part_at = np.cumsum([0, *n_parts])
        sums = np.empty((part_at[-1], n_levels, N_SUMS))
        sizes = np.array([len(X) if g.rows is None else len(g.rows) for g in groups])
        # A noisy copy of a group is a set of points; copies of one group are neighbors.
        copies = np.repeat(sizes, n_levels)
        for start, stop in batches(copies, X.shape[1]):
            of, level = np.divmod(np.arange(start, stop), n_levels)
            used, of = np.unique(of, return_inverse=True)
            partitions = [p for g in used for p in groups[g].partitions]
            packed = _pack_groups(X, [groups[g] for g in used])
            labels = np.concatenate([p.labels for p in partitions], dtype=np.int32)
            label_at = np.concatenate([[0], np.cumsum([len(p.labels) for p in partitions])])
            n_fits = np.diff(packed.parts)[of]
            part = _ranges(packed.parts[of], n_fits)
            ks = packed.ks[part]
            task = Task(
                packed.rows,
                packed.bounds[of],
                np.diff(packed.bounds)[of],
                epsilons[level],
                np.repeat(np.arange(len(of)), n_fits),
                ks,
            )
            models = [p.model for p in partitions]
            if subspace is not None:
                models = [subspace.coordinates(model) for model in models]
            guides = np.concatenate(models)
            guide_at = np.cumsum(packed.ks) - packed.ks
            guides = guides[_ranges(guide_at[part], ks)]
            found, found_at = _fitted_labels(X, noise, task, guides, rule)
            one = np.empty((len(ks), N_SUMS))
            n_points = np.diff(label_at)[part]
            label_sums(labels, label_at[part], ks, found, found_at, ks, n_points, one)
            out = _ranges(part_at[used[of]], n_fits)
            sums[out, np.repeat(level, n_fits)] = one
        return sums

    def _compared(
        self, X: Floats, group: Group, draw: int, epsilons: Floats, setting: Setting
    ) -> Floats:
        """Similarities of one group by way of labels: for any perturbation and similarity."""
        points = X if group.rows is None else X[group.rows]
        source = Draw(setting.entropy, draw, len(X), group.rows)
        result = np.empty((len(group.partitions), len(epsilons)))
        for e, epsilon in enumerate(epsilons):
            noisy, rows = perturb(points, epsilon, setting.scale, source, setting.perturbation)
            labels = self._labels(noisy, group.partitions, draw, setting)
            for i, partition in enumerate(group.partitions):
                result[i, e] = compare(partition.labels, labels[i], rows, setting)
        return result

    def _labels(
        self, noisy: Floats, partitions: Sequence[Partition], draw: int, setting: Setting
    ) -> list[Ints]:
        """Labels of perturbed points, for each reference partition."""
        from stablek.kernels.kmeans_batches import nearest_labels

        noisy = np.ascontiguousarray(noisy)
        if not np.isfinite(noisy).all():
            raise ValueError(f"perturbation {setting.perturbation.name!r} gave NaN or infinity")
        same_features = noisy.shape[1] == partitions[0].model.shape[1]
        if setting.relabel == "extend":
            if not same_features:
                raise ValueError(
                    f"perturbation {setting.perturbation.name!r} gave {noisy.shape[1]} features "
                    f"for {partitions[0].model.shape[1]}: use relabel='refit'"
                )
            return nearest_labels(noisy, [p.model for p in partitions])
        labels = [np.arange(len(noisy)) for _ in partitions]  # a subsample can be smaller than K
        fitted = [i for i, p in enumerate(partitions) if p.k < len(noisy)]
        if fitted:
            again = self._refit(noisy, [partitions[i] for i in fitted], draw, setting)
            for i, found in zip(fitted, again, strict=True):
                labels[i] = found
        return labels

    def _refit(
        self, noisy: Floats, partitions: list[Partition], draw: int, setting: Setting
    ) -> list[Ints]:
        from stablek.kernels.kmeans_batches import Task

        n, ks = len(noisy), np.array([p.k for p in partitions])
        task = Task(
            np.arange(n),
            np.zeros(1, dtype=np.int64),
            np.array([n]),
            np.zeros(1),
            np.zeros(len(ks), dtype=np.int64),
            ks,
        )
        guides = None
        # Where features are not kept the centers are in another space.
        width = partitions[0].model.shape[1]
        if setting.perturbation.keeps_features and noisy.shape[1] == width:
            guides = np.concatenate([p.model for p in partitions])
        rule = self._rule(noisy.shape[1], setting.entropy, "refit", draw)
        found, _ = _fitted_labels(noisy, noisy, task, guides, rule)
        return [labels.astype(np.intp) for labels in found.reshape(len(ks), n)]


class _Packed(NamedTuple):
    """Groups laid end to end: their rows, and the numbers of clusters of their partitions.

    Group g has rows ``bounds[g]`` to ``bounds[g + 1]``, partitions ``parts[g]`` to
    ``parts[g + 1]``.
    """

    rows: Ints
    bounds: Ints
    parts: Ints
    ks: Ints


def _pack(X: Floats, rows: Sequence[Ints | None], values: Sequence[Sequence[Any]]) -> _Packed:
    given = [np.arange(len(X)) if r is None else r for r in rows]
    return _Packed(
        np.concatenate(given),
        np.cumsum([0, *map(len, given)]),
        np.cumsum([0, *map(len, values)]),
        np.array([value for group in values for value in group], dtype=np.intp),
    )


def _pack_groups(X: Floats, groups: Sequence[Group]) -> _Packed:
    return _pack(X, [g.rows for g in groups], [[p.k for p in g.partitions] for g in groups])


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Numbers from each start on, as many as its count, one range after the other."""
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1])


def _fitted_labels(
    X: Floats, noise: Floats, task: Any, guides: Floats | None, rule: Any
) -> tuple[NDArray[np.int32], Ints]:
    """Labels of all fits of a task, and where those of each fit begin."""
    from stablek.kernels.kmeans_batches import fit, fit_labels

    task, clouds, centers = fit(X, noise, task, guides, rule)
    return fit_labels(clouds, task, centers)


def _extended(
    X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
) -> Floats:
    """Sums over the contingency tables of reference labels and nearest reference centers."""
    batches = _table_batches(groups, len(epsilons))
    return np.concatenate([_extended_batch(X, b, draw, epsilons, setting) for b in batches])


def _table_batches(groups: Sequence[Group], n_levels: int) -> Iterator[list[Group]]:
    """Groups in batches whose contingency tables take bounded memory; a group may be cut."""
    batch: list[Group] = []
    cells = 0
    for group in groups:
        own: list[Partition] = []
        for partition in group.partitions:
            size = n_levels * partition.k**2
            if cells and cells + size > _CELLS:
                yield [*batch, Group(group.rows, tuple(own))]
                batch, own, cells = [], [], 0
            own.append(partition)
            cells += size
        batch.append(Group(group.rows, tuple(own)))
    if cells:
        yield batch


def _extended_batch(
    X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
) -> Floats:
    from stablek.kernels.agreement import N_SUMS, table_sums
    from stablek.kernels.kmeans_batches import row_blocks
    from stablek.kernels.kmeans_extend import extend_memory, extend_tables

    n_levels = len(epsilons)
    centers = np.concatenate([p.model for group in groups for p in group.partitions])
    ks = np.array([p.k for group in groups for p in group.partitions], dtype=np.intp)
    parts = np.cumsum([0, *(len(group.partitions) for group in groups)])
    cells = n_levels * ks * ks
    table_at = np.cumsum(cells) - cells
    tables = np.zeros(int(cells.sum()), dtype=np.int32)
    memory = extend_memory(X.shape[1], int(ks.max()), n_levels)
    for start, stop in row_blocks(len(X), X.shape[1]):
        rows, labels = _rows_between(groups, start, stop)
        extend_tables(
            X,
            scaled_noise(X, draw, start, stop, setting),
            start,
            epsilons,
            np.concatenate(rows),
            np.cumsum([0, *map(len, rows)]),
            parts,
            ks,
            centers,
            np.concatenate(labels, dtype=np.int32),
            table_at,
            *memory,
            tables,
        )
    sums = np.empty((len(ks), n_levels, N_SUMS))
    table_sums(tables, table_at, ks, n_levels, sums)
    return sums


def _rows_between(groups: Sequence[Group], start: int, stop: int) -> tuple[list[Ints], list[Ints]]:
    """Rows of each group in a block of rows of X, and the labels of each partition there."""
    rows: list[Ints] = []
    labels: list[Ints] = []
    for group in groups:
        if group.rows is None:
            inside = slice(start, stop)
            rows.append(np.arange(start, stop))
        else:
            inside = slice(*np.searchsorted(group.rows, (start, stop)))
            rows.append(group.rows[inside])
        labels.extend(partition.labels[inside] for partition in group.partitions)
    return rows, labels


def _relabeled(
    X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
) -> list[Ints]:
    """Labels of noisy copies by the nearest reference center, one block of rows at a time."""
    from stablek.kernels.kmeans_batches import nearest_labels, row_blocks

    small: Any = np.int8 if partition.k < 128 else np.int32  # there are many of them
    labels = [np.empty(len(X), dtype=small) for _ in epsilons]
    for start, stop in row_blocks(len(X), X.shape[1]):
        noise = scaled_noise(X, draw, start, stop, setting)
        for level, epsilon in enumerate(epsilons):
            noisy = X[start:stop] + epsilon * noise
            [labels[level][start:stop]] = nearest_labels(noisy, [partition.model])
    return labels


def _inertia(X: Floats, partition: Partition) -> float:
    """Sum of squared distances to the centers, without a second copy of X."""
    from stablek.kernels.kmeans_batches import row_blocks

    total = 0.0
    with np.errstate(over="ignore"):
        for start, stop in row_blocks(len(X), X.shape[1]):
            gaps = X[start:stop] - partition.model[partition.labels[start:stop]]
            total += float(np.einsum("ij,ij->", gaps, gaps))
    return total
