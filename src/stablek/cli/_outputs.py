"""Output files of a run."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, TextIO

from stablek.cli._running import require
from stablek.files import replacing
from stablek.reading import InputError, Points

__all__ = [
    "check_plot",
    "check_report",
    "save_figure",
    "write_json",
    "write_labels",
    "write_plot",
    "write_text",
]

_REPORTS = (".html", ".htm", ".md", ".markdown", ".json")
_PLOTS = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".eps", ".tif", ".tiff", ".webp")


def check_report(path: str | None) -> None:
    """Raise if the suffix is unknown or a package is missing."""
    if path is not None and _suffix("--report", path, _REPORTS) in (".html", ".htm"):
        require("jinja2", "plotly", purpose="--report")


def check_plot(path: str | None) -> None:
    """Raise if the suffix is unknown or a package is missing."""
    if path is not None:
        _suffix("--plot", path, _PLOTS)
        require("matplotlib", purpose="--plot", extra="plot")


def _suffix(option: str, path: str, known: tuple[str, ...]) -> str:
    suffix = PurePath(path).suffix.lower()
    if suffix not in known:
        raise InputError(f"{option} {path!r} must end in one of {' '.join(known)}")
    return suffix


def write_json(value: Any, path: str) -> None:
    """Write a summary as JSON."""
    # ASCII is the same in nearly all encodings of standard output.
    text = json.dumps(value, indent=1, ensure_ascii=path == "-", allow_nan=False)
    write_text(path, lambda file: file.write(text + "\n"))


def write_labels(
    points: Points, labels: Any, path: str, *, append: bool = False, safe: bool = False
) -> None:
    """Write the cluster of every row of the input; rows that were left out get an empty label.

    With ``append``, all columns of the input come before it. With ``safe``, a spreadsheet takes no
    id and no text for a formula.
    """
    texts = [""] * len(points.kept)
    if labels is not None:
        for row, label in zip(points.kept.nonzero()[0].tolist(), labels.tolist(), strict=True):
            texts[row] = str(label)
    header: list[str] = []
    columns: list[list[str]] = []
    if append and points.table is not None:
        header, columns = list(points.table.names), points.table.texts()
    elif points.id_name is not None and points.ids is not None:
        header, columns = [points.id_name], [points.ids]
    label = next(name for name in ("label", "cluster", "stablek_label") if name not in header)
    if safe:
        names = header
        header = [_no_formula(name) for name in header]
        columns = [
            _safe_column(column, is_id=name == points.id_name)
            for name, column in zip(names, columns, strict=True)
        ]
    header, columns = [*header, label], [*columns, texts]

    def write(file: TextIO) -> None:
        delimiter = "\t" if PurePath(path).suffix.lower() in (".tsv", ".tab") else ","
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*columns, strict=True))

    write_text(path, write)


def _no_formula(text: str) -> str:
    """Put a quote before a text that a spreadsheet would run as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text


def _safe_column(texts: list[str], *, is_id: bool) -> list[str]:
    """Quote what a spreadsheet would run. Columns of numbers stay as they are, except ids."""
    if not is_id and all(_is_number(text) for text in texts):
        return texts
    return [_no_formula(text) for text in texts]


def _is_number(text: str) -> bool:
    try:
        float(text or "0")
    except ValueError:
        return False
    return True


def write_text(path: str, write: Callable[[TextIO], object]) -> None:
    """Call ``write`` with a file that replaces ``path``, or with standard output for "-"."""
    if path == "-":
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="")  # the same bytes as in a file
        write(sys.stdout)
        return
    with replacing(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        write(file)


def write_plot(selector: Any, path: str) -> None:
    """Draw the stability paths, or the scores of a method without paths."""
    from stablek.display import ScoresDisplay, StabilityPathsDisplay

    kind = StabilityPathsDisplay if hasattr(selector, "stadion_paths_") else ScoresDisplay
    save_figure(lambda: kind.from_estimator(selector), path)


def save_figure(draw: Callable[[], Any], path: str) -> None:
    """Save the figure of the display that ``draw`` returns."""
    import matplotlib as mpl

    mpl.use("Agg")
    figure = draw().figure_
    with replacing(path) as part:
        figure.savefig(part)
