"""The paper's benchmark: fetched by URL, checked by sha256, cached in a folder."""

from __future__ import annotations

import csv
import difflib
import functools
import hashlib
import http.client
import importlib.resources
import os
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["BenchmarkInfo", "fetch_benchmark", "list_benchmark"]

# The first folder of a file's path names where it comes from; commits are fixed, so files are.
_SOURCES = {
    "skstab": "https://raw.githubusercontent.com/FlorentF9/skstab/"
    "5ce9a2ca270375c81c5ff82401356600c1bfedcf/datasets",
    "clustering-benchmark": "https://raw.githubusercontent.com/deric/clustering-benchmark/"
    "fc7aba73c873b0e017dd3a6d7113b1cb2ede118a/src/main/resources/datasets/artificial",
}
_TIMEOUT = 30  # seconds without an answer


@dataclass(frozen=True)
class BenchmarkInfo:
    """What is known of one benchmark data set before it is fetched.

    Attributes
    ----------
    name : str
        Name in the paper, as `fetch_benchmark` takes it.
    file : str
        Stem of the upstream file names.
    n_samples, n_features, n_clusters : int
        Shape, and the number of different labels.
    sha256_data, sha256_target : str
        Checksums of the upstream files; the second is empty when one file holds both.
    note : str
        What to know before using it as if it were independent and clean; often empty.
    """

    name: str
    file: str
    n_samples: int
    n_features: int
    n_clusters: int
    sha256_data: str
    sha256_target: str
    note: str = ""


def list_benchmark() -> list[BenchmarkInfo]:
    """Describe the benchmark: the 73 data sets of the paper's table, and ``golfball``.

    Returns
    -------
    list of BenchmarkInfo
        ``golfball`` is the last, and the only one with one cluster.

    Examples
    --------
    >>> infos = list_benchmark()
    >>> len(infos), sum(info.n_clusters > 1 for info in infos)
    (74, 73)
    >>> infos[2].name, infos[2].n_samples, infos[2].n_clusters
    ('2d-4c', 1261, 4)
    """
    return list(_manifest().values())


def fetch_benchmark(
    name: str, *, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Load one benchmark data set, from disk or else by URL.

    Parameters
    ----------
    name : str
        One of the names of `list_benchmark`.
    data_home : path-like, optional
        Folder that keeps downloaded files. By default the folder in the environment variable
        ``STABLEK_CACHE``, else ``stablek_data`` in the home folder; and files in the folder in
        ``STABLEK_DATA_DIR``, which is only read, are preferred to both.
    download_if_missing : bool
        Whether a file that is not on disk may be downloaded.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The points as in the file, not standardized.
    y : ndarray of shape (n_samples,)
        The labels as in the file: any integers, not always 0 to K - 1.

    Raises
    ------
    ValueError
        If the name is unknown, or a file has not the checksum of the manifest.
    FileNotFoundError
        If a file is missing and ``download_if_missing`` is false.
    ConnectionError
        If a file is missing and cannot be downloaded.

    Examples
    --------
    >>> X, y = fetch_benchmark("hepta")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (212, 3)
    """
    info = _info(name)
    if not info.sha256_target:
        arff = _read(
            f"clustering-benchmark/{info.file}.arff",
            info.sha256_data,
            data_home,
            download_if_missing,
        )
        return _parse_arff(arff)
    points, labels = (
        _read(f"skstab/{folder}/{info.file}.csv", sha256, data_home, download_if_missing)
        for folder, sha256 in (
            ("data/artificial", info.sha256_data),
            ("target", info.sha256_target),
        )
    )
    return _parse_csv(points), _parse_csv(labels)[:, 0].astype(np.int64)


@functools.cache
def _manifest() -> dict[str, BenchmarkInfo]:
    file = importlib.resources.files("stablek.datasets").joinpath("manifest.csv")
    rows = csv.DictReader(file.read_text(encoding="utf-8").splitlines())
    return {
        row["name"]: BenchmarkInfo(
            name=row["name"],
            file=row["file"],
            n_samples=int(row["n_samples"]),
            n_features=int(row["n_features"]),
            n_clusters=int(row["n_clusters"]),
            sha256_data=row["sha256_data"],
            sha256_target=row["sha256_target"],
            note=row["note"],
        )
        for row in rows
    }


def _info(name: str) -> BenchmarkInfo:
    manifest = _manifest()
    if name in manifest:
        return manifest[name]
    by_lower = {known.lower(): known for known in manifest}
    close = [by_lower[low] for low in difflib.get_close_matches(str(name).lower(), by_lower)]
    hint = f"did you mean {', '.join(map(repr, close))}?" if close else "see list_benchmark()"
    raise ValueError(
        f"name must be one of the {len(manifest)} benchmark sets, got {name!r}; {hint}"
    )


def _read(
    path: str, sha256: str, data_home: str | os.PathLike[str] | None, download: bool
) -> bytes:
    """Content of one file, checked; ``path`` is the same in every folder."""
    cache = Path(data_home or os.environ.get("STABLEK_CACHE") or Path.home() / "stablek_data")
    given = None if data_home else os.environ.get("STABLEK_DATA_DIR")
    for folder in (*([Path(given)] if given else []), cache.expanduser()):
        if (folder / path).is_file():
            content = (folder / path).read_bytes()
            _check_sha256(content, sha256, str(folder / path))
            return content
    url = _url(path)
    target = cache.expanduser() / path
    if not download:
        raise FileNotFoundError(
            f"{target} is missing and download_if_missing=False; allow the download of {url}, or "
            f"set STABLEK_DATA_DIR to a folder that holds {path}"
        )
    content = _download(url, path)
    _check_sha256(content, sha256, url)
    _write(target, content)
    return content


def _url(path: str) -> str:
    source, _, rest = path.partition("/")
    return f"{_SOURCES[source]}/{rest}"


def _download(url: str, path: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as response:
            content: bytes = response.read()
    # A connection that breaks midway is an HTTPException, everything else an OSError.
    except (OSError, http.client.HTTPException) as error:
        raise ConnectionError(
            f"cannot download {url} ({error}); if this machine is offline, set STABLEK_DATA_DIR "
            f"to a folder that holds {path}"
        ) from error
    return content


def _check_sha256(content: bytes, expected: str, where: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise ValueError(
            f"{where} is not the file of the benchmark: its sha256 is {found}, expected "
            f"{expected}; delete it if it is a damaged copy"
        )


def _write(target: Path, content: bytes) -> None:
    """Write a whole file or none, also when two processes do it at once."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=target.name, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(part, target)
    except BaseException:
        os.unlink(part)
        raise


def _parse_csv(content: bytes) -> NDArray[np.float64]:
    """Header line, ``;`` between fields, decimal comma."""
    lines = content.decode("utf-8").replace(",", ".").splitlines()
    return np.loadtxt(lines, delimiter=";", skiprows=1, ndmin=2)


def _parse_arff(content: bytes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Numbers only, the class last."""
    lines = content.decode("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
    table = np.loadtxt(lines[start + 1 :], delimiter=",", comments="%", ndmin=2)
    return table[:, :-1], table[:, -1].astype(np.int64)
