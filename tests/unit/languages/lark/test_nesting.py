"""No Lark text, however deep, ends in anything but a result or a finding."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from kbnf_core.convert import Conversion
from kbnf_testing.lark_subject import converted

DEEP = 255
BLANKS = '\n%ignore " "'
CHAIN = "\n".join(f'r{i}: "x" r{i + 1}' for i in range(300))
TERMINALS = "\n".join(f'T{i}: "x" T{i + 1}' for i in range(300))

CONVERTED = {
    "groups": "start: " + "(" * DEEP + '"a" "b"' + ")" * DEEP,
    "options": "start: " + '["x" ' * DEEP + '"a"' + "]" * DEEP,
    # What may follow what grows with the square here.
    "repetitions": "start: " + '("x" ' * 80 + '"a"' + ")*" * 80 + BLANKS,
    "alternatives": "start: " + '("x" | "y" ' * DEEP + '"a"' + ")" * DEEP + BLANKS,
    "rules": f'start: r0\n{CHAIN}\nr300: "y"',
    "terminals": f'start: T0\n{TERMINALS}\nT300: "y"',
}

REFUSED = {
    "brackets": ("start: " + "(" * 300 + '"a"' + ")" * 300, {"E012"}),
    "terminals in a circle": (f"start: T0\n{TERMINALS}\nT300: T0", {"E421"}),
    "grammars": ("start: " + '%lark {\nstart: "a" ' * 40 + '"b"\n' + "}\n" * 40, {"E012"}),
}


def in_a_thread(grammar: str, lexing: str) -> Conversion | set[str]:
    """Convert where the stack is that of a thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(converted, grammar, lexing).result()


@pytest.mark.parametrize("lexing", ["llguidance", "earley", "lalr", "scannerless"])
@pytest.mark.parametrize("grammar", CONVERTED.values(), ids=CONVERTED)
def test_deep_rules_are_converted(grammar: str, lexing: str) -> None:
    assert isinstance(in_a_thread(grammar, lexing), Conversion)


@pytest.mark.parametrize(("grammar", "codes"), REFUSED.values(), ids=REFUSED)
def test_what_is_too_deep_is_refused(grammar: str, codes: set[str]) -> None:
    assert in_a_thread(grammar, "llguidance") == codes


def test_conditions_of_parameters_may_be_nested() -> None:
    condition = "not(" * 5000 + "lt(_, 3)" + ")" * 5000
    grammar = f'start: a::0 "b"\na::_: "a" a::incr(_) %if {condition} | ""'
    assert isinstance(in_a_thread(grammar, "llguidance"), Conversion)


@pytest.mark.parametrize("lexing", ["earley", "lalr"])
def test_deep_regular_expressions_are_refused(lexing: str) -> None:
    grammar = "start: /" + "(x" * DEEP + "a" + ")" * DEEP + "/"
    assert in_a_thread(grammar, lexing) == {"E423"}
