"""What several lints ask of a grammar, and say: patterns, bytes, texts."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kbnf_core.automata.dfa import join, legible_bytes, separate
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.ir import Literal, Node, Regular, postorder
from kbnf_core.kbnf.tree import Document, Pattern, PatternKind
from kbnf_core.text.diagnostics.text import count_of

if TYPE_CHECKING:
    from kbnf_core.mask.completion import Completion
    from kbnf_core.vocab.vocabulary import Vocabulary


def patterns_in(document: Document) -> Iterator[Pattern]:
    """Yield the regular expressions of a text."""
    for node in document.written_nodes():
        if isinstance(node, Pattern) and node.kind is not PatternKind.SUBSTRINGS:
            yield node


def classes_in(pattern: str) -> Iterator[tuple[int, int]]:
    """Yield where each class begins and ends, brackets included; inner ones are parts of theirs.

    Of a class that is never closed nothing is reported.
    """
    index = 0
    while index < len(pattern):
        if pattern[index] == "\\":
            index += 2
        elif pattern[index] == "[":
            end = _end_of_class(pattern, index)
            if end is None:
                return
            yield index, end
            index = end
        else:
            index += 1


def _end_of_class(pattern: str, start: int) -> int | None:
    depth, index = 0, start
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif char == "[":
            depth += 1
            index += pattern.startswith("^", index + 1)
            # A bracket that closes nothing stands for itself at the beginning.
            index += pattern.startswith("]", index + 1)
        elif char == "]":
            depth -= 1
            if depth == 0:
                return index + 1
        index += 1
    return None


_MAX_SHOWN = 60
_MOST_TOKENS = 12


def show(word: bytes) -> str:
    """Return a text in quotes, its hidden characters escaped, the middle of a long one left out."""
    text = word.decode("utf-8", "backslashreplace")
    if len(text) > _MAX_SHOWN:
        half = _MAX_SHOWN // 2
        text = f"{text[:half]}...{text[-half:]}"
    return repr(text)


def show_name(reading: Reading, nonterminal: str) -> str:
    """Return the name of a nonterminal, ``this`` where a conversion generated it."""
    place = reading.name_span(nonterminal)
    nonterminal = reading.document.origins.get(nonterminal, nonterminal)
    written = reading.document.source.slice(place)
    # A name may be written with marks around it, as in `?sum` or `<sum>`.
    return f"`{nonterminal}`" if nonterminal and nonterminal in written else "this"


def describe(completion: "Completion", vocabulary: "Vocabulary") -> Iterator[str]:
    """Yield a note about the fewest bytes and one about the fewest tokens, as far as known."""
    if completion.data is not None:
        length = count_of(len(completion.data), "byte")
        yield f"the shortest text has {length}: {show(completion.data)}"
    if completion.tokens is not None:
        count = len(completion.tokens)
        shown = " ".join(_token(vocabulary, each) for each in completion.tokens[:_MOST_TOKENS])
        more = "" if count <= _MOST_TOKENS else " ..."
        yield f"{count_of(count, 'token')} complete it: {shown}{more}"


def _token(vocabulary: "Vocabulary", token_id: int) -> str:
    data = vocabulary.token(token_id)
    return f"#{token_id}" if data is None else show(data)


TOO_LARGE = f"this needs more than {EFFORT.regex_states:,} states"
"""What is reported of a regular part that is not compared with others."""


def spelling_bytes(bodies: Iterable[Node]) -> list[int]:
    """Return a byte of each class of bytes that the terminals in ``bodies`` make, readable ones."""
    leaves = [node for body in bodies for node in postorder(body)]
    dfas = {id(node.dfa): node.dfa for node in leaves if isinstance(node, Regular)}
    written = b"".join(node.data for node in leaves if isinstance(node, Literal))
    return legible_bytes(join([separate(written), *(dfa.classes for dfa in dfas.values())]))
