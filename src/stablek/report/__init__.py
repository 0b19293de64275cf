"""Reports: the answer and its evidence as one HTML, JSON or Markdown file."""

from stablek.report.html import repr_html, repr_text
from stablek.report.summary import describe_answer, summarize
from stablek.report.writing import write_report, write_summary

__all__ = [
    "describe_answer",
    "repr_html",
    "repr_text",
    "summarize",
    "write_report",
    "write_summary",
]
