"""The excluded words of an ``except!``: of a terminal, or a nonterminal that expands to texts.

Expanded are names, brackets, and symbols side by side, whose texts are joined. The expansion of
names is memoised for all that a document excludes, and its work is bounded: a few alternatives side
by side have many texts.
"""

from collections.abc import Generator

from kbnf_core.automata.traversal import resolve
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    Document,
    Exception_,
    Expression,
    Name,
    Reference,
    Sequence,
    Terminal,
)
from kbnf_core.text.diagnostics import Diagnostic, Label

MAX_EXPANDED = 20_000
"""Bytes of the texts that symbols side by side may be joined to."""

MAX_WORK = 1_000_000
"""Texts that may be put together, for all that a document excludes."""

Words = tuple[bytes, ...]


class _RefusedError(Exception):
    """A part that leaves no list of texts, and why."""

    def __init__(self, part: Expression, why: str) -> None:
        super().__init__(why)
        self.part = part


class ExcludedWords:
    """The words that the ``except!`` of one document exclude."""

    def __init__(self, document: Document) -> None:
        self._source = document.source
        self._branches: dict[str, list[Expression]] = {}
        for definition in document.definitions:
            self._branches.setdefault(definition.name.value, []).extend(definition.branches)
        self._known: dict[str, Words] = {}
        self._open: set[str] = set()
        self._work = 0

    def of(self, node: Exception_) -> tuple[Words, list[Diagnostic]]:
        """Return the excluded byte strings, or findings (E103, E104) that say why there are none.

        Names that are not defined stand for none.
        """
        excluded = node.excluded
        branches: list[Expression]
        if isinstance(excluded, Terminal):
            words: Words = (excluded.text.value.encode(),)
            branches = [excluded]
        else:
            try:
                words = self._expanded(Reference(excluded, excluded.span))
            except _RefusedError as error:
                self._open.clear()
                return (), [self._not_plain(excluded, error)]
            branches = self._branches.get(excluded.value, [])
        if b"" in words:
            return (), [self._empty(node, branches)]
        return words, []

    def _expanded(self, root: Expression) -> Words:
        return resolve(root, self._steps)

    def _steps(self, node: Expression) -> Generator[Expression, Words, Words]:
        """Expand a part; yields the parts that it needs."""
        match node:
            case Terminal(text):
                return (text.value.encode(),)
            case Reference(Name(name)):
                if name in self._open:
                    raise _RefusedError(node, "this leads back to itself")
                if name not in self._known:
                    self._open.add(name)
                    self._known[name] = yield from self._any_of(self._branches.get(name, ()))
                    self._open.remove(name)
                return self._known[name]
            case Bracket(BracketKind.GROUP, body):
                return (yield body)
            case Alternation(branches):
                return (yield from self._any_of(branches))
            case Sequence(items):
                words: Words = (b"",)
                for item in items:
                    words = self._joined(words, (yield item), node)
                return words
            case _:
                raise _RefusedError(node, "this is not a terminal")

    def _any_of(
        self, branches: "list[Expression] | tuple[Expression, ...]"
    ) -> Generator[Expression, Words, Words]:
        found: dict[bytes, None] = {}
        for branch in branches:
            words = yield branch
            self._spend(len(words), branch)
            found.update(dict.fromkeys(words))
        return tuple(found)

    def _joined(self, before: Words, after: Words, node: Expression) -> Words:
        size = len(after) * sum(map(len, before)) + len(before) * sum(map(len, after))
        if size > MAX_EXPANDED and len(before) * len(after) > 1:
            raise _RefusedError(node, f"this has more than {MAX_EXPANDED:,} bytes of texts")
        self._spend(len(before) * len(after), node)
        return tuple(first + second for first in before for second in after)

    def _spend(self, count: int, node: Expression) -> None:
        self._work += count
        if self._work > MAX_WORK:
            raise _RefusedError(node, f"here are more than {MAX_WORK:,} texts to put together")

    def _not_plain(self, name: Name, error: _RefusedError) -> Diagnostic:
        return Diagnostic(
            "E103",
            f"`except!({name.value})`: `{name.value}` must be made of terminals only",
            self._source,
            name.span,
            labels=(Label(error.part.span, str(error)),),
            helps=(
                "write its texts as alternatives, or exclude a regular expression with"
                ' `#ex"..."` instead',
            ),
        )

    def _empty(self, node: Exception_, branches: list[Expression]) -> Diagnostic:
        empty = next(each for each in branches if b"" in self._expanded(each))
        return Diagnostic(
            "E104",
            "`except!` cannot exclude the empty text",
            self._source,
            node.span,
            labels=(Label(empty.span, "this is empty"),),
            notes=("every text contains the empty one, so nothing would be left",),
        )
