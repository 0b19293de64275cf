"""The paper's study on the public API of stablek: ``python -m study --help``."""
