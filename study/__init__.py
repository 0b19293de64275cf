"""The experiments of the paper, run with the public API of stablek: ``python -m study --help``."""
