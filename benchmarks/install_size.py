"""Megabytes that an installation takes on disk, the core and what each extra adds to it.

    python -m benchmarks.install_size             # this checkout: the core, and the extra "cli"
    python -m benchmarks.install_size cli plot    # other extras
    python -m benchmarks.install_size --of PATH   # another checkout

Each set of packages is installed into a fresh folder, with compiled bytecode as pip leaves it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def sizes(repository: Path, extras: Sequence[str] = ()) -> dict[str, float]:
    """Megabytes of each folder or file that ``pip install`` puts beside the package."""
    named = f"{repository}[{','.join(extras)}]" if extras else str(repository)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, named]
        subprocess.run([*command, "--disable-pip-version-check"], check=True)
        return {path.name: _megabytes(path) for path in Path(folder).iterdir()}


def _megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    # Blocks, as du counts them: small files take more room than they have bytes.
    return sum(file.lstat().st_blocks * 512 for file in files) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("extras", nargs="*", default=["cli"])
    parser.add_argument("--of", type=Path, default=REPOSITORY, help="checkout to install")
    args = parser.parse_args()
    core = sizes(args.of)
    total = sum(core.values())
    print(f"core: {total:.0f} MB")
    for extra in args.extras:
        found = sizes(args.of, [extra])
        added = {name: size for name, size in found.items() if name not in core}
        print(f"{extra}: {sum(found.values()):.0f} MB, {sum(added.values()):.0f} MB of it added")
        for name, size in sorted(added.items(), key=lambda item: -item[1])[:12]:
            print(f"  {size:6.1f}  {name}")


if __name__ == "__main__":
    main()
