"""Types of option values. Argparse puts the name of the option before their messages."""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Callable, Mapping, Sequence

from stablek.suggesting import canonical, did_you_mean

__all__ = [
    "count",
    "delimiter",
    "level",
    "name_among",
    "names",
    "names_among",
    "numbers",
    "seed",
    "workers",
]

_LARGEST = 100_000


def numbers(smallest: int) -> Callable[[str], tuple[int, ...]]:
    """Return the type of a range of whole numbers such as 1:20, 1-20 or 2,4,8."""

    def parse(text: str) -> tuple[int, ...]:
        values: list[int] = []
        for part in text.split(","):
            found = re.fullmatch(r"\s*(\d{1,9})\s*(?:[:-]\s*(\d{1,9})\s*)?", part)
            if not found:
                raise argparse.ArgumentTypeError(
                    f"{text!r} is not a range of whole numbers such as 1:20, 1-20 or 2,4,8"
                )
            first, last = int(found[1]), int(found[2] or found[1])
            if last - first > _LARGEST:
                raise argparse.ArgumentTypeError(f"{text!r} is too long a range")
            if last < first:
                raise argparse.ArgumentTypeError(f"{text!r} runs backwards")
            values.extend(range(first, last + 1))
        if min(values) < smallest:
            raise argparse.ArgumentTypeError(f"{text!r} must start at {smallest} or above")
        if values != sorted(set(values)):
            raise argparse.ArgumentTypeError(f"{text!r} must ascend without repeating a number")
        return tuple(values)

    return parse


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas. Names with commas are in double quotes, as in CSV."""
    try:
        cells = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise argparse.ArgumentTypeError(
            f"{text!r} has a line break; put names with line breaks in double quotes"
        ) from None
    found = tuple(cell.strip() for cell in cells)
    if not found or "" in found:
        raise argparse.ArgumentTypeError(f"{text!r} must be names separated by commas")
    return found


def name_among(known: tuple[str, ...], aliases: Mapping[str, str]) -> Callable[[str], str]:
    """Return the type of a known name or an alias of one; argparse refuses the others."""

    def parse(text: str) -> str:
        return canonical(text, known, aliases) or text

    return parse


def names_among(
    known: tuple[str, ...], aliases: Mapping[str, str], hints: Mapping[str, Sequence[str]]
) -> Callable[[str], tuple[str, ...]]:
    """Return the type of known names separated by commas, or "all"."""

    def one(text: str) -> str:
        found = canonical(text, known, aliases)
        if found is None:
            raise argparse.ArgumentTypeError(
                f"unknown name {text!r} (choose from {', '.join(known)})"
                f"{did_you_mean(text, known, hints)}"
            )
        return found

    def parse(text: str) -> tuple[str, ...]:
        return known if text == "all" else tuple(dict.fromkeys(map(one, names(text))))

    return parse


def delimiter(text: str) -> str:
    """One character, or the word tab or space."""
    found = {"\\t": "\t", "tab": "\t", "space": " "}.get(text, text)
    if len(found) != 1 or not found.isascii() or found in '"\r\n':
        raise argparse.ArgumentTypeError(
            f"{text!r} must be one character (ASCII, no quote, no line break), tab or space"
        )
    return found


def count(smallest: int) -> Callable[[str], int]:
    """Return the type of a whole number of at least ``smallest``."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,6}", text) or int(text) < smallest:
            raise argparse.ArgumentTypeError(
                f"{text!r} must be a whole number of at least {smallest}"
            )
        return int(text)

    return parse


def level(text: str) -> float:
    """A number between 0 and 1, both excluded."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0.0 < value < 1.0:
        raise argparse.ArgumentTypeError(
            f"{text!r} must be a number between 0 and 1, such as 0.05"
        )
    return value


def seed(text: str) -> int:
    """A whole number of at least 0."""
    if not re.fullmatch(r"\d{1,38}", text):
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number of at least 0")
    return int(text)


def workers(text: str) -> int:
    """A whole number other than 0."""
    if not re.fullmatch(r"-?\d{1,6}", text) or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number other than 0")
    return int(text)
