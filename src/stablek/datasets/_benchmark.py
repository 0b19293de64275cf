"""The paper's benchmark: downloaded by URL, checked by sha256, cached in a folder."""

from __future__ import annotations

import csv
import difflib
import functools
import hashlib
import importlib.resources
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["BenchmarkInfo", "fetch_benchmark", "list_benchmark"]

# The first folder of a file's path names its source. Commits are fixed, so the files never change.
_SOURCES = {
    "skstab": "https://raw.githubusercontent.com/FlorentF9/skstab/"
    "5ce9a2ca270375c81c5ff82401356600c1bfedcf/datasets",
    "clustering-benchmark": "https://raw.githubusercontent.com/deric/clustering-benchmark/"
    "fc7aba73c873b0e017dd3a6d7113b1cb2ede118a/src/main/resources/datasets/artificial",
}


@dataclass(frozen=True)
class BenchmarkInfo:
    """What is known about a benchmark data set before it is downloaded.

    Attributes
    ----------
    name : str
        Name in the paper, as `fetch_benchmark` takes it.
    file : str
        Stem of the upstream file names.
    n_samples, n_features, n_clusters : int
        Shape, and the number of different labels.
    sha256_data, sha256_target : str
        Checksums of the upstream files. The second is empty when one file holds both.
    size_data, size_target : int
        Bytes of the upstream files. The second is 0 when one file holds both.
    note : str
        Known problems: duplicates, or overlap with another data set. Often empty.
    """

    name: str
    file: str
    n_samples: int
    n_features: int
    n_clusters: int
    sha256_data: str
    sha256_target: str
    size_data: int
    size_target: int
    note: str = ""


def list_benchmark() -> list[BenchmarkInfo]:
    """Describe the benchmark: the 73 data sets of the paper's table, and ``golfball``.

    Returns
    -------
    list of BenchmarkInfo
        ``golfball`` comes last. It is the only data set with one cluster.

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
    """Load one benchmark data set from disk, or download it.

    Downloads need pooch (``pip install 'stablek[datasets]'``).

    Parameters
    ----------
    name : str
        One of the names of `list_benchmark`.
    data_home : path-like, optional
        Folder that keeps downloaded files. None uses the folder in the environment variable
        ``STABLEK_CACHE``, or ``stablek_data`` in the home folder. With None, files in the folder
        in ``STABLEK_DATA_DIR`` come first. That folder is only read.
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
        If the name is unknown, or a file does not have the checksum or size of the manifest.
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

    def read(path: str, sha256: str, size: int) -> bytes:
        return _read(path, sha256, size, data_home, download_if_missing)

    data, target = (info.sha256_data, info.size_data), (info.sha256_target, info.size_target)
    if not info.sha256_target:
        return _parse_arff(read(f"clustering-benchmark/{info.file}.arff", *data))
    points = read(f"skstab/data/artificial/{info.file}.csv", *data)
    labels = read(f"skstab/target/{info.file}.csv", *target)
    return _parse_csv(points), _parse_csv(labels)[:, 0].astype(np.int64)


@functools.cache
def _manifest() -> dict[str, BenchmarkInfo]:
    file = importlib.resources.files("stablek.datasets").joinpath("manifest.csv")
    row: dict[str, Any]
    manifest = {}
    for row in csv.DictReader(file.read_text(encoding="utf-8").splitlines()):
        row |= {name: int(text) for name, text in row.items() if name.startswith(("n_", "size_"))}
        manifest[row["name"]] = BenchmarkInfo(**row)
    return manifest


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
    path: str,
    sha256: str,
    size: int,
    data_home: str | os.PathLike[str] | None,
    download: bool,
) -> bytes:
    """Return the checked content of one file; ``path`` is the same in every folder."""
    given = None if data_home else os.environ.get("STABLEK_DATA_DIR")
    home = data_home or os.environ.get("STABLEK_CACHE") or Path.home() / "stablek_data"
    cached = Path(home).expanduser() / path
    for file in (*([Path(given) / path] if given else []), cached):
        if file.is_file():
            content = file.read_bytes()
            if (found := hashlib.sha256(content).hexdigest()) != sha256:
                raise ValueError(
                    f"{file} is not the file of the benchmark: its sha256 is {found}, expected "
                    f"{sha256}; delete it if it is a damaged copy"
                )
            return content
    url = _url(path)
    if not download:
        raise FileNotFoundError(
            f"{cached} is missing and download_if_missing=False; allow the download of {url}, or "
            f"set STABLEK_DATA_DIR to a folder that holds {path}"
        )
    _download(url, sha256, size, cached, path)
    return cached.read_bytes()


def _url(path: str) -> str:
    source, _, rest = path.partition("/")
    return f"{_SOURCES[source]}/{rest}"


def _download(url: str, sha256: str, size: int, target: Path, path: str) -> None:
    """Download a file and check it; ``target`` is written whole or not at all."""
    elsewhere = f"set STABLEK_DATA_DIR to a folder that holds {path}"
    try:
        import pooch
        from requests import RequestException
    except ImportError as error:
        raise ImportError(
            f"downloading {url} needs pooch, which is not installed: "
            f"pip install 'stablek[datasets]', or {elsewhere}"
        ) from error
    logger = pooch.get_logger()
    level = logger.level
    logger.setLevel("WARNING")  # do not print a line for each download
    try:
        pooch.retrieve(
            url,
            f"sha256:{sha256}",
            fname=target.name,
            path=target.parent,
            downloader=functools.partial(_stream, size=size),
        )
    except RequestException as error:
        raise ConnectionError(
            f"cannot download {url} ({error}); if this machine is offline, {elsewhere}"
        ) from error
    except ValueError as error:
        raise ValueError(f"{url} is not the file of the benchmark: {error}") from error
    finally:
        logger.setLevel(level)


def _stream(url: str, output_file: Any, pooch: Any, *, size: int) -> None:
    """Download a file as pooch asks for it, and stop after ``size`` bytes."""
    import requests

    left = size
    with requests.get(url, stream=True, timeout=30) as answer, open(output_file, "wb") as file:
        answer.raise_for_status()
        for chunk in answer.iter_content(1 << 16):
            left -= len(chunk)
            if left < 0:
                raise ValueError(f"it has more than {size} bytes")
            file.write(chunk)


def _parse_csv(content: bytes) -> NDArray[np.float64]:
    """Parse a file with a header line, ``;`` between cells and decimal commas."""
    lines = content.decode("utf-8").replace(",", ".").splitlines()
    return np.loadtxt(lines, delimiter=";", skiprows=1, ndmin=2)


def _parse_arff(content: bytes) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Parse a file of numeric attributes with the class last."""
    from scipy.io import arff

    table, attributes = arff.loadarff(io.StringIO(content.decode("utf-8")))
    *features, target = (table[name] for name in attributes.names())
    return np.column_stack(features), target.astype(np.int64)
