"""What becomes of examples."""

import pytest

from kbnf_core import Config, Engine, Vocabulary
from kbnf_core.examples.cases import Example, ExampleOutcome, Expectation, Status, run_examples

VOCABULARY = Vocabulary({0: b"a", 1: b"b", 2: b"ab", 3: b"ab"}, eos_token_id=4)


def outcome(grammar: str, example: Example | Expectation, finish: str = "eager") -> ExampleOutcome:
    engine = Engine(grammar, VOCABULARY, Config(finish=finish))
    (found,) = run_examples(engine, [example])
    assert engine.accepted == ()
    return found


@pytest.mark.parametrize(
    ("finish", "taken", "refused"),
    [
        ("eager", [b"a"], [b"aa", b"ab", b"", b"b"]),
        ("token", [b"a", b"aa", b"aab"], [b"", b"b", b"aabb"]),
        ("eos", [b"a", b"aa", b"aab"], [b"b", b"aabb"]),
    ],
)
def test_a_text_is_taken_as_finish_says(
    finish: str, taken: list[bytes], refused: list[bytes]
) -> None:
    for texts, accepted in ((taken, True), (refused, False)):
        for text in texts:
            right = outcome("start ::= 'a'+ ['b'];", Example("", text, accepted), finish)
            wrong = outcome("start ::= 'a'+ ['b'];", Example("", text, not accepted), finish)
            assert right.status is Status.PASSED
            assert wrong.status is Status.FAILED


@pytest.mark.parametrize(
    ("text", "accepted", "message", "offset"),
    [
        (b"ax", True, "it is refused: byte 1 ('x', 0x78) is not expected here", 1),
        (b"a", True, "it is not complete: more has to follow", 1),
        (b"ab", False, "it is accepted", None),
    ],
)
def test_messages(text: bytes, accepted: bool, message: str, offset: int | None) -> None:
    found = outcome("start ::= 'ab';", Example("", text, accepted))
    assert (found.message, found.offset) == (message, offset)


@pytest.mark.parametrize(
    ("what", "allowed", "status", "message"),
    [
        (b"ab", True, Status.PASSED, ""),
        (1, True, Status.PASSED, ""),
        (b"a", False, Status.FAILED, "b'a' is allowed"),
        (4, True, Status.FAILED, "token 4 is not allowed: with `finish=eager`"),
        (b"xyz", True, Status.SKIPPED, "the vocabulary has no token b'xyz'"),
        (99, False, Status.SKIPPED, "the vocabulary has no token 99"),
    ],
)
def test_next_tokens(what: int | bytes, allowed: bool, status: Status, message: str) -> None:
    found = outcome("start ::= 'a' ('ab' | 'b');", Expectation("", b"a", what, allowed))
    assert found.status is status
    assert found.message.startswith(message)


def test_next_token_after_a_text_that_cannot_be() -> None:
    found = outcome("start ::= 'a';", Expectation("", b"b", b"a", False))
    assert found.status is Status.FAILED
    assert found.message.startswith("the text in front of it is refused")
