"""Reports as files: the suffix says which kind, a failure leaves the old file whole."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, Literal

from stablek.report.html import render_html
from stablek.report.markdown import render_markdown
from stablek.report.summary import summarize

__all__ = ["write_report"]

FORMATS = {".html": "html", ".htm": "html", ".json": "json", ".md": "md", ".markdown": "md"}


def write_report(
    selector: Any,
    path: str | os.PathLike[str],
    *,
    X: Any = None,
    comparison: Any = None,
    format: Literal["html", "json", "md"] | None = None,
    source: str | None = None,
    load: str | None = None,
) -> None:
    """Write the report of a fitted selector.

    Parameters
    ----------
    selector : selector
        Fitted.
    path : str or path
        File to write; it is replaced at once when the report is complete.
    X, comparison, source, load
        As in `stablek.report.summarize`.
    format : {"html", "json", "md"}, default=None
        None goes by the suffix: .html, .json or .md.

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
    target = Path(path)
    kind = FORMATS.get(target.suffix.lower()) if format is None else format
    if kind not in ("html", "json", "md"):
        named = f"format must be 'html', 'json' or 'md', got {format!r}"
        ending = f"path must end in .html, .json or .md, got {str(path)!r}; or give format"
        raise ValueError(ending if format is None else named)
    summary = summarize(selector, X, comparison, source=source, load=load)
    if kind == "json":
        text = json.dumps(summary, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        text = render_html(summary) if kind == "html" else render_markdown(summary)
    _replace(target, text)


def _replace(target: Path, text: str) -> None:
    target = Path(os.path.realpath(target))
    handle, part = tempfile.mkstemp(dir=target.parent, prefix=".stablek-", suffix=target.suffix)
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # mkstemp's files are private: take the old file's permissions, or a new file's.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(part, target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask)
        os.replace(part, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
