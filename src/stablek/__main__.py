"""``python -m stablek``."""

import sys

from stablek.cli import main

if __name__ == "__main__":
    sys.exit(main())
