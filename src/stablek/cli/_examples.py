"""Examples in the help texts."""

__all__ = ["ALL", "COMPARE", "COMPLETION", "SELECT", "TEST"]

ALL = """\
examples:
  stablek demo
      try it on built-in data, and write a report
  stablek select points.csv
      choose the number of clusters, and show the evidence
  stablek select sales.csv --id customer --drop region --k 1:12 --report sales.html
      leave out one column, keep another as the row id, and write a report
  zcat points.csv.gz | stablek select - --algorithm ward --labels labels.csv
      read standard input, and write the chosen cluster of each row
  stablek test points.csv
      test whether there are clusters at all
  stablek compare points.csv --methods stadion,silhouette,gap_a
      compare several criteria on the same partitions

exit status:
  0 with an answer, 1 for an error in stablek itself, 2 for bad input (one line on
  standard error says what is wrong), 130 after Ctrl-C
"""

SELECT = """\
examples:
  stablek select points.csv
  stablek select points.parquet --k 2,4,8 --algorithm gmm --seed 1
  stablek select survey.csv --columns age,income --missing mean --report survey.html
  stablek select export.csv --id customer --labels labels.csv --json answer.json
  stablek select points.csv --json - | python -m json.tool
"""

TEST = """\
examples:
  stablek test points.csv
  stablek test points.csv --alpha 0.01 --plot test.png
  stablek test points.csv --json - | python -m json.tool
"""

COMPARE = """\
examples:
  stablek compare points.csv
  stablek compare points.csv --methods stadion,silhouette,gap_a --k 1:8
  stablek compare points.csv --methods stadion --algorithms kmeans,ward,gmm
"""

COMPLETION = """\
examples:
  stablek completion bash > ~/.local/share/bash-completion/completions/stablek
  stablek completion zsh > "${fpath[1]}/_stablek"
  stablek completion fish > ~/.config/fish/completions/stablek.fish
"""
