"""The commands and their options."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any, NoReturn

import stablek
from stablek.cli import _examples, _values
from stablek.suggesting import (
    ALGORITHM_ALIASES,
    ALGORITHM_HINTS,
    METHOD_ALIASES,
    METHOD_HINTS,
    did_you_mean,
)

__all__ = ["ALGORITHMS", "FILES", "METHODS", "SELECT_ALGORITHMS", "build_parser"]

ALGORITHMS = (
    "kmeans",
    "spherical",
    "ward",
    "average",
    "complete",
    "single",
    "gmm",
    "bisecting",
    "minibatch",
    "spectral",
    "birch",
)
SELECT_ALGORITHMS = (*ALGORITHMS, "hdbscan")
"""With hdbscan, which has no number of clusters to compare or to test."""

# The names of stablek.selectors.registry, which is slow to import.
METHODS = (
    "stadion",
    "wemmert_gancarski",
    "silhouette",
    "davies_bouldin",
    "ray_turi",
    "calinski_harabasz",
    "dunn",
    "xie_beni",
    "elbow",
    "gap_a",
    "gap_b",
    "bic",
    "x_means",
    "g_means",
    "hennig",
    "lange",
    "ben_hur",
    "hofmeyr",
    "special_k",
)

FILES = ("FILE", "R.html", "R.json", "L.csv", "P.png")
"""Metavars of arguments that name files, for shell completion."""


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line, without the usage."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False, **options
        )

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse, or exit with status 2 and the nearest option for one that is unknown."""
        found, rest = self.parse_known_args(args, namespace)
        unknown = next((text for text in rest if text.startswith("-")), None)
        if rest:
            parser = _parser_of(self, found)
            options = parser._option_string_actions
            meant = "" if unknown is None else did_you_mean(unknown.partition("=")[0], options)
            parser.error(f"unrecognized arguments: {' '.join(rest)}{meant}")
        return found

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = [str(choice) for choice in action.choices]
            meant = did_you_mean(value, known, _HINTS.get(action.dest))
            if action.dest == "command" and os.path.lexists(str(value)):
                meant = f"; did you mean: stablek select {shlex.quote(str(value))}"
            raise argparse.ArgumentError(
                action, f"invalid choice: {value!r} (choose from {', '.join(known)}){meant}"
            )

    def error(self, message: str) -> NoReturn:
        """Exit with status 2."""
        line = " ".join(message.split())
        self.exit(2, f"{self.prog}: {line} (see {self.prog} --help)\n")


_HINTS = {"algorithm": ALGORITHM_HINTS, "method": METHOD_HINTS}


def _parser_of(parser: argparse.ArgumentParser, found: argparse.Namespace) -> Any:
    """Return the parser of the command that was found, or of its action."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            name = getattr(found, action.dest, None)
            return parser if name is None else _parser_of(action.choices[name], found)
    return parser


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; ``command`` names the module that runs it."""
    parser = Parser(
        prog="stablek",
        description="How many clusters does your data have, and does it have any?",
        epilog=_examples.ALL,
    )
    parser.add_argument(
        *("-V", "--version"), action="version", version=f"stablek {stablek.__version__}"
    )
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True
    )
    _add_select(commands)
    _add_test(commands)
    _add_compare(commands)
    _add_demo(commands)
    _add_datasets(commands)
    commands.add_parser(
        "warmup",
        help="compile the kernels now, for images and CI",
        description="Compile the kernels that fits with default settings use, so that no later "
        "fit has to: for container images and CI. They are kept on disk, in NUMBA_CACHE_DIR if "
        "it is set.",
    )
    _add_completion(commands)
    return parser


def _add_select(commands: Any) -> None:
    parser = commands.add_parser(
        "select",
        help="choose the number of clusters of the rows of a file",
        description="Choose the number of clusters of the rows of a file, and show the evidence.",
        epilog=_examples.SELECT,
    )
    _add_input(parser)
    model = parser.add_argument_group("what to run")
    _add_k(model)
    model.add_argument(
        "--algorithm",
        type=_values.name_among(SELECT_ALGORITHMS, ALGORITHM_ALIASES),
        choices=SELECT_ALGORITHMS,
        metavar="NAME",
        help=f"clustering algorithm: {', '.join(SELECT_ALGORITHMS)} (default: kmeans; gmm for "
        "bic; with hdbscan, --k and --omega are values of min_cluster_size)",
    )
    model.add_argument(
        "--method",
        type=_values.name_among(METHODS, METHOD_ALIASES),
        choices=METHODS,
        default="stadion",
        metavar="NAME",
        help=f"criterion: {', '.join(METHODS)} (default: stadion)",
    )
    _add_settings(model)
    model.add_argument(
        "--subsamples",
        type=_values.count(0),
        default=20,
        metavar="N",
        help="number of subsamples of the rows on which K is chosen again, to show how sure the "
        "answer is; 0 for none (default: 20)",
    )
    files = parser.add_argument_group("output files")
    files.add_argument("--report", metavar="R.html", help="report (.html, .md or .json)")
    files.add_argument("--json", metavar="R.json", help="summary as JSON; - for standard output")
    files.add_argument(
        "--labels",
        metavar="L.csv",
        help="cluster of each row, in the order of the input; - for standard output; .parquet if "
        "the input is read in blocks",
    )
    files.add_argument(
        "--append",
        action="store_true",
        help="write all columns of FILE to --labels, with the cluster as the last one",
    )
    files.add_argument(
        "--safe-csv",
        action="store_true",
        help="put ' before ids and texts that a spreadsheet would run as formulas (for --labels)",
    )
    files.add_argument(
        "--plot", metavar="P.png", help="plot of the stability paths (.png, .pdf, .svg)"
    )


def _add_test(commands: Any) -> None:
    parser = commands.add_parser(
        "test",
        help="test whether the rows of a file have clusters at all",
        description="Test whether the rows of a file have cluster structure at all. A small "
        "p-value speaks for clusters.",
        epilog=_examples.TEST,
    )
    _add_input(parser)
    model = parser.add_argument_group("what to run")
    model.add_argument(
        "--k",
        type=_values.numbers(2),
        metavar="RANGE",
        help="numbers of clusters to look for; at most eight of them are tested, the smallest and "
        "the largest among them (default: 2:20, or fewer if the file has fewer distinct rows)",
    )
    model.add_argument(
        "--algorithm",
        type=_values.name_among(ALGORITHMS, ALGORITHM_ALIASES),
        choices=ALGORITHMS,
        default="kmeans",
        metavar="NAME",
        help=f"clustering algorithm: {', '.join(ALGORITHMS)} (default: kmeans, which finds most)",
    )
    model.add_argument(
        "--alpha",
        type=_values.level,
        default=0.05,
        metavar="A",
        help="level of the test: the share of false alarms (default: 0.05)",
    )
    model.add_argument(
        "--reference-sets",
        type=_values.count(3),
        default=50,
        metavar="N",
        help="most reference sets of each kind (default: 50)",
    )
    _add_seed(model)
    _add_jobs(model)
    files = parser.add_argument_group("output files")
    files.add_argument("--json", metavar="R.json", help="the test as JSON; - for standard output")
    files.add_argument(
        "--plot", metavar="P.png", help="plot of the statistic and the reference sets"
    )


def _add_compare(commands: Any) -> None:
    parser = commands.add_parser(
        "compare",
        help="compare what several criteria choose",
        description="Compare what several criteria choose among the same partitions.",
        epilog=_examples.COMPARE,
    )
    _add_input(parser)
    model = parser.add_argument_group("what to run")
    _add_k(model)
    model.add_argument(
        "--methods",
        type=_values.names_among(METHODS, METHOD_ALIASES, METHOD_HINTS),
        metavar="NAMES",
        help=f"criteria, separated by commas: {', '.join(METHODS)} (default: all)",
    )
    model.add_argument(
        "--algorithms",
        type=_values.names_among(ALGORITHMS, ALGORITHM_ALIASES, ALGORITHM_HINTS),
        default=("kmeans",),
        metavar="NAMES",
        help=f"clustering algorithms: {', '.join(ALGORITHMS)} (default: kmeans)",
    )
    _add_settings(model)
    files = parser.add_argument_group("output files")
    files.add_argument("--report", metavar="R.html", help="report (.html, .md or .json)")
    files.add_argument("--json", metavar="R.json", help="table as JSON; - for standard output")


def _add_demo(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="choose the number of clusters of built-in data",
        description="Choose the number of clusters of built-in data. Write the report to "
        "stablek-demo.html and the stability paths to stablek-demo.png.",
    )
    parser.add_argument(
        "--output-dir", default=".", metavar="DIR", help="folder for the two files (default: .)"
    )
    _add_jobs(parser)


def _add_datasets(commands: Any) -> None:
    parser = commands.add_parser(
        "datasets",
        help="the benchmark data sets of the paper",
        description="List the benchmark data sets of the paper, or fetch one as a CSV file.",
    )
    actions = parser.add_subparsers(
        title="actions", dest="action", metavar="ACTION", required=True
    )
    actions.add_parser(
        "list", help="names, sizes and numbers of clusters", description="List the data sets."
    )
    fetch = actions.add_parser(
        "fetch",
        help="write one as a CSV file",
        description="Write one data set as a CSV file with the columns x1, x2, ... and label. "
        "The first time, it is downloaded.",
        epilog="examples:\n  stablek datasets fetch hepta\n"
        "  stablek select hepta.csv --drop label\n",
    )
    fetch.add_argument("name", metavar="NAME", help="a name from stablek datasets list")
    fetch.add_argument(
        "--output", metavar="FILE", help="file to write (default: NAME.csv); - for standard output"
    )


def _add_completion(commands: Any) -> None:
    parser = commands.add_parser(
        "completion",
        help="completion script for a shell",
        description="Print a completion script for a shell.",
        epilog=_examples.COMPLETION,
    )
    parser.add_argument("shell", choices=("bash", "zsh", "fish"), help="bash, zsh or fish")


def _add_input(parser: argparse.ArgumentParser) -> None:
    data = parser.add_argument_group("input")
    data.add_argument(
        "file",
        metavar="FILE",
        help=".csv .txt .tsv .xlsx .parquet .arrow .feather .json .jsonl .npy .npz .dta, "
        "text also as .gz .bz2 .xz; - for standard input; for select also a folder or a quoted "
        "glob of Parquet files",
    )
    some = data.add_mutually_exclusive_group()
    some.add_argument(
        "--columns", type=_values.names, metavar="NAMES", help="use only these columns, as in a,b"
    )
    some.add_argument(
        "--drop", type=_values.names, default=(), metavar="NAMES", help="leave these columns out"
    )
    data.add_argument(
        "--id", metavar="NAME", help="column that names the rows; it is not clustered"
    )
    data.add_argument(
        "--missing",
        choices=("drop", "mean"),
        help="leave out rows with missing values, or fill in column means (default: refuse them)",
    )
    data.add_argument(
        "--no-scale",
        action="store_true",
        help="cluster the numbers as they are (default: scale columns to mean 0, variance 1; "
        "spherical never scales them)",
    )
    data.add_argument(
        "--format",
        choices=("csv", "tsv", "parquet", "arrow", "npy", "npz", "json", "jsonl", "xlsx", "dta"),
        help="format of FILE (default: by its suffix, csv for standard input)",
    )
    data.add_argument(
        "--delimiter",
        type=_values.delimiter,
        metavar="CHAR",
        help="delimiter of a text file (default: detected)",
    )
    data.add_argument(
        "--decimal", choices=(".", ","), help="decimal mark of a text file (default: detected)"
    )
    data.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line of a text file has column names (default: detected)",
    )


def _add_k(group: Any) -> None:
    group.add_argument(
        "--k",
        type=_values.numbers(1),
        metavar="RANGE",
        help="candidate numbers of clusters, as in 1:20, 1-20 or 2,4,8 (default: 1:20, or fewer "
        "if the file has fewer distinct rows)",
    )


def _add_settings(group: Any) -> None:
    group.add_argument(
        "--relabel",
        choices=("auto", "refit", "extend", "predict"),
        help="how perturbed copies get labels: run the algorithm again, extend the first "
        "partition (mixtures take the noise into account), or let it predict as it is "
        "(stadion only; default: auto, which extends if the algorithm can)",
    )
    group.add_argument(
        "--omega",
        type=_values.numbers(2),
        metavar="RANGE",
        help="numbers of clusters to look for inside each cluster (stadion only; default: 2:5)",
    )
    group.add_argument(
        "--one-cluster",
        choices=("test", "crossing", "never"),
        help="when the answer is 1: if the structure test finds nothing, by the rule of the "
        "paper, or never (stadion only; default: test)",
    )
    group.add_argument(
        "--alpha",
        type=_values.level,
        metavar="A",
        help="level of the structure test: the share of false alarms (stadion only; "
        "default: 0.05)",
    )
    _add_seed(group)
    _add_jobs(group)


def _add_seed(group: Any) -> None:
    group.add_argument(
        "--seed",
        type=_values.seed,
        default=0,
        metavar="N",
        help="random seed; the same seed gives the same answer (default: 0)",
    )


def _add_jobs(group: Any) -> None:
    group.add_argument(
        "--jobs",
        type=_values.workers,
        default=-1,
        metavar="N",
        help="number of workers; -1 for all cores (default: -1)",
    )
