"""Runs the robustness tests for hours: one seed after another, on a kernel that watches itself.

    python tests/robustness/run.py --hours 2 --kernel asan

A line for each round; the full output of a round that failed. Ends with status 1 if any did.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("core", "setup.py", "pyproject.toml", "README.md", "LICENSE", "NOTICE")


def main() -> int:
    """Run rounds until the time is over, and return the exit status."""
    parser = argparse.ArgumentParser(description="Run the robustness tests for hours.")
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first round")
    parser.add_argument("--cases", type=int, help="random cases of each test; its own by default")
    parser.add_argument("--kernel", choices=("none", "bounds", "asan"), default="none")
    parser.add_argument("tests", nargs="*", default=[str(ROOT / "tests" / "robustness")])
    asked = parser.parse_args()
    end = time.monotonic() + asked.hours * 3600
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_of(asked.kernel, Path(folder))
        if asked.cases is not None:
            environment["KBNF_ROBUSTNESS_CASES"] = str(asked.cases)
        failed = rounds = 0
        while rounds == 0 or time.monotonic() < end:
            seed = asked.seed + rounds
            failed += not round_passes(asked.tests, environment, seed)
            rounds += 1
    say(f"{rounds} rounds, {failed} failed")
    return 1 if failed else 0


def environment_of(checks: str, folder: Path) -> dict[str, str]:
    """Return the environment of the tests; builds a kernel with checks in ``folder``."""
    environment = {**os.environ}
    if checks == "none":
        return environment
    for name in BUILT_FROM:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("*.so", "*.pyd"))
        else:
            shutil.copy(source, folder / name)
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    wanted = {**environment, "KBNF_KERNEL_CHECKS": checks}
    subprocess.run(build, cwd=folder, env=wanted, check=True)
    environment["PYTHONPATH"] = os.pathsep.join([str(folder / "core"), str(ROOT)])
    if checks == "asan":
        # The interpreter is not built for it, so its runtime must come first; C++ exceptions
        # are found only where the C++ runtime is loaded with it.
        libraries = (runtime("libasan.so"), runtime("libstdc++.so"))
        environment["LD_PRELOAD"] = " ".join(libraries)
        environment["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1"
        environment["PYTHONMALLOC"] = "malloc"
    return environment


def runtime(name: str) -> str:
    """Return the path of a library of the compiler."""
    asked = [os.environ.get("CC", "gcc"), f"-print-file-name={name}"]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()


def round_passes(tests: list[str], environment: dict[str, str], seed: int) -> bool:
    """Run the tests with one seed, also the slow ones, and say how it went."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "slow or not slow", *tests]
    begun = time.monotonic()
    done = subprocess.run(
        command,
        check=False,
        cwd=ROOT,
        env={**environment, "KBNF_ROBUSTNESS_SEED": str(seed)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        say(done.stdout + done.stderr)
    summary = (done.stdout.strip().splitlines() or ["no output"])[-1]
    say(f"seed {seed}: {summary} ({time.monotonic() - begun:.0f} s)")
    return done.returncode == 0


def say(text: str) -> None:
    """Print at once: whoever waits for hours wants to see the rounds."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
