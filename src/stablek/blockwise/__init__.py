"""Data that do not fit into memory: block -> sums and tables -> ordered reduce.

- `core` says what a block is and adds up partial results in a fixed order.
- `inputs` finds out what a user passed; `files`, `parquet`, `arrow` and `dask` hand out blocks.
- `threads` and `dask` run a function over all blocks.
- `survey` is the first pass: checks, moments and the sample.
- `layout` says which partitions there are, and `kmeans` refines their models on all rows.
- `measuring` turns tables into stability paths, and `indices` sums into centroid indices.
- `scaling` standardizes blocks, for the command line.

An adapter for another engine implements `core.Blocks` and gets a branch in `inputs`.
"""
