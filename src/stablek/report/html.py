"""The summary as one self-contained HTML file, and a short answer for notebooks."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from stablek.inspection import contenders
from stablek.report.answer import reasons, sentence
from stablek.report.fitted import view
from stablek.report.numbers import number, percentage

__all__ = ["render_html", "repr_html"]


def render_html(summary: dict[str, Any]) -> str:
    """Render the report as a self-contained page.

    Parameters
    ----------
    summary : dict
        From `stablek.report.summarize`.
    """
    try:
        import jinja2
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "HTML reports need jinja2 and plotly; install them with: pip install 'stablek[report]'"
        ) from error
    scripts = [_newlines(get_plotlyjs()), _asset("assets/report.js")]
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": number, "percentage": percentage}
    return environment.from_string(_asset("templates/report.html.j2")).render(
        summary=summary,
        policy=Markup(_policy(scripts)),
        style=Markup(_asset("assets/report.css")),
        data=Markup(_embedded(summary)),
        scripts=[Markup(script) for script in scripts],
    )


def _policy(scripts: list[str]) -> str:
    """Return a content security policy: only these scripts run, and nothing is fetched."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'"
        for s in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        f"img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _embedded(summary: dict[str, Any]) -> str:
    """Return JSON that is safe inside a page: ASCII without angle brackets and ampersands."""
    text = json.dumps(summary, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _asset(name: str) -> str:
    return _newlines(files("stablek.report").joinpath(name).read_text(encoding="utf-8"))


def _newlines(text: str) -> str:
    # A browser turns "\r\n" into "\n" before it compares a script with its hash.
    return text.replace("\r\n", "\n")


def repr_html(selector: Any) -> str:
    """Return a short answer of a fitted selector, for notebooks.

    Parameters
    ----------
    selector : selector
        Fitted.

    Returns
    -------
    str
        HTML with the answer, the reasons and the best candidates.
    """
    fitted = view(selector)
    rows = []
    for position in sorted(contenders(fitted.scores, fitted.selected)):
        cells = [str(fitted.values[position]), number(float(fitted.scores[position]))]
        if fitted.answer_frequency is not None and fitted.frequency is not None:
            cells.append(percentage(float(fitted.frequency[position])))
        strong = ' style="font-weight:bold"' if position == fitted.selected else ""
        rows.append(f"<tr{strong}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    headers = [fitted.parameter, "score"]
    if fitted.answer_frequency is not None:
        headers.append("chosen when resampled")
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    text = sentence(fitted)
    why = "".join(f"<li>{escape(reason)}</li>" for reason in reasons(fitted))
    return (
        f"<div><p><strong>{escape(text[:1].upper() + text[1:])}</strong></p><ul>{why}</ul>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
