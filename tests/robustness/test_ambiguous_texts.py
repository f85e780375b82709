"""Texts with very many derivations: memory and time stay bounded, and an interrupt is heard."""

import signal
import subprocess
import sys
import time
from itertools import count, product
from random import Random

import pytest

from kbnf_core import Grammar
from kbnf_core.text.errors import EmptyGrammarError
from kbnf_testing.derivations import as_kbnf, random_rules
from kbnf_testing.samples import seeds

PARSE = """
import resource, sys
from kbnf_core import Grammar
from kbnf_core.text.errors import ParseError, WorkLimitError
grammar = Grammar(sys.argv[1])
for text in sys.argv[2:]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = int(used.ru_utime + used.ru_stime)
    resource.setrlimit(resource.RLIMIT_CPU, (spent + 61, resource.RLIM_INFINITY))
    for work in (grammar.parse, grammar.parser.partial, grammar.parser.derivations):
        try:
            work(text.encode())
        except (ParseError, WorkLimitError):
            pass
# Of this process alone: what getrusage says has that of the parent at the fork.
[peak] = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak.split()[1]) // 1024)
"""


def has_texts(rules: str) -> bool:
    """Return whether a grammar has texts that are not empty."""
    try:
        Grammar(rules)
    except EmptyGrammarError:
        return False
    return True


PAIRS = "start ::= e; e ::= e e | 'x';"
EMPTY = "start ::= e; e ::= e e | 'x' | '';"


def memory(*arguments: str) -> int:
    """Return the most memory in MB of parsing some texts, in less than 60 seconds each."""
    command = [sys.executable, "-c", PARSE, *arguments]
    return int(subprocess.run(command, capture_output=True, check=True, timeout=600).stdout)


@pytest.mark.parametrize("rules", [PAIRS, EMPTY])
def test_pairs_of_a_rule_are_refused_within_bounds(rules: str) -> None:
    assert memory(rules, *("x" * size for size in (50, 100, 200, 400))) < 500


@pytest.mark.parametrize("seed", seeds(40, ordinary=2, ci=8))
def test_random_ambiguous_grammars_stay_within_bounds(seed: int) -> None:
    random = Random(seed)
    rules = next(filter(has_texts, (as_kbnf(random_rules(random)) for _ in count())))
    parts = ["".join(part) for part in product("ab", repeat=4)]
    texts = [
        *("".join(random.choices(parts, k=size)) for size in (25, 250, 2_500)),
        *(random.choice(parts) * size for size in (25, 250, 2_500)),
    ]
    assert memory(rules, *texts) < 1_000


@pytest.mark.parametrize("work", ["check", "parse", "partial", "derivations"])
def test_an_interrupt_is_heard(work: str) -> None:
    script = (
        "import sys; from kbnf_core import Grammar, Limits;"
        f"grammar = Grammar({PAIRS!r}, limits=Limits(work=10**12)); grammar.parser;"
        f"print('ready', flush=True); grammar.parser.{work}(b'x' * 2_000)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert b"KeyboardInterrupt" in errors
