"""The formats of a structural tag that are about tokens, not texts.

A token has an id in KBNF, or its name; what excludes tokens needs their ids, and so the vocabulary
where it names them by their texts.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    optional,
    repeated,
    sequence,
)
from kbnf_core.languages.structural_tag.formats import Token
from kbnf_core.languages.structural_tag.read import Node, Report
from kbnf_core.limits import Limits
from kbnf_core.source import NOWHERE
from kbnf_core.syntax import tree

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

_MOST_TOKENS = 2**32 - 1


class TokenForms:
    """Writes tokens, and what is made of them."""

    def __init__(self, report: Report, limits: Limits, vocabulary: "Vocabulary | None") -> None:
        self._report = report
        self._limits = limits
        self._vocabulary = vocabulary

    def one(self, token: Token, pointer: str) -> Form:
        """Return a token, by its id where that is known."""
        name = self._resolved(token).name
        if isinstance(name, int):
            return tree.TokenSet(((name, name),), False, NOWHERE)
        if self._vocabulary is not None:
            self._report.error(pointer, f"the vocabulary has no token {name!r}")
        return tree.TokenName(tree.Text(name, NOWHERE, ()), NOWHERE)

    def other(self, node: Node, excluded: Iterable[Token], *, around: bool = True) -> Form:
        """Return any token but some, and but the one that ends the tag around it."""
        tokens = [*excluded]
        if around and isinstance(node.ends, Token):
            tokens.append(node.ends)
        ids = set[int]()
        for token in tokens:
            name = self._resolved(token).name
            if isinstance(name, int):
                ids.add(name)
            elif self._vocabulary is not None:
                self._report.error(node.pointer, f"the vocabulary has no token {name!r}")
            else:
                self._report.loss(
                    node.pointer,
                    f"the token {name!r} is excluded by its text, which needs the vocabulary",
                    "give the vocabulary, or the token's id",
                    code="W402",
                )
        if not ids:
            return tree.TokenSet(((0, _MOST_TOKENS),), False, NOWHERE)
        return tree.TokenSet(tuple((each, each) for each in sorted(ids)), True, NOWHERE)

    def any_others(self, node: Node) -> Form:
        """Return the tokens of ``any_tokens``, as many as it says."""
        most = node.fields["max_tokens"]
        highest = self._limits.repetition
        if most is not None and most > highest:
            where = f"{node.pointer}/max_tokens"
            self._report.loss(where, f"at most {highest:,} tokens can be counted")
            most = highest
        return repeated(self.other(node, node.fields["exclude_tokens"]), 0, most)

    def triggered_tags(self, node: Node, tags: Sequence[Form]) -> Form:
        """Return tokens, and the tags that some of them begin."""
        triggers = [self._resolved(each) for each in node.fields["trigger_tokens"]]
        for tag in node.parts:
            begin = tag.fields["begin"]
            where = f"{tag.pointer}/begin"
            if not isinstance(begin, Token):
                self._report.error(where, "a tag that a token triggers begins with a token")
                return EMPTY
            if triggers.count(self._resolved(begin)) != 1:
                self._report.error(where, "a tag begins with just one of the trigger tokens")
                return EMPTY
        one = alternation(tags)
        fields = node.fields
        if fields["at_least_one"] and fields["stop_after_first"]:
            return one
        excluded = (*fields["trigger_tokens"], *fields["exclude_tokens"])
        other = self.other(node, excluded)
        if fields["stop_after_first"]:
            return joined(repeated(other, 0, None), optional(one))
        rest = repeated(alternation([one, other]), 0, None)
        return joined(one, rest) if fields["at_least_one"] else rest

    def dispatch(self, node: Node, parts: Sequence[Form]) -> Form:
        """Return tokens, and the parts that some of them lead to."""
        triggers = node.fields["rules"]
        other = self.other(node, (*triggers, *node.fields["exclude_tokens"]), around=False)
        calls = alternation(
            joined(self.one(each, f"{node.pointer}/rules/{index}/0"), part)
            for index, (each, part) in enumerate(zip(triggers, parts, strict=True))
        )
        if node.fields["loop"]:
            return repeated(alternation([calls, other]), 0, None)
        return joined(repeated(other, 0, None), optional(calls))

    def _resolved(self, token: Token) -> Token:
        """Return a token by its id, if the vocabulary tells it."""
        if isinstance(token.name, int) or self._vocabulary is None:
            return token
        special = self._vocabulary.special_id(token.name)
        if special is not None:
            return Token(special)
        ids = self._vocabulary.token_ids(token.name.encode())
        return Token(min(ids)) if ids else token


def joined(*parts: Form) -> Form:
    """Return the sequence of the parts."""
    found = sequence(*parts)
    return EMPTY if isinstance(found, tree.Sequence) and not found.items else found
