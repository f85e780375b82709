"""The engines whose languages Lark grammars have: llguidance and lark itself."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Accepts = Callable[[str], bool]


class _Bytes:
    """A tokenizer as llguidance wants it: of 256 bytes, further tokens, an end of sequence."""

    bos_token_id = None

    def __init__(self, further: Sequence[bytes] = ()) -> None:
        self.tokens = [*(bytes([byte]) for byte in range(256)), *further, b"<|end|>"]
        self.eos_token_id = len(self.tokens) - 1
        self.special_token_ids = [self.eos_token_id]

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

    refused: set[bytes] = set()

    def accepts(text: str) -> bool:
        data = text.encode()
        # What a refused text begins is refused as well; asking again costs a copy each time.
        if any(data[:end] in refused for end in range(1, len(data) + 1)):
            return False
        matcher = fresh.deep_copy()
        for end, byte in enumerate(data, 1):
            if not matcher.consume_token(byte):
                refused.add(data[:end])
                return False
        return bool(matcher.is_accepting())

    return accepts


def llguidance_mask(grammar: str, text: bytes, further: Sequence[bytes]) -> set[bytes]:
    """Return the tokens that llguidance allows after ``text``: bytes, and ``further`` ones."""
    import llguidance
    import llguidance.numpy

    tokenizer = _Bytes(further)
    wrapped: Any = llguidance.LLTokenizer(llguidance.TokenizerWrapper(tokenizer))
    source = llguidance.LLMatcher.grammar_from_lark(grammar)
    matcher = llguidance.LLMatcher(wrapped, source, log_level=0)
    assert all(map(matcher.consume_token, text)), matcher.get_error()
    words = llguidance.numpy.allocate_token_bitmask(1, len(tokenizer.tokens))
    llguidance.numpy.fill_next_token_bitmask(matcher, words)
    return {
        token
        for token_id, token in enumerate(tokenizer.tokens)
        if words[0, token_id // 32] >> token_id % 32 & 1
    }


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
