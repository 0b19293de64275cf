"""Reports: the answer and its evidence as one HTML, JSON or Markdown file."""

from stablek.report.html import repr_html, repr_text
from stablek.report.summary import summarize
from stablek.report.writing import write_report

__all__ = ["repr_html", "repr_text", "summarize", "write_report"]
