"""The engines whose languages Lark grammars have: llguidance and lark itself."""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

Accepts = Callable[[str], bool]


class _Bytes:
    """A tokenizer of 256 bytes and an end of sequence, as llguidance wants it."""

    eos_token_id = 256
    bos_token_id = None
    tokens = [bytes([byte]) for byte in range(256)] + [b"<|end|>"]
    special_token_ids = [256]  # noqa: RUF012

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


def llguidance_accepts(grammar: str) -> Accepts:
    """Return what llguidance says of whole texts; raises ValueError for a grammar it refuses."""
    import llguidance

    tokenizer: Any = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))
    source = llguidance.LLMatcher.grammar_from_lark(grammar)
    fresh = llguidance.LLMatcher(tokenizer, source, log_level=0)
    if fresh.is_error():
        raise ValueError(fresh.get_error())

    def accepts(text: str) -> bool:
        matcher = fresh.deep_copy()
        return all(matcher.consume_token(byte) for byte in text.encode()) and bool(
            matcher.is_accepting()
        )

    return accepts


def lark_accepts(
    grammar: str, lexing: str, start: str = "start", path: str | None = None
) -> Accepts:
    """Return what lark says of whole texts; ``lexing`` is ``earley`` or ``lalr``."""
    import lark

    options = {"earley": {"lexer": "dynamic"}, "lalr": {"lexer": "contextual"}}[lexing]
    parser: Any = lark.Lark(grammar, parser=lexing, start=start, source_path=path, **options)

    def accepts(text: str) -> bool:
        try:
            parser.parse(text)
        except lark.exceptions.LarkError:
            return False
        except RuntimeError as error:
            # A bug of lark with a start that may be empty: it has found two parses.
            if "multiple start symbol items" not in str(error):
                raise
        return True

    return accepts


def all_texts(alphabet: str, length: int) -> Iterator[str]:
    """Yield all texts over ``alphabet`` up to ``length``, shortest first."""
    for count in range(length + 1):
        for letters in itertools.product(alphabet, repeat=count):
            yield "".join(letters)
