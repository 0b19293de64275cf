"""Data that do not fit into memory: block -> sums and tables -> ordered reduce.

- `core` says what a block is and adds up partial results in a fixed order.
- `inputs` finds out what a user passed; `files`, `parquet` and `dask` hand out its blocks.
- `threads` and `dask` run a function over all blocks.
- `survey` is the first pass: checks, moments and the sample.
- `kmeans` and `mixture` refine models of the sample on all rows, and measure them.
- `measuring` turns what a family of models counted into stability paths.

An adapter for another engine implements `core.Blocks` and gets a branch in `inputs`.
"""
