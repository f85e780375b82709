"""Runs Formatron's own tests over two engines: ``python -m kbnf_testing.formatron_suite``.

``PYTHONPATH`` has ``tests/support``. ``tests/serving/hosts.py`` fetches Formatron, the Rust engine
and the tests; ``formatron_plays`` is what stands in for models, ``formatron_filter`` tests that
exllamav3 has none of. Prints a line for each test: how it ended on either engine, and whether all
that it compares is the same.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[3]
HOME = ROOT / ".hosts" / "formatron"
PACKAGES, TESTS = HOME / "packages", HOME / "tests"
SUPPORT = ROOT / "tests" / "support"
SUITES = ("test_formatter.py", "test_grammar_gen.py", "test_rwkv_integration.py",
          "test_transformers_integration.py",
          str(Path(__file__).with_name("formatron_filter.py")))  # fmt: skip
"""Formatron's others need CUDA at import: exllamav2 and vLLM."""

ENGINES = {"rust": [], "compat": [ROOT / "integrations" / "kbnf-compat"]}
"""What goes before the packages, in which ``kbnf`` is the Rust engine."""


class Pair(NamedTuple):
    """A test on the Rust engine and on ours: how it ended, and what it compares."""

    name: str
    rust: dict[str, Any]
    ours: dict[str, Any]

    @property
    def is_same(self) -> bool:
        """Return whether outcome, texts and captures are the same."""
        wanted = ("outcome", "values")
        return [self.rust.get(key) for key in wanted] == [self.ours.get(key) for key in wanted]


def run(engine: str) -> dict[str, dict[str, Any]]:
    """Return what each test did on an engine."""
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "record.json"
        places = [*ENGINES[engine], PACKAGES, SUPPORT]
        settings = ["-q", "-o", "addopts=", "-p", "kbnf_testing.formatron_plays"]
        subprocess.run(
            [sys.executable, "-m", "pytest", *settings, "-p", "no:cacheprovider", *SUITES],
            cwd=TESTS,
            env=os.environ | {
                "PYTHONPATH": os.pathsep.join(map(str, places)), "FORMATRON_RECORD": str(record),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            stdout=subprocess.DEVNULL,
            check=False,
        )  # fmt: skip
        found: dict[str, dict[str, Any]] = json.loads(record.read_text(encoding="utf-8"))
        return found


def pairs() -> list[Pair]:
    """Run all tests on both engines."""
    rust, ours = run("rust"), run("compat")
    return [Pair(name, rust.get(name, {}), ours.get(name, {})) for name in rust | ours]


def main() -> None:
    """Print a line for each test."""
    found = pairs()
    for pair in found:
        said = "same" if pair.is_same else "DIFFERENT"
        sys.stdout.write(
            f"{said} {pair.rust.get('outcome')} {pair.ours.get('outcome')} {pair.name}\n"
        )
    same = sum(pair.is_same for pair in found)
    sys.stdout.write(f"{same} of {len(found)} the same\n")


if __name__ == "__main__":
    main()
