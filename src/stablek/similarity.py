"""Similarities of two partitions, from their contingency table. Higher is more alike.

Every named similarity except ``ami`` and ``matching`` is a function of seven sums over the table,
its `Agreement`. Fast engines compute these sums in kernels, without a call of Python for each
comparison. The definitions are the external criteria of clusterCrit (Desgraupes, 2013). The
adjusted Rand index and normalized mutual information are those of scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.special import xlogy

from stablek.suggesting import did_you_mean

__all__ = ["SIMILARITIES", "Agreement", "Similarity", "compare_labels", "resolve_similarity"]

Floats = NDArray[np.float64]


class Agreement(NamedTuple):
    """Sums over contingency tables. All arrays have one shape, with one entry per comparison.

    Parameters
    ----------
    n : ndarray
        Number of points.
    pairs, pairs_first, pairs_second : ndarray
        Number of pairs of points that are together in both partitions, the first, the second.
    log, log_first, log_second : ndarray
        Sum of n log n over the cells, the row sums, the column sums.
    """

    n: Floats
    pairs: Floats
    pairs_first: Floats
    pairs_second: Floats
    log: Floats
    log_first: Floats
    log_second: Floats

    @classmethod
    def of_table(cls, table: NDArray[Any]) -> Agreement:
        """Sums of one table, or of a stack of tables of shape (..., rows, columns)."""
        cells = np.asarray(table, dtype=np.float64)
        first, second = cells.sum(axis=-1), cells.sum(axis=-2)
        return cls(
            first.sum(axis=-1),
            _pairs(cells).sum(axis=(-2, -1)),
            _pairs(first).sum(axis=-1),
            _pairs(second).sum(axis=-1),
            xlogy(cells, cells).sum(axis=(-2, -1)),
            xlogy(first, first).sum(axis=-1),
            xlogy(second, second).sum(axis=-1),
        )


def _pairs(counts: Floats) -> Floats:
    return counts * (counts - 1.0) / 2.0


def contingency(first: ArrayLike, second: ArrayLike) -> NDArray[np.int64]:
    """Contingency table of two label arrays. Labels may be any integers.

    Examples
    --------
    >>> contingency([0, 0, 1, 1], [5, 5, 5, -1])
    array([[0, 2],
           [1, 1]])
    """
    rows, columns = (np.unique(np.asarray(each), return_inverse=True) for each in (first, second))
    return count_table(rows[1], columns[1], len(rows[0]), len(columns[0]))


def count_table(
    first: NDArray[Any], second: NDArray[Any], n_first: int, n_second: int
) -> NDArray[np.int64]:
    """Contingency table of labels that count from 0, some of which may not occur."""
    counts = np.bincount(first * n_second + second, minlength=n_first * n_second)
    return counts.reshape(n_first, n_second)


def matched_share(table: NDArray[Any]) -> float:
    """Share of points in matched clusters, under the best one-to-one matching of a table."""
    return float(table[linear_sum_assignment(table, maximize=True)].sum() / table.sum())


def _ratio(numerator: Floats, denominator: Floats, identical: Any) -> Floats:
    """Quotient. Where it is 0/0: 1 for identical partitions, 0 for others."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    empty = denominator == 0.0
    with np.errstate(all="ignore"):
        value = numerator / np.where(empty, 1.0, denominator)
    return np.where(empty, np.where(identical, 1.0, 0.0), value)


class _Pairs(NamedTuple):
    """Pair counts: together in both, in the first only, in the second only, in neither."""

    yy: Floats
    yn: Floats
    ny: Floats
    nn: Floats
    total: Floats
    same: Any

    @classmethod
    def of(cls, a: Agreement) -> _Pairs:
        total = _pairs(a.n)
        yn, ny = a.pairs_first - a.pairs, a.pairs_second - a.pairs
        return cls(a.pairs, yn, ny, total - a.pairs - yn - ny, total, (yn == 0) & (ny == 0))


def _on_pairs(formula: Callable[[_Pairs], Floats]) -> Callable[[Agreement], Floats]:
    return lambda agreement: formula(_Pairs.of(agreement))


def _ari(p: _Pairs) -> Floats:
    return _ratio(
        2.0 * (p.yy * p.nn - p.yn * p.ny),
        (p.yy + p.yn) * (p.yn + p.nn) + (p.yy + p.ny) * (p.ny + p.nn),
        p.same,
    )


def _precision(p: _Pairs) -> Floats:
    return _ratio(p.yy, p.yy + p.ny, p.same)


def _recall(p: _Pairs) -> Floats:
    return _ratio(p.yy, p.yy + p.yn, p.same)


def _product(p: _Pairs) -> Floats:
    """Product of the four margins. Hubert's gamma has its square root as denominator."""
    return (p.yy + p.yn) * (p.yy + p.ny) * (p.nn + p.yn) * (p.nn + p.ny)


def _hubert(p: _Pairs) -> Floats:
    # Equal to (T yy - (yy+yn)(yy+ny)) / root, without its cancellation.
    return _ratio(p.yy * p.nn - p.yn * p.ny, np.sqrt(_product(p)), p.same)


def _mcnemar(p: _Pairs) -> Floats:
    with np.errstate(all="ignore"):
        value = -np.abs(p.yn - p.ny) / np.sqrt(p.yn + p.ny)
    return np.where(p.same, 0.0, value)


def _entropies(a: Agreement) -> tuple[Floats, Floats, Floats]:
    """Mutual information and the two entropies, in nats."""
    n = np.maximum(a.n, 1.0)
    first = np.maximum(np.log(n) - a.log_first / n, 0.0)
    second = np.maximum(np.log(n) - a.log_second / n, 0.0)
    mutual = np.log(n) + (a.log - a.log_first - a.log_second) / n
    return np.clip(mutual, 0.0, np.minimum(first, second)), first, second


def _nmi(a: Agreement) -> Floats:
    mutual, first, second = _entropies(a)
    value = _ratio(2.0 * mutual, first + second, True)
    # Identical partitions give exactly 1, in spite of rounding in the logarithms.
    same = (a.pairs == a.pairs_first) & (a.pairs == a.pairs_second)
    return np.where(same, 1.0, value)


def _variation_of_information(a: Agreement) -> Floats:
    mutual, first, second = _entropies(a)
    same = (a.pairs == a.pairs_first) & (a.pairs == a.pairs_second)
    return np.where(same, 0.0, -(first + second - 2.0 * mutual))


def _ami(first: NDArray[Any], second: NDArray[Any]) -> float:
    from sklearn.metrics import adjusted_mutual_info_score

    return float(adjusted_mutual_info_score(first, second))


def _matching(first: NDArray[Any], second: NDArray[Any]) -> float:
    return matched_share(contingency(first, second))


@dataclass(frozen=True)
class Similarity:
    """A similarity of partitions. Higher is more alike.

    Parameters
    ----------
    name : str
        Registry name.
    of_agreement : callable or None
        Vectorized function of an `Agreement`. None if the similarity needs more than its sums.
    of_labels : callable or None
        Function of two label arrays, for similarities without ``of_agreement``.
    symmetric : bool
        Whether the order of the two partitions has no effect.
    identical_is_one : bool
        Whether two identical partitions always give 1.
    """

    name: str
    of_agreement: Callable[[Agreement], Floats] | None = None
    of_labels: Callable[[NDArray[Any], NDArray[Any]], float] | None = None
    symmetric: bool = True
    identical_is_one: bool = True

    def __reduce__(self) -> tuple[Any, ...]:
        # Formulas are lambdas, which cannot be pickled: registered ones go by their names.
        if SIMILARITIES.get(self.name) is self:
            return resolve_similarity, (self.name,)
        return Similarity, tuple(getattr(self, field.name) for field in fields(self))

    def __call__(self, first: ArrayLike, second: ArrayLike) -> float:
        """Similarity of two label arrays of the same points."""
        a, b = np.asarray(first), np.asarray(second)
        if self.of_agreement is not None:
            return float(self.of_agreement(Agreement.of_table(contingency(a, b))))
        assert self.of_labels is not None
        value = float(self.of_labels(a, b))
        if not np.isfinite(value):
            raise ValueError(f"similarity {self.name!r} returned {value!r}; it must be finite")
        return value


SIMILARITIES: dict[str, Similarity] = {
    measure.name: measure
    for measure in (
        Similarity("ari", _on_pairs(_ari)),
        Similarity("nmi", _nmi),
        Similarity("rand", _on_pairs(lambda p: _ratio(p.yy + p.nn, p.total, True))),
        Similarity("jaccard", _on_pairs(lambda p: _ratio(p.yy, p.yy + p.yn + p.ny, p.same))),
        Similarity(
            "fowlkes_mallows",
            _on_pairs(lambda p: _ratio(p.yy, np.sqrt((p.yy + p.yn) * (p.yy + p.ny)), p.same)),
        ),
        Similarity("precision", _on_pairs(_precision), symmetric=False),
        Similarity("recall", _on_pairs(_recall), symmetric=False),
        Similarity(
            "czekanowski_dice",
            _on_pairs(lambda p: _ratio(2.0 * p.yy, 2.0 * p.yy + p.yn + p.ny, p.same)),
        ),
        Similarity("kulczynski", _on_pairs(lambda p: (_precision(p) + _recall(p)) / 2.0)),
        Similarity(
            "rogers_tanimoto",
            _on_pairs(lambda p: _ratio(p.yy + p.nn, p.yy + p.nn + 2.0 * (p.yn + p.ny), True)),
        ),
        Similarity(
            "sokal_sneath_1", _on_pairs(lambda p: _ratio(p.yy, p.yy + 2.0 * (p.yn + p.ny), p.same))
        ),
        Similarity(
            "sokal_sneath_2",
            _on_pairs(lambda p: _ratio(p.yy + p.nn, p.yy + p.nn + 0.5 * (p.yn + p.ny), True)),
        ),
        Similarity(
            "russel_rao", _on_pairs(lambda p: _ratio(p.yy, p.total, True)), identical_is_one=False
        ),
        Similarity("hubert", _on_pairs(_hubert)),
        Similarity(
            "phi",
            _on_pairs(lambda p: _ratio(p.yy * p.nn - p.yn * p.ny, _product(p), p.same)),
            identical_is_one=False,
        ),
        Similarity("mcnemar", _on_pairs(_mcnemar), symmetric=False, identical_is_one=False),
        # Above: ARI, NMI and clusterCrit's fourteen criteria. Below: others.
        Similarity("v_measure", _nmi),
        Similarity("variation_of_information", _variation_of_information, identical_is_one=False),
        Similarity("ami", of_labels=_ami),
        Similarity("matching", of_labels=_matching),
    )
}


def resolve_similarity(similarity: str | Callable[..., float]) -> Similarity:
    """Similarity with a given name, or one that calls ``similarity(labels, perturbed_labels)``.

    Examples
    --------
    >>> resolve_similarity("jaccard")([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    if callable(similarity):
        name = getattr(similarity, "__name__", "callable")
        return Similarity(name, of_labels=similarity)
    if isinstance(similarity, str) and similarity in SIMILARITIES:
        return SIMILARITIES[similarity]
    raise ValueError(
        f"similarity must be one of {sorted(SIMILARITIES)} or a callable, got "
        f"{similarity!r}{did_you_mean(similarity, SIMILARITIES)}"
    )


def compare_labels(first: ArrayLike, second: ArrayLike, similarity: str = "ari") -> float:
    """Similarity of two label arrays of the same points.

    Examples
    --------
    >>> round(compare_labels([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.5714
    """
    a, b = np.asarray(first), np.asarray(second)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(
            f"first and second must be 1-D label arrays of equal length, "
            f"got shapes {a.shape} and {b.shape}"
        )
    return resolve_similarity(similarity)(a, b)
