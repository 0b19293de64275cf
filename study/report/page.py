"""Write the tables, the figures and the pages of the study from the finished rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import pandas as pd

from study.experiments import EXPERIMENTS, plan
from study.protocol import Protocol
from study.report import (
    cost,
    examples,
    harder,
    hyperparameters,
    nonclusterable,
    real,
    significance,
    similarity,
    structure,
    structure_settings,
    table1,
    timing,
)
from study.report.blocks import Block, Drawing, Table
from study.store import Store

SECTIONS = (
    table1,
    significance,
    harder,
    real,
    nonclusterable,
    structure,
    structure_settings,
    examples,
    hyperparameters,
    similarity,
    cost,
)
_NEEDS = {significance: "table1"}
REMARKS = Path(__file__).parent.parent / "remarks"

_INTRODUCTION = """# The study

We ran every experiment of the paper (Mourer et al., 2023) and of its supplement again with
stablek. The tables show the paper's numbers beside ours. `python -m study tables` generates these
pages from the rows in `study/results/`, whether or not they agree with the paper. They say what
has not been run. Nothing was tuned to a data set. [The study in one page](findings.md) is the
summary.
"""

_SETTINGS = """## Settings

All data are standardized. K-means uses k-means++ and the best of {n_init} starts. K ranges from
1 to {k_max}. Stadion uses uniform noise, D = {n_perturbations}, Ω = {{2..{omega_max}}} and the
ARI. The paper leaves some settings open. We chose:

- *Noise levels.* Today's default is a fixed grid of {n_epsilons} even levels from 0 to √p. The
  committed Stadion rows of Table 1, of the data without clusters and of the examples are older.
  They were computed with a search for levels that the first version of stablek had (about
  {n_epsilons} levels up to the crossing). Rows computed later use the fixed grid and replace the
  older ones. The note under "What has been run" counts both. Methods named "even levels to √p"
  use the fixed grid in all rows, and so do the sections on hyperparameters and on similarity
  measures.
- *Gap.* The defaults of clusGap: {n_references} reference sets, plain distances and the rule
  `firstSEmax`. (A) and (B) are its two reference distributions. The other rules and squared
  distances are shown as further readings.
- *Gap, Hennig, Lange and Ben-Hur.* The best of {n_init_resampled} starts, because each of them
  clusters hundreds of sets.
- *Hennig.* The largest mean over clusters.
- *Silhouette.* The mean over clusters, as in clusterCrit.
"""


_HOW = """## Run it

```
python -m study run --jobs 2              # everything; you can stop it and resume it at any time
python -m study run --only table1 --algorithm kmeans --minutes 30
python -m study run --backend dask --scheduler tcp://host:8786
python -m study status
python -m study tables                    # these pages and study/results/tables/
python -m study tables --only structure   # the overview and the pages of one experiment
python -m study figures                   # docs/study/
```

Each run is a row of `study/study.sqlite`, stored as soon as the run ends. Its full settings
identify it: a changed setting gives another row. Finished rows are exported to
`study/results/*.csv`, so that another machine can continue from them. Data are fetched and
cached, or read from the folder in `STABLEK_DATA_DIR`. If a worker is killed, for example because
memory runs out, the command names the task and leaves it for the next time. Full mixtures in 64
and more dimensions, for all K up to 60 and all their clusters, need the most memory.
"""


def _loaded(store: Store, protocol: Protocol) -> tuple[list, pd.DataFrame]:
    runs = plan(protocol)
    return runs, store.frame(runs)


def _stem(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _experiment(module: ModuleType) -> str:
    return _NEEDS.get(module, _stem(module))


def _sections(only: Sequence[str] | None) -> list[ModuleType]:
    return [module for module in SECTIONS if only is None or _experiment(module) in only]


def _blocks(module: ModuleType, frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    if (frame["experiment"] == _experiment(module)).any():
        yield from module.section(frame, protocol)
    else:
        yield "Not run yet."


def write_tables(
    store: Store, protocol: Protocol, docs: Path, only: Sequence[str] | None = None
) -> None:
    """Write the overview, a page for each section, and a CSV file for each table.

    ``only`` names the experiments whose sections are written; None writes all.
    """
    runs, frame = _loaded(store, protocol)
    store.export()
    folder = store.results / "tables"
    folder.mkdir(parents=True, exist_ok=True)
    pages = docs / "study"
    pages.mkdir(parents=True, exist_ok=True)
    for module in _sections(only):
        text = [f"# {module.TITLE}", _remarks(_stem(module))]
        for block in _blocks(module, frame, protocol):
            if isinstance(block, Table):
                (folder / f"{block.name}.csv").write_text(block.csv(), encoding="utf-8")
                if block.on_page:
                    text.append(block.markdown())
            elif isinstance(block, Drawing):
                text.append(f"![{block.caption}]({block.file})\n\n*{block.caption}*")
            else:
                text.append(block)
        _write(pages / f"{_stem(module)}.md", text)
    settings = _SETTINGS.format(**vars(protocol))
    status = _status(runs, frame).markdown()
    _write(docs / "study.md", [_INTRODUCTION, _contents(), settings, status, _HOW])


def _write(file: Path, text: list[str]) -> None:
    file.write_text("\n\n".join(part.strip() for part in text if part) + "\n", encoding="utf-8")


def _contents() -> str:
    """The sections, for readers of the file and of the site."""
    lines = [f"- [{module.TITLE}](study/{_stem(module)}.md)" for module in SECTIONS]
    tree = ["```{toctree}", ":hidden:", ""]
    tree += [f"study/{_stem(module)}" for module in SECTIONS]
    return "\n".join(["## Sections", "", *lines, "", *tree, "```"])


def _remarks(name: str) -> str:
    """Comments written by hand, such as likely reasons for a result; "" if there are none."""
    file = REMARKS / f"{name}.md"
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _status(runs: list, frame: pd.DataFrame) -> Table:
    done = frame.groupby(["experiment", "algorithm"]).size()
    planned: dict[tuple[str, str], int] = {}
    for run in runs:
        planned[run.experiment, run.algorithm] = (
            planned.get((run.experiment, run.algorithm), 0) + 1
        )
    took = timing.task_seconds(frame, runs).groupby(["experiment", "algorithm"]).sum() / 3600.0
    body = [
        [*where, done.get(where, 0), total, took.get(where)] for where, total in planned.items()
    ]
    body.sort(key=lambda row: list(EXPERIMENTS).index(row[0]))
    columns = ("experiment", "algorithm", "runs done", "of", "hours of one core")
    stadion = frame[frame["method"].str.startswith("stadion")]
    default = {run.key for run in runs if run.former is not None}
    searched = int(stadion["former"].sum())
    note = (
        f"Stadion with the default noise levels: {searched} runs used the search of the first "
        f"version, {int(stadion['key'].isin(default).sum()) - searched} the fixed grid."
    )
    return Table("status", "What has been run", columns, body, note)


def write_figures(
    store: Store, protocol: Protocol, docs: Path, only: Sequence[str] | None = None
) -> None:
    """Write the figures of all sections, or of those of some experiments."""
    import matplotlib

    matplotlib.use("Agg")
    folder = docs / "study"
    folder.mkdir(parents=True, exist_ok=True)
    _, frame = _loaded(store, protocol)
    for module in _sections(only):
        for block in _blocks(module, frame, protocol):
            if isinstance(block, Drawing):
                save(block, folder)


def save(drawing: Drawing, folder: Path) -> None:
    """Draw into a file. The same rows give the same file."""
    from matplotlib import pyplot as plt

    style = {"svg.hashsalt": "stablek", "svg.fonttype": "none", "font.size": 8.0}
    with plt.rc_context(style):
        figure = drawing.draw()
        metadata = {"Date": None} if drawing.suffix == "svg" else {"Software": None}
        figure.savefig(folder / drawing.file, dpi=80, metadata=metadata)
        plt.close(figure)
