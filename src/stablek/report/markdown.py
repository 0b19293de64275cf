"""The summary as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from stablek.inspection import pvalue_text
from stablek.report.numbers import number, percentage

__all__ = ["render_markdown"]

MAX_FEATURES = 20
"""Most columns of a Markdown table. The HTML report has more."""

NOISE_DRAWS_ONLY = (
    "Resampling shows the uncertainty of the noise draws only, not that of the data."
)

SHARES = ("frequency", "share")
"""Fields that are shown as percentages."""


def render_markdown(summary: dict[str, Any]) -> str:
    """Render the summary of `stablek.report.summarize` as Markdown text."""
    answer, parameter = summary["answer"], summary["parameter"]
    lines = [f"# {_escape(answer['sentence'][:1].upper() + answer['sentence'][1:])}", ""]
    lines += [f"- {_escape(reason)}" for reason in answer["reasons"]]
    lines += [f"- **Take care:** {_escape(caution)}" for caution in answer["cautions"]]
    if answer["rivals"]:
        lines += ["", f"## Why not another {_escape(parameter)}?", ""]
        lines += [f"- {_escape(rival['sentence'])}" for rival in answer["rivals"]]
    lines += [*_structure(summary["structure"]), *_subsamples(summary["subsamples"])]
    columns = [(parameter, "value"), ("clusters", "n_clusters"), ("score", "score")]
    if summary["own_quantity"]:
        columns += [(summary["own_quantity"], "own_value")]
    if summary["paths"]:
        columns += [("mean between", "mean_between"), ("mean within", "mean_within")]
    if answer["frequency"] is not None:
        columns += [("chosen when noise draws are resampled", "frequency")]
    lines += ["", f"## Candidates ({_escape(summary['method'])})", ""]
    lines += _table(columns, summary["candidates"])
    if answer["frequency"] is not None:
        lines += ["", NOISE_DRAWS_ONLY]
    for partition in summary["partitions"]:
        if partition["candidate"] == summary["selected"]:
            lines += _clusters(partition["clusters"], summary["features"])
    if summary["unstable_points"]:
        lines += ["", "## Least stable points", "", "Row numbers count from 0.", ""]
        columns = [("row", "row"), ("cluster", "label"), ("stability", "stability")]
        if summary["unstable_points"][0]["id"] is not None:
            columns.insert(0, ("id", "id"))
        lines += _table(columns, summary["unstable_points"])
    if summary["comparison"]:
        rows = summary["comparison"]
        known = [name for name in rows[0] if any(row[name] is not None for row in rows)]
        lines += ["", "## Other criteria", ""]
        lines += _table([(name.replace("_", " "), name) for name in known], rows)
    lines += ["", "## How this was made", "", *_provenance(summary)]
    return "\n".join(lines) + "\n"


def _structure(structure: dict[str, Any] | None) -> list[str]:
    if structure is None:
        return []
    rows = [
        {
            "kind": kind,
            "pvalue": pvalue_text(pvalue),
            "statistic": structure["statistics"][kind],
            "sets": structure["n_reference_sets"],
            "lowest": min(structure["reference_statistics"][kind]),
            "highest": max(structure["reference_statistics"][kind]),
            "valley": structure["valley"],
            "deepest": max(structure["reference_valleys"][kind]),
            "selected": kind == structure["kind"],
        }
        for kind, pvalue in structure["pvalues"].items()
    ]
    columns = [("reference sets", "kind"), ("p-value", "pvalue"), ("statistic", "statistic")]
    columns += [("sets", "sets"), ("their lowest", "lowest"), ("their highest", "highest")]
    columns += [("valley", "valley"), ("their deepest", "deepest")]
    return [
        "",
        "## Any clusters at all?",
        "",
        f"{structure['n_rows']} rows, compared with data without clusters. The largest p-value "
        f"counts.",
        "",
        *_table(columns, rows),
    ]


def _subsamples(subsamples: dict[str, Any] | None) -> list[str]:
    if subsamples is None:
        return []
    n_subsamples = subsamples["n_subsamples"]
    rows = [
        {"k": int(k), "n": n, "share": n / n_subsamples} for k, n in subsamples["counts"].items()
    ]
    return [
        "",
        "## How sure is it?",
        "",
        f"Answers on {n_subsamples} subsamples of {subsamples['n_rows']} rows.",
        "",
        *_table([("clusters", "k"), ("subsamples", "n"), ("share", "share")], rows),
    ]


def _clusters(clusters: list[dict[str, Any]], features: dict[str, Any] | None) -> list[str]:
    columns = [("cluster", "label"), ("points", "size"), ("share", "share")]
    columns += [("within stability", "within_stability"), ("hides", "hidden_k")]
    lines = ["", "## Clusters", "", *_table(columns, clusters)]
    if features:
        names = features["names"][:MAX_FEATURES]
        lines += ["", "## Means of the features", ""]
        if len(names) < features["n_total"]:
            lines += [f"{len(names)} of {features['n_total']} features.", ""]
        means = [{"label": c["label"], **dict(enumerate(c["means"]))} for c in clusters]
        lines += _table(
            [("cluster", "label"), *((name, j) for j, name in enumerate(names))], means
        )
    return lines


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
    settings = [{"setting": name, "value": code} for name, code in summary["settings"].items()]
    return [
        *(f"- {fact}" for fact in facts),
        "",
        *_table([("setting", "setting"), ("value", "value")], settings),
        "",
        f"{fence}python",
        summary["snippet"].rstrip(),
        fence,
    ]


def _table(columns: list[tuple[str, Any]], rows: Iterable[Mapping[Any, Any]]) -> list[str]:
    """Return a table. A column is a heading and the key of its cells. A selected row is bold."""
    lines = [[_escape(heading) for heading, _ in columns], ["---" for _ in columns]]
    for row in rows:
        texts = [_cell(key, row[key]) for _, key in columns]
        bold = "**" if row.get("selected") else ""
        lines.append([f"{bold}{_escape(text)}{bold}" if text else "" for text in texts])
    return [f"| {' | '.join(line)} |" for line in lines]


def _cell(key: Any, value: Any) -> str:
    if key in SHARES:
        return percentage(value)
    return number(value, "–" if key == "score" else "")


def _escape(text: str) -> str:
    """Escape a text so that Markdown shows it as it is, on one line."""
    text = " ".join(str(text).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", text)
