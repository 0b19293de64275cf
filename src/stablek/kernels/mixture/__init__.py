"""Gaussian mixtures: a map of the kernels and of the code around them.

Importing this package imports none of its modules, so that nothing is compiled before it is used.

Layers, from bottom to top:

1. `densities`: log densities of one component at a block of points, and `assign`, which gives
   each point the component of highest posterior. `Gaussians` holds the arrays of a mixture.
2. `expectation` sums the moments of the points for each component, and `maximization` turns
   them into a mixture. There are four kinds of covariances: full, tied, diagonal, spherical.
   Functions that end in `_in_plane` are for two features: they keep all numbers of a point in
   registers.
3. `fit`: EM from labeled points, with the stopping rule of scikit-learn. One call fits all sets of
   points, all k and all starts.
4. `passes`: one step of EM on a block of rows, for data that are read in blocks.
5. `moved` and `extend`: labels that reference mixtures give to noisy points, counted for all
   groups of points and all noise levels in one call. The mixtures know the noise or ignore it. In
   both cases two products with the factor of a covariance serve all levels.
6. `hierarchy`: the model-based agglomeration from which `SVDGaussianMixture` starts. It uses none
   of the layers above.
7. `ways`: the choice between the ways below, with all thresholds. It is plain Python.

`stablek.engines.mixture` calls 1 to 3, 5 and 7; `stablek.blockwise.mixtures` calls 4 and 5. The
labels from which EM starts come from `stablek.engines.mixture_starts`: from K-means, by the
K-means engine, or from the hierarchy.

There are three ways to fit and extend a mixture. Each gives the same labels up to rounding. The
gains are CPU times of a whole fit of `Stadion` without the way, over the time with it;
`python -m benchmarks.run ways` measures some of these.

Kernels (`stablek.engines.mixture_narrow`)
    The default, for every kind of covariance. A covariance is stored as a whole matrix.

Matrix products (`stablek.engines.mixture_wide`)
    For full covariances from 96 features on, and from 33 features on for clusters with fewer than
    four points for each feature. A component with fewer points than features stores the axes of
    its points, not the matrix. So memory grows with points times features times the number of
    partitions. The nine mixtures of omega 2..10 on 36 points with 64 features take 0.2 MB instead
    of 3.4 MB, and about the same time. Gain: 2.5 for 1024 points and 128 features, 5 for 256
    features, 7 for 100 points and 300 features. Up to 4096 points, components are also kept for
    the next step and the next k. Gain: 2 for 300 points, 300 features and 20 values of k.

Subspace (`stablek.engines.subspace`)
    For full and tied covariances of a cluster or a noisy copy with at least twice as many features
    as points. The points are replaced by their coordinates in the subspace that they span, and
    one of the two ways above continues. Gain: 6 for refits of tied mixtures to 60 points with 200
    features, 2 for extension with 150 features, up to 1.4 for full covariances.

Within the hierarchy, distances are summed in vector lanes from 16 features on. Gain of the
hierarchy: 1.3 for 60 features, 2 for 300.
"""
