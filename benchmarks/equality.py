"""Compare masks with llguidance at every step; a difference must be one that is explained here."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from benchmarks.engines import LLGuidanceMatcher, OurMatcher
from kbnf_core import Vocabulary

Ids = Sequence[int]


@dataclass(frozen=True, slots=True)
class Explanation:
    """``holds(before, ours, theirs, both, vocabulary)``: whether it is the reason here.

    ``before``: the bytes so far; ``ours``, ``theirs``: ids that one allows and not the other.
    """

    reason: str
    holds: Callable[[bytes, Ids, Ids, Ids, Vocabulary], bool]


def _leave_utf8(before: bytes, ours: Ids, theirs: Ids, both: Ids, vocabulary: Vocabulary) -> bool:
    del both
    return not theirs and not any(
        _may_become_utf8(before + (vocabulary.token(token) or b"")) for token in ours
    )


def _may_become_utf8(data: bytes) -> bool:
    """Return whether ``data`` begins some UTF-8 text."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True


def _are_forced(before: bytes, ours: Ids, theirs: Ids, both: Ids, vocabulary: Vocabulary) -> bool:
    del before
    if theirs or len(both) != 1:
        return False
    spelled = sorted((vocabulary.token(token) or b"" for token in (*ours, *both)), key=len)
    return all(longer.startswith(shorter) for shorter, longer in pairwise(spelled))


def _begin_byte_order_mark(
    before: bytes, ours: Ids, theirs: Ids, both: Ids, vocabulary: Vocabulary
) -> bool:
    del before, both
    return not theirs and all(
        _BYTE_ORDER_MARK.search(vocabulary.token(token) or b"") for token in ours
    )


def _quote_a_local_part(
    before: bytes, ours: Ids, theirs: Ids, both: Ids, vocabulary: Vocabulary
) -> bool:
    del both
    return not theirs and all(
        _ESCAPED_FIRST.search((before + (vocabulary.token(token) or b""))[len(before) - 1 :])
        for token in ours
    )


def _pass_a_label(before: bytes, ours: Ids, theirs: Ids, both: Ids, vocabulary: Vocabulary) -> bool:
    del both
    return not ours and all(
        _LONG_LABEL.search(before + (vocabulary.token(token) or b"")) for token in theirs
    )


def _negate_zero(before: bytes, ours: Ids, theirs: Ids, both: Ids, vocabulary: Vocabulary) -> bool:
    del both
    return not theirs and all(
        _MINUS_ZERO.search(before + (vocabulary.token(token) or b"")) for token in ours
    )


def left_out(most: int, what: str) -> Explanation:
    """Return the explanation of a conversion that says ``what`` strings it leaves out.

    A token that only llguidance allows gives a string ``most`` characters or more: it is longer,
    or so long that what the string needs after it does not fit.
    """

    def holds(before: bytes, ours: Ids, theirs: Ids, both: Ids, vocabulary: Vocabulary) -> bool:
        del both
        return not ours and all(
            _longest_string(before, vocabulary.token(token) or b"") >= most for token in theirs
        )

    return Explanation(f"our conversion says that it leaves out {what} (W808)", holds)


def _longest_string(before: bytes, token: bytes) -> int:
    """Return the characters of the longest JSON string that ``token`` writes a part of."""
    strings = _STRING.finditer((before + token).decode("utf-8", "replace"))
    begun = len(before.decode("utf-8", "replace"))
    return max(
        (len(_ESCAPED.sub("_", each[1])) for each in strings if each.end() > begun), default=0
    )


_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"?')
_ESCAPED = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")
_MINUS_ZERO = re.compile(rb"[:\[,\s]-(?:0(?:[\s,\]}].*)?)?\Z", re.DOTALL)
_BYTE_ORDER_MARK = re.compile(rb"\xef(?:\xbb(?:\xbf.*)?)?\Z", re.DOTALL)
_ESCAPED_FIRST = re.compile(rb'"\\')
_LONG_LABEL = re.compile(rb"@(?:[^\"@]*\.)?[A-Za-z0-9-]{64,}[^\"@]*\Z")


EXPLANATIONS = (
    Explanation(
        "the next bytes are forced, and llguidance offers only the tokens its tokenizer prefers",
        _are_forced,
    ),
    Explanation(
        "except! of KBNF takes any bytes, llguidance's expressions take UTF-8 only", _leave_utf8
    ),
    Explanation(
        r"\s of ECMA-262, whose patterns JSON Schema has, holds U+FEFF, llguidance's does not",
        _begin_byte_order_mark,
    ),
    Explanation(
        "an email may begin with a quoted local part (RFC 5321), not so in llguidance",
        _quote_a_local_part,
    ),
    Explanation("-0 is 0, within the bounds of its number; not so in llguidance", _negate_zero),
    Explanation(
        "a label of a domain has 63 characters at most (RFC 1035), any number in llguidance",
        _pass_a_label,
    ),
)


@dataclass(slots=True)
class Comparison:
    """``steps`` compared; ``explained``: reason to count; ``unexplained``: what was found."""

    steps: int = 0
    explained: dict[str, int] = field(default_factory=dict)
    unexplained: list[str] = field(default_factory=list)


def compare(ours: OurMatcher, theirs: LLGuidanceMatcher, documents: Sequence[Ids]) -> Comparison:
    """Compare all masks of all documents, before each token and after the last."""
    result = Comparison()
    for document in documents:
        ours.begin()
        theirs.begin()
        before = b""
        for token in document:
            _compare_step(ours, theirs, before, result)
            ours.accept(token)
            theirs.accept(token)
            before += ours.engine.vocabulary.token(token) or b""
        _compare_step(ours, theirs, before, result)
    return result


def _compare_step(
    ours: OurMatcher, theirs: LLGuidanceMatcher, before: bytes, result: Comparison
) -> None:
    ours.mask()
    theirs.mask()
    result.steps += 1
    if np.array_equal(ours.bits, theirs.bits[0]):
        return
    vocabulary = ours.engine.vocabulary
    reason, what = explain_difference(ours.bits, theirs.bits[0], before, vocabulary)
    if reason:
        result.explained[reason] = result.explained.get(reason, 0) + 1
    else:
        result.unexplained.append(what)


def explain_difference(
    one: npt.NDArray[np.int32],
    other: npt.NDArray[np.int32],
    before: bytes,
    vocabulary: Vocabulary,
    more: Sequence[Explanation] = (),
) -> tuple[str, str]:
    """Return why our mask and llguidance's differ, empty if nothing explains it; and how.

    ``more`` explanations hold for this grammar alone.
    """
    only_ours, only_theirs, both = _ids(one & ~other), _ids(other & ~one), _ids(one & other)
    reasons = [
        explanation.reason
        for explanation in (*EXPLANATIONS, *more)
        if explanation.holds(before, only_ours, only_theirs, both, vocabulary)
    ]
    return reasons[0] if reasons else "", (
        f"after {before[-40:]!r}: only ours {_show(only_ours, vocabulary)},"
        f" only theirs {_show(only_theirs, vocabulary)}"
    )


def _ids(bits: npt.NDArray[np.int32]) -> list[int]:
    ids: list[int] = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()
    return ids


def _show(ids: Ids, vocabulary: Vocabulary) -> str:
    return f"{len(ids)} {[vocabulary.token_string(token) for token in ids[:5]]}"
