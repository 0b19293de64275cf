"""``stablek completion``: completion scripts, made by shtab from the parser."""

from __future__ import annotations

import argparse
from typing import Any

from stablek.cli._parser import FILES, build_parser
from stablek.cli._running import require

__all__ = ["run", "script"]


def run(args: argparse.Namespace) -> None:
    """Print the script for a shell."""
    print(script(args.shell))


def script(shell: str) -> str:
    """Return the completion script for bash, zsh or fish."""
    require("shtab", purpose="stablek completion")
    import shtab

    parser = build_parser()
    _mark_values(parser)
    return shtab.complete(parser, shell)


def _mark_values(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which arguments are files, folders or names of data sets."""
    action: Any
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _mark_values(below)
        elif action.metavar in FILES:
            action.complete = "file"
        elif action.metavar == "DIR":
            action.complete = "directory"
        elif action.dest == "name":
            from stablek.datasets import list_benchmark

            action.choices = [info.name for info in list_benchmark()]
