"""Files to points: any table of numbers as (X, column names, ids), or an error that helps.

Formats are told by the suffix: CSV and text (delimiter, decimal comma and header are detected),
TSV, Parquet, Arrow and Feather, ``.npy`` and ARFF; ``-`` is standard input.
"""

from stablek.reading._errors import InputError
from stablek.reading._formats import FORMATS, format_of
from stablek.reading._points import Points, n_distinct, read_points, standardize
from stablek.reading._text import Layout

__all__ = [
    "FORMATS",
    "InputError",
    "Layout",
    "Points",
    "format_of",
    "n_distinct",
    "read_points",
    "standardize",
]
