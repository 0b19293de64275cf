"""Read a table of numbers from a file as points, or raise an error that says what to do.

The suffix tells the format: CSV and text (delimiter, decimal mark and header are detected), TSV,
Parquet, Arrow, Feather or ``.npy``. ``-`` is standard input.
"""

from stablek.reading._columns import choose_columns
from stablek.reading._errors import InputError, Message, Parameter
from stablek.reading._formats import FORMATS, format_of
from stablek.reading._points import Points, read_points, standardize
from stablek.reading._text import Layout

__all__ = [
    "FORMATS",
    "InputError",
    "Layout",
    "Message",
    "Parameter",
    "Points",
    "choose_columns",
    "format_of",
    "read_points",
    "standardize",
]
