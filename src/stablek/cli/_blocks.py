"""Parquet files with more rows than memory may hold: read in blocks, labels written in parts."""

from __future__ import annotations

import argparse
import glob
import os
from collections.abc import Iterator
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise import core
from stablek.blockwise.core import Blocks
from stablek.blockwise.parquet import ParquetSource, parquet_files
from stablek.blockwise.scaling import ScaledBlocks
from stablek.blockwise.survey import Survey, survey
from stablek.blockwise.threads import ThreadBlocks
from stablek.cli._outputs import write_text
from stablek.files import replacing
from stablek.reading import InputError, Message, Parameter, choose_columns, standardize
from stablek.seeding import entropy_of

__all__ = ["BlockInput", "open_blocks"]

MAX_ROWS_IN_MEMORY = 1_000_000
SAMPLE_ROWS = 100_000
_CHUNK = 1 << 20  # labels that are written at a time


def open_blocks(args: argparse.Namespace, progress: bool) -> BlockInput | None:
    """Open a folder, a glob, or a Parquet file with many rows; None for other input."""
    name = args.file
    several = os.path.isdir(name) or (glob.has_magic(name) and not os.path.exists(name))
    single = name.lower().endswith((".parquet", ".pq")) and os.path.isfile(name)
    if args.format not in (None, "parquet") or not (several or single):
        return None
    if os.path.isdir(name) and not _has_parquet(name):
        return None  # the reader of files says what else is in the folder
    try:
        whole = ParquetSource(parquet_files(name))
        if single and whole.n_rows <= MAX_ROWS_IN_MEMORY:
            return None
        if args.missing is not None:
            raise InputError(
                f"--missing is for data in memory, but {name!r} is read in blocks; drop or fill "
                f"in the missing values first"
            )
        known = list(whole.names or ())
        columns = choose_columns(repr(name), known, args.columns, args.drop, args.id)
        source = ParquetSource(parquet_files(name), columns)
    except InputError:
        raise
    except (ValueError, ImportError, OSError) as error:
        raise InputError(str(error).removeprefix("X: ")) from error
    _refuse_text(name, source)
    return BlockInput(args, source, progress)


def _has_parquet(folder: str) -> bool:
    try:
        return bool(parquet_files(folder))
    except ValueError:
        return False


def _refuse_text(name: str, source: ParquetSource) -> None:
    text = list(source.not_numeric)
    if text:
        found = (
            f"{name!r} has columns that are not numeric: {', '.join(text)}; leave them out with "
        )
        kept = ", or keep one as the row id with ", Parameter("id_name", text[0])
        raise InputError(Message(found, Parameter("drop", text), *kept))


class BlockInput:
    """The rows of Parquet files, standardized unless told otherwise.

    Parameters
    ----------
    args : Namespace
        Of the command line.
    source : ParquetSource
        The columns to cluster.
    progress : bool
        Whether to show a progress bar.
    """

    notes: tuple[str, ...] = ()

    def __init__(self, args: argparse.Namespace, source: ParquetSource, progress: bool) -> None:
        self._args, self._source = args, source
        self.k_range, self.n_rows = args.k, source.n_rows
        raw: Blocks = ThreadBlocks(source, core.BLOCK_ROWS, args.jobs)
        if raw.n_rows < 2:
            raise InputError(
                f"{args.file!r} has {raw.n_rows} rows to cluster; at least 2 are needed"
            )
        title = "standardizing" if progress else None
        found = survey(raw, 2, entropy_of(args.seed), title)
        _refuse_missing(args.file, source, found)
        self._scaled = None if args.no_scale else ScaledBlocks(raw, found, standardize)
        self.X: Blocks = raw if self._scaled is None else self._scaled

    ids: list[str] | None = None
    """The report of a sample shows row numbers."""

    def prepare(self, selector: Any) -> None:
        """Set the limits of a selector."""
        selector.max_rows_in_memory = MAX_ROWS_IN_MEMORY
        selector.sample_rows = SAMPLE_ROWS

    def original(self, selector: Any) -> Any:
        """Rows that the report shows, with the values of the files."""
        import polars as pl

        X = selector._fit_X if self._scaled is None else self._scaled.unscaled(selector._fit_X)
        return pl.DataFrame(X, schema=list(self._source.columns))

    def described(self) -> str:
        """Describe the data that were clustered."""
        n, p = self.X.n_rows, self.X.n_features
        scaled = "" if self._scaled is None else " standardized"
        return f"{n} rows, {p} column{'s' * (p > 1)}{scaled}"

    def loading_code(self) -> str:
        """Return Python code that reads the same rows."""
        return f"X = {self._args.file!r}  # Stadion reads Parquet files in blocks"

    def write_labels(self, labels: Any, path: str, *, safe: bool = False) -> None:
        """Write the cluster of every row, in parts: as Parquet by the suffix, else as text."""
        frames = self._frames(labels, safe)
        if path != "-" and path.lower().endswith((".parquet", ".pq")):
            _write_parquet(frames, path)
            return
        delimiter = "\t" if path.lower().endswith((".tsv", ".tab")) else ","

        def write(file: TextIO) -> None:
            for i, frame in enumerate(frames):
                text = frame.write_csv(include_header=i == 0, separator=delimiter)
                file.write(text)

        write_text(path, write)

    def _frames(self, labels: Any, safe: bool) -> Iterator[Any]:
        """Parts of the table of labels; the first one is never missing."""
        import polars as pl

        id_name, start = self._args.id, 0
        for path, n in self._source.files():
            for low in range(0, n, _CHUNK):
                size = min(_CHUNK, n - low)
                own: NDArray[Any] = np.asarray(labels[start : start + size], dtype=np.int32)
                start += size
                if id_name is None:
                    yield pl.DataFrame({"label": own})
                    continue
                scan = pl.scan_parquet(path, glob=False).select(id_name).slice(low, size)
                frame = scan.collect()
                if safe:
                    text = pl.col(id_name).cast(pl.String)
                    formula = text.str.contains(r"^[=+\-@\t\r\n]")
                    frame = frame.with_columns(
                        pl.when(formula).then("'" + text).otherwise(text).alias(id_name)
                    )
                name = "cluster" if id_name == "label" else "label"
                yield frame.with_columns(pl.Series(name, own))


def _write_parquet(frames: Iterator[Any], path: str) -> None:
    """Write frames to a Parquet file one by one; the old file stays if something fails."""
    import polars as pl
    from polars.io.plugins import register_io_source

    first = next(frames)

    def parts(columns: Any, predicate: Any, n_rows: Any, batch_size: Any) -> Iterator[Any]:
        yield first
        yield from frames

    with replacing(path) as part:
        lazy: pl.LazyFrame = register_io_source(parts, schema=first.schema)
        lazy.sink_parquet(part)


def _refuse_missing(name: str, source: ParquetSource, found: Survey) -> None:
    """Raise if values are missing or infinite, with the column, the count and the first row."""
    for what, counts in (
        ("missing values", found.n_missing),
        ("numbers too large, or infinite values", found.n_infinite),
    ):
        bad = np.flatnonzero(counts)
        if len(bad):
            pairs = [f"{source.columns[j]!r} {counts[j]}" for j in bad[:10].tolist()]
            row = int(found.first_bad[bad].min()) + 1
            said = f"{name!r} has {what}: {', '.join(pairs)} (the first in row {row})"
            advice = "; drop or fill in these rows first, or leave the columns out with "
            raise InputError(Message(said, advice, Parameter("drop")))
