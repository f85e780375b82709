"""Creates the environments of the reference engines, and prints where their interpreters are.

``python tests/differential/peers.py [VERSION...]`` makes ``.peers/kbnf-VERSION`` in the root of
the repository where it is not there yet. Runs at the same time wait for each other.
"""

import fcntl
import os
import subprocess
import sys
import venv
from pathlib import Path

VERSIONS = ("0.2.9", "0.4.2")
_ROOT = Path(__file__).resolve().parents[2] / ".peers"


def ensure_peer(version: str) -> Path:
    """Return the interpreter that has ``kbnf==version``; make its environment if need be."""
    _ROOT.mkdir(exist_ok=True)
    home = _ROOT / f"kbnf-{version}"
    with (_ROOT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not home.exists():
            _create(home, version)
    return home / "bin" / "python"


def _create(home: Path, version: str) -> None:
    """Make the environment beside its place and move it there, so that it is whole or absent."""
    unfinished = home.with_suffix(f".{os.getpid()}")
    venv.create(unfinished, with_pip=True, clear=True)
    install = [str(unfinished / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, f"kbnf=={version}"], check=True, stdout=sys.stderr)
    unfinished.rename(home)


if __name__ == "__main__":
    for wanted in sys.argv[1:] or VERSIONS:
        sys.stdout.write(f"{ensure_peer(wanted)}\n")
