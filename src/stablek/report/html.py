"""The summary as one self-contained HTML file, and a short answer for notebooks."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from stablek.inspection import contenders, own_values, pvalue_text
from stablek.report.answer import reasons, sentence
from stablek.report.fitted import Fitted
from stablek.report.inline import score_svg
from stablek.report.numbers import number, percentage
from stablek.report.rivals import rivals

__all__ = ["render_html", "repr_html", "repr_text"]


def render_html(summary: dict[str, Any]) -> str:
    """Render the summary of `stablek.report.summarize` as a self-contained page."""
    try:
        import jinja2
        from jinja2.utils import htmlsafe_json_dumps
        from markupsafe import Markup
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "HTML reports need jinja2 and plotly; install them with: pip install 'stablek[report]'"
        ) from error
    scripts = [_newlines(get_plotlyjs()), _asset("assets/report.js")]
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"number": number, "percentage": percentage, "pvalue": pvalue_text}
    return environment.from_string(_asset("templates/report.html.j2")).render(
        summary=summary,
        policy=Markup(_policy(scripts)),
        style=Markup(_asset("assets/report.css")),
        # JSON that is safe inside a page: ASCII without angle brackets and ampersands.
        data=htmlsafe_json_dumps(summary, separators=(",", ":"), allow_nan=False),
        scripts=[Markup(script) for script in scripts],
    )


def _policy(scripts: list[str]) -> str:
    """Return a content security policy: only these scripts run, and nothing is fetched."""
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        f"img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _asset(name: str) -> str:
    return _newlines(files("stablek.report").joinpath(name).read_text(encoding="utf-8"))


def _newlines(text: str) -> str:
    # A browser turns "\r\n" into "\n" before it compares a script with its hash.
    return text.replace("\r\n", "\n")


def repr_text(selector: Any) -> str:
    """Return the answer of a fitted selector in a sentence, for ``print``."""
    return sentence(Fitted(selector))


def repr_html(selector: Any) -> str:
    """Return a short answer of a fitted selector, for notebooks.

    Parameters
    ----------
    selector : selector
        Fitted.

    Returns
    -------
    str
        HTML with the answer, the reasons, a plot of the scores and the best candidates.
    """
    fitted = Fitted(selector)
    frequency = None if fitted.answer_frequency is None else fitted.frequency
    headers = [fitted.parameter, "score", "chosen when noise draws are resampled"]
    if frequency is None:
        headers.pop()
    own = own_values(selector)
    if own is not None:
        headers.insert(2, own[0])
    head = "".join(f"<th>{escape(header)}</th>" for header in headers)
    rows = []
    for position in sorted(contenders(fitted.scores, fitted.selected)):
        cells = [str(fitted.values[position]), number(float(fitted.scores[position]), "–")]
        if own is not None:
            cells.append(number(float(own[1][position]), "–"))
        if frequency is not None:
            cells.append(percentage(float(frequency[position])))
        strong = ' style="font-weight:bold"' if position == fitted.selected else ""
        rows.append(f"<tr{strong}>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    text = sentence(fitted)
    told = reasons(fitted) + [rival["sentence"] for rival in rivals(fitted)]
    why = "".join(f"<li>{escape(reason)}</li>" for reason in told)
    return (
        f"<div><p><strong>{escape(text[:1].upper() + text[1:])}</strong></p><ul>{why}</ul>"
        f"{score_svg(fitted)}"
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
