"""Build the sdist and the wheel, and try the wheel as a user would: `make package`.

Needs Python only. Everything happens in fresh environments, outside the checkout.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
SOURCE = ROOT / "src" / "stablek"


def main() -> None:
    """Run all steps; the first that fails ends the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tag", help="tag of the release, which must be v and the version")
    tag = parser.parse_args().tag
    version = read_version()
    if tag is not None and tag != f"v{version}":
        sys.exit(f"tag {tag} does not fit version {version} of src/stablek/__init__.py")
    shutil.rmtree(DIST, ignore_errors=True)
    with TemporaryDirectory() as folder:
        tools = environment(Path(folder) / "tools", "build", "twine")
        run(tools, "-m", "build", str(ROOT), "--outdir", str(DIST))
        run(tools, "-m", "twine", "check", "--strict", *map(str, DIST.iterdir()))
        wheel = check_contents(version)
        user = environment(Path(folder) / "user", f"stablek[cli,plot] @ {wheel.as_uri()}")
        try_as_user(user, version, Path(folder))
    print(f"{wheel.name}: built, checked, installed and used")


def read_version() -> str:
    """Version in `stablek.__init__`, the only place that has it."""
    text = (SOURCE / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)[1]


def environment(folder: Path, *packages: str) -> Path:
    """Return the Python of a new environment with these packages."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages)
    return python


def run(python: Path, *arguments: str, cwd: Path | None = None) -> str:
    """Run Python without the caller's path; its output is shown only if it fails."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [str(python), *arguments], cwd=cwd, env=clean, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def check_contents(version: str) -> Path:
    """Every file of the package is in the wheel, and nothing else; the sdist has the tests."""
    (wheel,) = DIST.glob(f"stablek-{version}-py3-none-any.whl")
    (sdist,) = DIST.glob(f"stablek-{version}.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"stablek-{version}.dist-info/METADATA").decode()
    ours = {
        path.relative_to(SOURCE.parent).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    packed = {name for name in names if not name.startswith(f"stablek-{version}.dist-info/")}
    if packed != ours:
        sys.exit(f"the wheel differs from src/stablek in {sorted(packed ^ ours)}")
    relative = re.findall(r"\]\((?!https?://|#)([^)]+)\)", metadata)
    if relative or "](https://" not in metadata:
        sys.exit(f"links of the README that PyPI cannot follow: {relative}")
    with tarfile.open(sdist) as archive:
        parts = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    if not {"src", "tests", "pyproject.toml", "LICENSE"} <= parts or "study" in parts:
        sys.exit(f"unexpected folders in the sdist: {sorted(parts)}")
    return wheel


def try_as_user(python: Path, version: str, folder: Path) -> None:
    """Import the installed package, and run the demo."""
    assert run(python, "-c", "import stablek; print(stablek.__version__)").strip() == version
    where = run(python, "-c", "import stablek; print(stablek.__file__)", cwd=folder).strip()
    assert str(SOURCE) not in where, where
    output = run(python, "-m", "stablek", "demo", "--output-dir", str(folder), cwd=folder)
    (answer,) = (line for line in output.splitlines() if line.startswith("5 clusters"))
    print(answer)
    assert (folder / "stablek-demo.html").stat().st_size > 1_000_000


if __name__ == "__main__":
    main()
