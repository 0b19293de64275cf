"""Write reports: the suffix tells the format, and a failure keeps the old file."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from stablek.files import replacing
from stablek.report.html import render_html
from stablek.report.markdown import render_markdown
from stablek.report.summary import summarize
from stablek.selectors.subsamples import SubsampleFrequency

__all__ = ["write_report", "write_summary"]

FORMATS: dict[str, Literal["html", "json", "md"]] = {
    ".html": "html",
    ".htm": "html",
    ".json": "json",
    ".md": "md",
    ".markdown": "md",
}


def write_report(
    selector: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    comparison: Any = None,
    subsamples: SubsampleFrequency | None = None,
    format: Literal["html", "json", "md"] | None = None,
    source: str | None = None,
    load: str | None = None,
    ids: Sequence[str] | None = None,
) -> None:
    """Write the report of a fitted selector.

    Parameters
    ----------
    selector : selector
        Fitted.
    path : str or path
        File to write. An existing file is replaced only when the report is complete.
    X, comparison, subsamples, source, load, ids
        As in `stablek.report.summarize`.
    format : {"html", "json", "md"}, default=None
        None uses the suffix: .html, .json or .md.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import make_blobs
    >>> from stablek import Stadion
    >>> X, _ = make_blobs(90, centers=[[0, 0], [9, 0]], random_state=0)
    >>> selector = Stadion(k_range=range(1, 4), n_perturbations=3, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(selector, os.path.join(folder, "report.html"))
    ...     os.listdir(folder)
    ['report.html']
    """
    kind = _kind(path, format)
    told: dict[str, Any] = {
        "subsamples": subsamples,
        "source": source,
        "load": load,
        "ids": ids,
    }
    write_summary(summarize(selector, X, comparison, **told), path, format=kind)


def write_summary(
    summary: dict[str, Any],
    path: str | os.PathLike[str],
    *,
    format: Literal["html", "json", "md"] | None = None,
) -> None:
    """Write the report of a summary.

    Parameters
    ----------
    summary : dict
        From `stablek.report.summarize`.
    path, format
        As in `write_report`.
    """
    kind = _kind(path, format)
    if kind == "json":
        text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        text = render_html(summary) if kind == "html" else render_markdown(summary)
    with replacing(path) as part:
        Path(part).write_text(text, encoding="utf-8", newline="\n")


def _kind(
    path: str | os.PathLike[str], format: Literal["html", "json", "md"] | None
) -> Literal["html", "json", "md"]:
    kind = FORMATS.get(Path(path).suffix.lower()) if format is None else format
    if kind is None:
        raise ValueError(
            f"path must end in .html, .json or .md, got {str(path)!r}; or pass format"
        )
    if kind not in FORMATS.values():
        raise ValueError(f"format must be 'html', 'json' or 'md', got {format!r}")
    return kind
