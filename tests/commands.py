"""The command line in a process of its own."""

from __future__ import annotations

import subprocess
import sys


def stablek_command(*args: str) -> list[str]:
    return [sys.executable, "-m", "stablek", *args]


def run(*args: str, **options) -> subprocess.CompletedProcess[str]:
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run(
        stablek_command(*args), capture_output=True, text=True, timeout=300, **options
    )


def run_code(code: str, *args: str, **options) -> subprocess.CompletedProcess[str]:
    """Run main after some code that breaks its environment."""
    program = f"import sys\n{code}\nfrom stablek.cli import main\nsys.exit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", program, *args],
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


def assert_refused(done: subprocess.CompletedProcess[str], *said: str, status: int = 2) -> None:
    """Assert that there is one line on stderr and nothing on stdout."""
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("stablek")
    for part in said:
        assert part in done.stderr
