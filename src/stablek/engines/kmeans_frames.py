"""K-means of few points in many dimensions: of their coordinates along axes that span them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.engines.frames import Frame

__all__ = ["in_frames", "out_of_frames"]

Floats = NDArray[np.float64]


def in_frames(
    X: Floats, noise: Floats, task: Any, guides: Floats | None
) -> tuple[Floats, Any, Floats | None, list[Frame]]:
    """Points and guides of a `Task`, its fits in the order of the sets, in the sets' frames.

    Returns the coordinates of all sets, the task for them, the guides' coordinates, and a frame
    for each set. A guide is not in the span of noisy points; how far it is from it is one more
    coordinate, in which points are 0. So all distances are kept.
    """
    starts = np.cumsum(task.n) - task.n
    coordinates = np.zeros((int(task.n.sum()), int(task.n.max()) + 1))
    along = None if guides is None else np.zeros((len(guides), coordinates.shape[1]))
    fit_at = np.searchsorted(task.fit_cloud, np.arange(len(task.n) + 1))
    guide_at = np.concatenate([[0], np.cumsum(task.ks)])
    frames = []
    for c, (n, start, epsilon) in enumerate(zip(task.n, starts, task.epsilons, strict=True)):
        rows = task.rows[task.row_at[c] : task.row_at[c] + n]
        points = X[rows] if epsilon == 0.0 else X[rows] + epsilon * noise[rows]
        frame = Frame.of(points)
        coordinates[start : start + n, :n] = frame.coordinates(points)
        frames.append(frame)
        if guides is None or along is None:
            continue
        # Products are rounded by their shape: those of one fit are alone, as in any other task.
        for f in range(*fit_at[c : c + 2]):
            own = slice(*guide_at[f : f + 2])
            gaps = guides[own] - frame.centre
            along[own, :n] = gaps @ frame.axes
            along[own, -1] = _length_left(gaps, along[own, :n])
    task = task._replace(
        rows=np.arange(len(coordinates)), row_at=starts, epsilons=np.zeros(len(starts))
    )
    return coordinates, task, along, frames


def out_of_frames(centers: Floats, task: Any, frames: list[Frame]) -> Floats:
    """Centres of fits, given by their coordinates, in the space of the points."""
    ends = np.cumsum(task.ks)
    return np.concatenate(
        [
            frames[c].points(centers[end - k : end, : task.n[c]])
            for c, k, end in zip(task.fit_cloud, task.ks, ends, strict=True)
        ]
    )


def _length_left(vectors: Floats, along: Floats) -> Floats:
    """Length of what is left of vectors of any magnitude without their part along the axes."""
    size = float(np.abs(vectors).max()) or 1.0
    squares = np.square(vectors / size).sum(axis=1) - np.square(along / size).sum(axis=1)
    return np.asarray(size * np.sqrt(np.maximum(squares, 0.0)))
