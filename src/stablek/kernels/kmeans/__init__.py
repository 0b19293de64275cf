"""K-means: many fits of many sets of points, and labels of noisy points.

Importing this package imports none of its modules. A kernel is compiled when it is first called.

Layers, from bottom to top
--------------------------
- `records`: what Python hands to the kernels: `PointSets`, `Fits`, `KMeansParameters`.
- `tiles`: points in tiles of 64, and the nearest center of each point. All arithmetic on features
  is here, so all labels come from the same rounding.
- `point_sets`: copies sets of points out of X with their noise, centers them, and labels them.
- `starts`: random numbers, and first centers by greedy k-means++ or at random.
- `race`: which restarts run on, which are dropped, which one wins, and which center is swapped.
- `boxes`, `lloyd`, `tile_race`: the race on points in tiles.
- `gram`, `gram_race`: the race on the products of all pairs of points.
- `merging`: starts of refits. More points than centers are drawn, and Ward's rule merges.
- `polish`, `tile_refit`, `gram_refit`: the race of refits, whose winner is polished.
- `extend`: labels that reference centers give to noisy points, counted for all groups and noise
  levels in one call. A score is linear in the noise level, so two scores serve all levels.
- `passes`: one step of Lloyd's algorithm on a block of rows, for `stablek.blockwise`.
- `ways`: the choice among the ways below, with all thresholds. It is plain Python.

In `stablek.engines.kmeans`, `fits` is the only caller of the races and `similarities` is the only
caller of `extend`.

One race for all ways
---------------------
scikit-learn runs every restart to its end. Here the restarts of a fit run side by side, and one
that cannot win any more is dropped. Then the winner has to hold its place against copies of it in
which one center was moved. Inertia is not worse than the best of the same number of restarts of
scikit-learn (`benchmarks/kmeans_quality.py`).

Refits are the bulk of the work of standard Stadion. Their race has few merged starts and one from
the reference centers (`ways.n_merged_starts`: 5 in place of 35). Its winner is polished: single
points move as in the algorithm of Hartigan. `benchmarks/merged_starts.py` measures what this saves
and what becomes of the inertia.

`race` and `starts` have what all ways decide alike. Each way has its own step of Lloyd's
algorithm: a shared one would have to call functions with all arrays of a way in each step, and
numba then counts references to all of them. This made small fits a third slower.

Ways
----
TILES : the default
    Every center is scored for every point.
BOXES : at least 12 clusters and 1025 points
    Points are sorted so that a tile holds neighbors. Centers that cannot be nearest to any point
    in the box of the tile are not scored.
GRAM : at least 32 features, few points for the number of clusters
    A center is a mean of points, so its products with points are means of products of points. When
    all pairs have been multiplied once, no step reads a feature again.
Shared products : refits with at least one feature for two points, up to 2048 points
    The products of noisy points are polynomials in the noise level. Three matrices of a draw serve
    all noise levels and all clusters, and all their refits use GRAM.
Subspace : refits with at least 4 features for each point
    n points and their noise span at most 2 n dimensions. Refits use coordinates there, in one of
    the ways above. (Reference partitions do not: there it gained nothing.)

What the ways gain
------------------
CPU time without the way over CPU time with it. `python -m benchmarks.run ways` measures this.

=========  ==============================================  =====
way        work                                            gain
=========  ==============================================  =====
BOXES      gap statistic, 5000 x 2, K from 1 to 60         2.0
BOXES      gap statistic, 1375 x 2, K from 1 to 60         1.3
BOXES      Stadion, extension, 5000 x 2, K from 1 to 60    1.1
GRAM       Stadion, refits, 300 x 200                      2.2
GRAM       Stadion, extension, 300 x 200, K from 1 to 30   1.8
GRAM       Stadion, extension, 1024 x 1024, K to 30        2.1
GRAM       Stadion, refits, 60 x 2000                      1.6
Subspace   Stadion, refits, 60 x 2000                      5.9
Subspace   Stadion, refits, 200 x 5000                     1.9
=========  ==============================================  =====
"""
