"""Internal indices: how good a partition looks, from the points and their labels alone.

Each index is a function ``(X, labels) -> float``. The definitions are those of clusterCrit
(Desgraupes, 2013). Memory is proportional to the number of points. `index_values` computes one
index for many partitions and does the shared work once. `estimate_index` uses a sample and gives
a standard error.

Every index needs at least two clusters and fewer clusters than points. Otherwise the functions
raise ValueError, and `index_values` returns NaN.
"""

from stablek.indices.centroid import (
    calinski_harabasz,
    davies_bouldin,
    ray_turi,
    wemmert_gancarski,
)
from stablek.indices.estimate import IndexEstimate, estimate_index
from stablek.indices.registry import INDICES, Index, index_values
from stablek.indices.separation import dunn, xie_beni
from stablek.indices.silhouette import silhouette, silhouette_samples

__all__ = [
    "INDICES",
    "Index",
    "IndexEstimate",
    "calinski_harabasz",
    "davies_bouldin",
    "dunn",
    "estimate_index",
    "index_values",
    "ray_turi",
    "silhouette",
    "silhouette_samples",
    "wemmert_gancarski",
    "xie_beni",
]
