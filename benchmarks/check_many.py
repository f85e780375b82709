"""How long checking many grammars takes: ``python -m benchmarks.check_many [COUNT] [PATH...]``.

The grammars are those below PATH (default: the ready-made ones), over and over. Measured one by
one in this process, where compiled regular expressions, which are remembered by their text, are
forgotten before each; then as files in runs of ``kbnf check``: on one processor, on all of them,
and once more with the results of that in the cache.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from kbnf_cli.jobs import default_jobs
from kbnf_core import check
from kbnf_core.automata.avoid import avoid_regex
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.languages import EXTENSIONS


def main(count: int = 1_000, *paths: str) -> None:
    """Check ``count`` grammars and print the times."""
    files = [
        file
        for path in paths or ("grammars",)
        for file in sorted(Path(path).rglob("*"))
        if file.suffix in EXTENSIONS
    ]
    texts = [(file.as_posix(), file.read_text(encoding="utf-8")) for file in files]
    check("start ::= 'a';")
    times = []
    for number in range(count):
        name, text = texts[number % len(texts)]
        compile_regex.entries.clear()
        avoid_regex.entries.clear()
        begin = time.perf_counter()
        check(text, name)
        times.append(time.perf_counter() - begin)
    times.sort()
    middle, worst = 1000 * median(times), 1000 * times[-1]
    lines = sum(text.count("\n") for _, text in texts) / len(texts)
    print(f"{count:,} grammars of {lines:.0f} lines on average in {sum(times):.1f} s on one core")
    print(f"each: median {middle:.1f} ms, 99 of 100 below {1000 * times[-count // 100]:.0f} ms,")
    print(f"the slowest {worst:.0f} ms")
    _as_files(texts, count)


def _as_files(texts: list[tuple[str, str]], count: int) -> None:
    """Print the seconds that runs of the command take."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            name, text = texts[number % len(texts)]
            file = Path(folder, f"{number:06}{Path(name).suffix}")
            file.write_text(text, encoding="utf-8")
        with tempfile.TemporaryDirectory() as cache:
            jobs = default_jobs()
            alone = _run(folder, "-j", "1", "--no-cache")
            first = _run(folder, "-j", str(jobs), "--cache-dir", cache)
            again = min(_run(folder, "-j", str(jobs), "--cache-dir", cache) for _ in range(3))
    print(f"{count:,} files in one run on one processor: {alone:.1f} s")
    print(f"on {jobs}: {first:.1f} s, {first / alone:.2f} of that")
    print(f"again, from the cache: {again:.2f} s (best of 3), {again / first:.3f} of that")


def _run(folder: str, *options: str) -> float:
    """Return the seconds that one run takes."""
    command = [sys.executable, "-m", "kbnf_cli", "check", "--quiet", "--isolated", *options, folder]
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 1_000, *sys.argv[2:])
