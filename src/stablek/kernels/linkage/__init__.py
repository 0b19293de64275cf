"""Agglomerative clustering: dendrograms of many noisy copies of many groups of points.

A dendrogram of n points is kept as n - 1 edges. Each edge joins a point of one merged cluster to
a point of the other, and has the height of the merge (or a number that grows with it). Without
the k - 1 highest edges, the connected points are the k clusters. The dendrogram of one node is the
edges among its points, so a cluster needs no dendrogram of its own.

Layers, from bottom to top
--------------------------
- `centroids`, `matrix`, `tree`: the ways to find the edges, see below.
- `grow`: noisy points, laid out feature by feature, and their dendrogram by a given way.
- `cuts`: labels for every number of clusters, from one dendrogram.
- `agreements`: the entry for a whole fit. For each group and noise level it grows one dendrogram,
  cuts it for every number of clusters and compares the labels with the reference labels.
- `ways`: the codes of linkages and ways, and `choose_way` with all thresholds. It is plain Python:
  the engine chooses, the kernels obey.

This module imports none of them. A kernel is compiled when it is first called.

Ways
----
CENTROIDS : Ward, few features or many points
    Nearest-neighbor chains over the centroids of clusters. It computes distances when it needs
    them and keeps none, so memory is O(n).
EXPANSION : Ward, average and complete, at least 32 features and at most 2048 points
    The squared distance of two noisy points is a quadratic function of the noise level. Three
    coefficients for each pair of points serve all levels and all groups: the cost of a level does
    not depend on the number of features. Then as MATRIX. Memory is 3 n^2 numbers.
MATRIX : average and complete, all other data
    Nearest-neighbor chains over the matrix of all distances, with the update formula of
    Lance and Williams. Memory is n^2 numbers.
TREE : single
    The minimum spanning tree is the dendrogram. Prim's algorithm finds it in O(n) memory. The
    Dunn and Xie-Beni indices use the same tree.

What the ways gain
------------------
Time of a fit of Stadion (K from 1 to 10, 10 noise levels, 5 draws) without the way, over the time
with it. `python -m benchmarks.run ways` measures some of these.

==========================  ==============  =====
way, and what replaces it   data            gain
==========================  ==============  =====
CENTROIDS, by MATRIX        150 x 4         1.0
CENTROIDS, by MATRIX        1500 x 2        4.3
CENTROIDS, by MATRIX        5000 x 2        16
EXPANSION, by CENTROIDS     600 x 32        1.5
EXPANSION, by CENTROIDS     1797 x 64       2.1
EXPANSION, by CENTROIDS     1000 x 300      4.9
EXPANSION, by MATRIX        600 x 32        1.4
EXPANSION, by MATRIX        1797 x 64       1.8
EXPANSION, by MATRIX        1000 x 300      2.6
==========================  ==============  =====

MATRIX and TREE are the only ways of their linkages. One dendrogram by TREE takes a third of the
time of MATRIX for 1000 x 2, and a fifteenth for 3000 x 2.
"""
