"""K-means: restarts race in kernels, and the nearest reference center labels noisy points.

- `engine` has the engine and the check of the clusterer.
- `similarities` measures groups of points, extended or refitted.
- `fits` runs many fits by few calls of the kernels in `stablek.kernels.kmeans`.

Only `engine` is imported here: the others load numba.
"""

from stablek.engines.kmeans.engine import KMeansEngine, unsupported

__all__ = ["KMeansEngine", "unsupported"]
