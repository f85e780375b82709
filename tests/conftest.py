"""Settings of every test run: where the helpers are, what is printed of what does not run.

``tests/support`` and the checkout go last on the path (pytest's importlib mode adds none), for the
packages ``kbnf_testing`` and ``benchmarks``, so they can shadow nothing.
"""

import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

sys.path += [str(Path(__file__).parent / "support"), str(Path(__file__).parents[1])]
pytest.register_assert_rewrite("kbnf_testing")

from kbnf_testing.samples import examples  # noqa: E402 - it is where the line above says
from kbnf_testing.shards import Shard  # noqa: E402
from kbnf_testing.shares import mark  # noqa: E402

# How long an example takes says more about the machine than about the code.
settings.register_profile("kbnf", deadline=None, max_examples=examples(100))
settings.load_profile("kbnf")

# A shell's background job ignores interrupts, and so would every process that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_PASSED = "kbnf/passed"
"""In pytest's cache: the tests that passed in the last run."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, here so that they are known whatever files are chosen.

    With ``--rest`` `.ci/run` goes on after README's `pytest`.
    """
    parser.addoption("--rest", action="store_true", help="run what did not pass in the last run")
    parser.addoption("--shard", type=Shard.parse, metavar="I/N", help="run one shard of the tests")
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return how many processes share the tests: two for folders, none for chosen files.

    And none where golden files are written, which other tests read.
    """
    if config.getoption("--update-golden"):
        return 0
    chosen = (Path(name.partition("::")[0]) for name in config.args)
    return 2 if all(map(Path.is_dir, chosen)) else 0


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what a run leaves out, and skip what reads files that are not there."""
    from kbnf_testing.data import OUTSIDE, VARIABLE

    if wrong := next((item.nodeid for item in items if " object at 0x" in item.nodeid), None):
        # Two processes would not agree about the tests, so that none runs.
        raise pytest.UsageError(f"the name of a test contains an address: {wrong}")
    mark(items)
    if config.getoption("--rest"):
        passed = frozenset(config.cache.get(_PASSED, ())) if config.cache else frozenset()
        items[:] = [item for item in items if item.nodeid not in passed]
    shard: Shard | None = config.getoption("--shard")
    if shard is not None:
        items[:] = [item for item in items if shard.contains(item.nodeid)]
    if OUTSIDE is not None:
        return
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(pytest.mark.skip(reason=f"{VARIABLE} names no folder of data"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what did not run, and why, in a line for each reason."""
    config = terminalreporter.config
    if getattr(config, "cache", None) and not config.getoption("--rest"):
        passed = (report.nodeid for report in terminalreporter.stats.get("passed", ()))
        config.cache.set(_PASSED, sorted(passed))
    shard: Shard | None = config.getoption("--shard")
    if shard is not None and shard.count > 1:
        terminalreporter.write_line(f"not run: tests outside shard {shard.index}/{shard.count}")
    chosen = config.option.markexpr
    if chosen:
        terminalreporter.write_line(f"not run: tests other than -m '{chosen}'")
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(
        report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for report in skipped
    )
    for reason, count in sorted(reasons.items()):
        terminalreporter.write_line(f"not run: {count} ({reason.removeprefix('Skipped: ')})")


@pytest.fixture(scope="session", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Leave the user's cache of vocabularies alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KBNF_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield
