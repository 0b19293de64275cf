"""The summary as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from stablek.report.numbers import number, percentage

__all__ = ["render_markdown"]

MAX_FEATURES = 20
"""Most columns of a Markdown table. The HTML report has more."""


def render_markdown(summary: dict[str, Any]) -> str:
    """Render the report as Markdown text.

    Parameters
    ----------
    summary : dict
        From `stablek.report.summarize`.
    """
    answer = summary["answer"]
    lines = [f"# {_escape(_capital(answer['sentence']))}", ""]
    lines += [f"- {_escape(reason)}" for reason in answer["reasons"]]
    lines += [f"- **Take care:** {_escape(caution)}" for caution in answer["cautions"]]
    lines += ["", f"## Candidates ({_escape(summary['method'])})", "", *_candidates(summary)]
    lines += _chosen(summary)
    if summary["unstable_points"]:
        lines += ["", "## Least stable points", "", "Row numbers count from 0.", ""]
        rows = [
            [str(point["row"]), str(point["label"]), number(point["stability"])]
            for point in summary["unstable_points"]
        ]
        lines += _table(["row", "cluster", "stability"], rows)
    if summary["comparison"]:
        lines += ["", "## Other criteria", "", *_comparison(summary["comparison"])]
    lines += ["", "## How this was made", "", *_provenance(summary)]
    return "\n".join(lines) + "\n"


def _candidates(summary: dict[str, Any]) -> list[str]:
    headers = [summary["parameter"], "clusters", "score"]
    fields = ["value", "n_clusters", "score"]
    if summary["paths"]:
        headers += ["mean between", "mean within", "chosen when resampled"]
        fields += ["mean_between", "mean_within", "frequency"]
    rows = []
    for candidate in summary["candidates"]:
        cells = [
            percentage(candidate[f]) if f == "frequency" else number(candidate[f]) for f in fields
        ]
        rows.append([f"**{c}**" if candidate["selected"] and c else c for c in cells])
    return _table(headers, rows)


def _chosen(summary: dict[str, Any]) -> list[str]:
    chosen = [p for p in summary["partitions"] if p["candidate"] == summary["selected"]]
    if not chosen:
        return []
    headers = ["cluster", "points", "share", "within stability", "hides"]
    fields = ["label", "size", "share", "within_stability", "hidden_k"]
    rows = [
        [percentage(c[f]) if f == "share" else number(c[f]) for f in fields]
        for c in chosen[0]["clusters"]
    ]
    lines = ["", "## Clusters", "", *_table(headers, rows)]
    features = summary["features"]
    if features:
        names = features["names"][:MAX_FEATURES]
        lines += ["", "## Means of the features", ""]
        if len(names) < features["n_total"]:
            lines += [f"{len(names)} of {features['n_total']} features.", ""]
        rows = [
            [str(cluster["label"]), *(number(m) for m in cluster["means"][: len(names)])]
            for cluster in chosen[0]["clusters"]
        ]
        lines += _table(["cluster", *names], rows)
    return lines


def _comparison(rows: list[dict[str, Any]]) -> list[str]:
    fields = [name for name in rows[0] if any(row[name] is not None for row in rows)]
    cells = [[number(row[name]) for name in fields] for row in rows]
    return _table([name.replace("_", " ") for name in fields], cells)


def _provenance(summary: dict[str, Any]) -> list[str]:
    data = summary["data"]
    facts = []
    if data["source"] is not None:
        facts.append(f"data: {_escape(data['source'])}")
    if data["n_rows"] is not None:
        facts.append(f"{data['n_rows']} rows, {data['n_columns']} columns")
        facts.append(f"sha256 {data['sha256']}")
    if summary["seconds"] is not None:
        facts.append(f"{summary['seconds']:.1f} s")
    facts.append(", ".join(f"{name} {v}" for name, v in summary["versions"].items()))
    # Backticks in the snippet cannot close a fence that is longer than they are.
    runs = re.findall(r"`+", summary["snippet"])
    fence = "`" * max([3, *(len(run) + 1 for run in runs)])
    rows = [[name, value] for name, value in summary["settings"].items()]
    return [
        *(f"- {fact}" for fact in facts),
        "",
        *_table(["setting", "value"], rows),
        "",
        f"{fence}python",
        summary["snippet"].rstrip(),
        fence,
    ]


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    bold = re.compile(r"\*\*(.*)\*\*")

    def cell(text: str) -> str:
        strong = bold.fullmatch(text)
        return f"**{_escape(strong[1])}**" if strong else _escape(text)

    lines = [" | ".join(_escape(header) for header in headers)]
    lines.append(" | ".join("---" for _ in headers))
    lines += [" | ".join(cell(text) for text in row) for row in rows]
    return [f"| {line} |" for line in lines]


def _escape(text: str) -> str:
    """Escape a text so that Markdown shows it as it is, on one line."""
    text = " ".join(str(text).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", text)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
