"""The evidence as one file: HTML to look at, JSON and Markdown from the same summary."""

from stablek.report.html import repr_html
from stablek.report.summary import summarize
from stablek.report.writing import write_report

__all__ = ["repr_html", "summarize", "write_report"]
