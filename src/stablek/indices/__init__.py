"""Internal indices: how good a partition looks, from the points and their labels alone.

Plain functions ``(X, labels) -> float``, with the definitions of clusterCrit (Desgraupes, 2013),
in memory proportional to the number of points. `index_values` gives one index for many
partitions with the shared work done once, `estimate_index` an estimate with an error bar.

Every index needs at least two clusters and fewer clusters than points; otherwise the functions
raise ValueError and `index_values` gives NaN.
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
