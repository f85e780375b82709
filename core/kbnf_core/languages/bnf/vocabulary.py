"""``<any!>`` and ``<except!(..)>`` of bnf_sampler, which take the text of one token.

With the vocabulary they are the texts of its tokens, or those without the excluded text, by
whatever tokens these are spelled. bnf_sampler does not let them span tokens, but lets them begin
and end inside of one, as in ``<except!('ar')>'ard'`` with a token ``card``: so ``#token`` sets,
which begin and end with a token, would be further from it. Without a vocabulary they are any text,
and any text without the excluded one: both may span several tokens, which is a loss.
"""

from collections.abc import Iterable, Mapping
from collections.abc import Sequence as Several
from typing import TYPE_CHECKING, TypeAlias

from kbnf_core.automata.substrings import Words
from kbnf_core.config import Finish
from kbnf_core.ir.analysis import cyclic_components, reachable
from kbnf_core.kbnf.build import escaped, nothing, regex, text, text_of, text_or_bytes
from kbnf_core.kbnf.parsed import Loss
from kbnf_core.kbnf.tree import (
    Alternation,
    Definition,
    Document,
    Exception_,
    Expression,
    Name,
    Pattern,
    PatternKind,
    Reference,
    Sequence,
    Terminal,
    postorder,
    uses_in,
)
from kbnf_core.languages.bnf.parse import ANY, EXCEPT, decode
from kbnf_core.lower.facts import analyse
from kbnf_core.lower.translate import translate
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

_ANY_TEXT = "(?s:.)+"

_Branches: TypeAlias = Mapping[str, Several[Expression]]
"""The alternatives of each name."""


def is_vocabulary(name: str) -> bool:
    """Return whether ``name`` stands for a token; a definition of it is not looked at."""
    return name == ANY or name.startswith(EXCEPT)


def excluded_text(name: str) -> bytes | None:
    """Return the text that ``except!('text')`` excludes, None for ``except!([name])``."""
    inner = name.removeprefix(EXCEPT)[1:-1]
    return None if inner.startswith("[") else decode(inner[1:-1])


def excluded_name(name: str) -> str:
    """Return the name in ``except!([name])``."""
    return name.removeprefix(EXCEPT)[2:-2]


def excluded_rule(name: str) -> str | None:
    """Return the rule that a name ``except!([rule])`` asks about; None for other names."""
    asks = name.startswith(f"{EXCEPT}([") and name.endswith("])")
    return excluded_name(name) if asks else None


def define_vocabulary(
    source: Source, definitions: list[Definition]
) -> tuple[list[Definition], list[Loss], list[Diagnostic]]:
    """Return a definition for every such name that is used, and what is reported of each.

    That is a loss (W405), the E101 of an excluded name that is not defined, or the E103 of one
    that is made of what excludes it.
    """
    uses: dict[str, Name] = {}
    called: dict[str, set[str]] = {}
    branches: dict[str, list[Expression]] = {}
    for definition in definitions:
        branches.setdefault(definition.name.value, []).extend(definition.branches)
        calls = called.setdefault(definition.name.value, set())
        for node in postorder(definition.body):
            if isinstance(node, Reference):
                calls.add(node.name.value)
                if is_vocabulary(node.name.value):
                    uses.setdefault(node.name.value, node.name)
    made = [Definition(name, _body(name, branches), name.span) for name in uses.values()]
    circular = _excluding_themselves(called, uses)
    wrong = [_mistake(source, name, called, circular) for name in uses.values()]
    return made, [_loss(name) for name in uses.values()], [each for each in wrong if each]


def fill_vocabulary(
    rough: Document, made: list[Definition], vocabulary: "Vocabulary", limits: Limits
) -> list[Definition]:
    """Return ``made`` with the tokens of ``vocabulary`` for bodies.

    ``rough`` is the whole text without them, of which the first tokens of excluded rules are asked.
    """
    tokens = sorted(data for data in set(vocabulary.tokens.values()) if data)
    filled = []
    for each in made:
        texts = tokens
        if words := _excluded(rough, each.name.value, vocabulary, limits):
            excluded = Words(words)
            texts = [data for data in tokens if next(excluded.within(data), None) is None]
        filled.append(Definition(each.name, _any_of(texts, each.span), each.span))
    return filled


def without_asked(definitions: list[Definition]) -> list[Definition]:
    """Return the rules without those of which only the first tokens are asked.

    What nothing uses at all stays, as somebody wrote it.
    """
    uses: dict[str, set[str]] = {}
    asked: set[str] = set()
    for definition in definitions:
        names = {name.value for name in uses_in(definition.body)}
        asked |= {rule for name in names if (rule := excluded_rule(name)) is not None}
        uses.setdefault(definition.name.value, set()).update(names)
    within = {name: names & uses.keys() for name, names in uses.items()}
    below = reachable(asked & uses.keys(), within)
    others = reachable(uses.keys() - below, within)
    return [each for each in definitions if each.name.value not in below - others]


def _excluded(
    rough: Document, name: str, vocabulary: "Vocabulary", limits: Limits
) -> tuple[bytes, ...]:
    """Return the texts that no token for ``name`` has in it."""
    if name == ANY:
        return ()
    text = excluded_text(name)
    rule = excluded_name(name)
    return _first_tokens(rough, rule, vocabulary, limits) if text is None else (text,)


def _first_tokens(
    rough: Document, name: str, vocabulary: "Vocabulary", limits: Limits
) -> tuple[bytes, ...]:
    """Return the allowed tokens first in a rule, as bnf_sampler lists them."""
    from kbnf_core.lower.build import build_tables
    from kbnf_core.mask.bits import ids_of
    from kbnf_core.mask.masks import Masks
    from kbnf_core.mask.token_automaton import TokenAutomaton
    from kbnf_core.recognise.states import StateTable

    grammar = translate(rough, name, limits).grammar
    if grammar is None or not analyse(grammar).facts[name].filled:
        return ()
    masks = Masks(StateTable(build_tables(grammar, limits)), vocabulary, limits)
    automaton = TokenAutomaton(masks, Finish.EOS, limits)
    ids = ids_of(automaton.mask(automaton.beginning), vocabulary.size)
    return tuple(data for each in ids.tolist() if (data := vocabulary.token(each)))


def _any_of(texts: Iterable[bytes], span: Span) -> Expression:
    leaves = tuple(text_or_bytes(data, span) for data in texts)
    if not leaves:
        return nothing(span)
    return leaves[0] if len(leaves) == 1 else Alternation(leaves, span)


def _excluding_themselves(called: Mapping[str, set[str]], uses: Iterable[str]) -> set[str]:
    """Return the names, among others, that exclude a rule which is made of them."""
    graph: dict[str, set[str]] = {name: {excluded_rule(name) or name} - {name} for name in uses}
    graph = {**called, **graph}
    within = {name: names & graph.keys() for name, names in graph.items()}
    return {name for names in cyclic_components(within) for name in names}


def _body(name: Name, branches: _Branches) -> Expression:
    if name.value != ANY:
        data = excluded_text(name.value)
        if data is not None:
            excluded = text(data.decode("utf-8", "replace"), name.span)
            return Exception_(excluded, 0, name.span)
        inner = excluded_name(name.value)
        if _is_plain(branches.get(inner, ())):
            return Exception_(Name(inner, name.span), 0, name.span)
        words = _words(inner, branches)
        if words:
            excluding = text_of("|".join(map(escaped, words)), name.span)
            return Pattern(PatternKind.COMPLEMENT, excluding, name.span)
    return regex(_ANY_TEXT, name.span)


def _is_plain(branches: Iterable[Expression]) -> bool:
    """Tell whether the alternatives of a name are made of texts only."""
    parts = [p for b in branches for p in (b.items if isinstance(b, Sequence) else (b,))]
    return bool(parts) and all(isinstance(part, Terminal) for part in parts)


def _words(name: str, branches: _Branches) -> list[str]:
    """Return the texts of a name whose alternatives are texts and such names; else none."""
    words: list[str] = []
    waiting, seen = [name], {name}
    while waiting:
        each = waiting.pop()
        for branch in branches.get(each, ()):
            parts = branch.items if isinstance(branch, Sequence) else (branch,)
            texts = [part.text.value for part in parts if isinstance(part, Terminal)]
            if len(texts) == len(parts):
                words.append("".join(texts))
            elif isinstance(branch, Reference) and not is_vocabulary(branch.name.value):
                waiting += {branch.name.value} - seen
                seen.add(branch.name.value)
            else:
                return []
    return words


def _mistake(
    source: Source, name: Name, called: Mapping[str, set[str]], circular: set[str]
) -> Diagnostic | None:
    inner = excluded_name(name.value)
    if name.value != ANY and excluded_text(name.value) is None and inner not in called:
        message = f"the nonterminal `{inner}` is not defined"
        return Diagnostic("E101", message, source, name.span)
    if name.value in circular:
        message = f"`<{inner}>` is made of `<{name.value}>`, which excludes it"
        helps = ("exclude a nonterminal that does not lead back here, or a text",)
        return Diagnostic("E103", message, source, name.span, helps=helps)
    return None


def _loss(name: Name) -> Loss:
    return Loss(
        "W405",
        f"`<{name.value}>` takes one token of a vocabulary that is not known",
        name.span,
        notes=("without it any text is taken that fits, of several tokens too",),
        helps=("commands that take `--vocab FILE` read it over that vocabulary",),
    )
