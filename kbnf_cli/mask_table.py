"""The mask for people: its tokens one by one, by place in the grammar, or all that it lacks.

The tokens of a vocabulary in the orders that lists show them in.

Allowed tokens by place in the grammar: the terminals at which their first bytes are expected.

Tests: tests/cli
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_cli.escaped import as_bytes, escaped
from kbnf_cli.mask_report import View, describe_site, symbol_at
from kbnf_core.mask.bits import pack, unpack
from kbnf_core.text.diagnostics.segments import cells, clip, visible
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.source import Source
from kbnf_core.vocab.trie import ROOT

if TYPE_CHECKING:
    from kbnf_cli.mask_report import Mask
    from kbnf_core import Engine
    from kbnf_core.recognise.explain import LiveSite
    from kbnf_core.vocab.vocabulary import Vocabulary


_Ids = npt.NDArray[np.int32]


class TokenOrder:
    """All tokens that have bytes: ``by_bytes``, and ``by_length`` (then by their bytes).

    Both are int32; ``first_byte`` is uint8[vocabulary size], by token id.
    """

    def __init__(self, vocabulary: "Vocabulary") -> None:
        trie = vocabulary.trie
        self._size = vocabulary.size
        self.by_bytes: _Ids = trie.token_ids
        nodes = np.repeat(np.arange(trie.node_count), np.diff(trie.token_start))
        self.by_length: _Ids = trie.token_ids[np.argsort(trie.depth[nodes], kind="stable")]
        self.first_byte = np.zeros(self._size, np.uint8)
        for child in trie.children(ROOT).tolist():
            self.first_byte[trie.subtree_ids(child)] = trie.byte[child]

    def split(self, ids: "Sequence[int]") -> tuple[npt.NDArray[np.bool_], list[int]]:
        """Return ``ids`` as flags by token id, and those of them that have no bytes."""
        flags = unpack(pack(list(ids), self._size), self._size)
        others = flags.copy()
        others[self.by_bytes] = False
        return flags, np.flatnonzero(others).tolist()


_ORDERS: "WeakKeyDictionary[Vocabulary, TokenOrder]" = WeakKeyDictionary()


def order_of(vocabulary: "Vocabulary") -> TokenOrder:
    """Return the orders of a vocabulary, the same object each time."""
    cached = _ORDERS.get(vocabulary)
    if cached is None:
        cached = _ORDERS[vocabulary] = TokenOrder(vocabulary)
    return cached


@dataclass(frozen=True, slots=True)
class SiteGroup:
    """The allowed tokens that begin at the same terminals, one or several, the shortest first.

    Without ``sites``: those whose terminals were too many to be computed.
    """

    sites: "tuple[LiveSite, ...]"
    ids: npt.NDArray[np.int32]

    def title(self, source: Source) -> str:
        """Return the rules and terminals in a few words."""
        titles = [site_title(site, source) for site in self.sites[:_MOST_SITES]]
        if len(self.sites) > _MOST_SITES:
            titles.append(f"{len(self.sites) - _MOST_SITES:,} more places")
        return " or ".join(titles) or "others"


_MOST_SITES = 8
"""Sites of a group that are shown."""


def site_title(site: "LiveSite", source: Source) -> str:
    """Return the innermost rule and the terminal."""
    return f"{visible(site.rules[-1])} {symbol_at(source, site.span)}"


def terminal_sites(engine: "Engine", sites: "Sequence[LiveSite]") -> "list[LiveSite]":
    """Return the sites at terminals; a nonterminal is shown by the terminals inside it."""
    names = engine.grammar.names
    source = engine.grammar.source
    result = [site for site in sites if source.slice(site.span) not in names]
    return sorted(result, key=lambda site: (site.span, site.rules))


def by_site(engine: "Engine", ids: Sequence[int]) -> list[SiteGroup]:
    """Return the groups of the ordinary tokens among ``ids``, the largest first."""
    sites = _shortest_ways(terminal_sites(engine, engine.why(b"").sites))
    order = order_of(engine.vocabulary)
    flags, _ = order.split(ids)
    ordered = order.by_length[flags[order.by_length]]
    firsts = order.first_byte[ordered]
    takers: dict[tuple[LiveSite, ...], list[int]] = {}
    for first in np.unique(firsts).tolist():
        takers.setdefault(_taking(sites, first), []).append(first)
    groups = [
        SiteGroup(key, ordered[np.isin(firsts, first_bytes)]) for key, first_bytes in takers.items()
    ]
    return sorted(groups, key=lambda group: -len(group.ids))


def _shortest_ways(sites: "list[LiveSite]") -> "list[LiveSite]":
    """Return one site a terminal, that with the fewest rules on the way."""
    result: dict[object, LiveSite] = {}
    for site in sorted(sites, key=lambda site: len(site.rules)):
        result.setdefault((site.span, site.offset, site.expected), site)
    return sorted(result.values(), key=lambda site: (site.span, site.rules))


def _taking(sites: "list[LiveSite]", byte: int) -> "tuple[LiveSite, ...]":
    """Return the sites that expect a byte; failing that, those that take whole tokens."""
    result = tuple(
        site for site in sites if any(low <= byte <= high for low, high in site.expected)
    )
    return result or tuple(site for site in sites if not site.expected)


_INDENT = " " * 10
_ROWS = 8
"""Lines of an overview of tokens that are not allowed."""


def to_table(engine: "Engine", mask: "Mask", view: View) -> str:
    """Return a heading, then the tokens: one by one, or where they are many an overview."""
    if view.match is None:
        body = (*_allowed(engine, mask.ids, view), *_lacking_rows(mask, view))
    else:
        body = tuple(_search_lines(engine, mask, view))
    lines = (*_heading(mask), *body)
    return "".join(f"{clip(line, view.columns)}\n" for line in lines)


_REGEX_SECONDS = 2.0
"""The most time for all tokens."""


def is_pattern(wanted: str) -> bool:
    """Return whether a search term is a regular expression between slashes."""
    return len(wanted) > 2 and wanted.startswith("/") and wanted.endswith("/")


def matching(vocabulary: "Vocabulary", ids: Sequence[int], wanted: str) -> list[int]:
    """Return the tokens that contain a text, or bytes that a pattern ``/.../`` matches.

    Special tokens are searched by their names. Raises ``ConfigError`` for an invalid pattern, or
    one that takes too long.
    """
    import regex

    data = as_bytes(wanted)
    if not is_pattern(wanted):
        return [token_id for token_id in ids if data in vocabulary.decode((token_id,))]
    end = monotonic() + _REGEX_SECONDS
    try:
        result = regex.compile(data[1:-1]).search
        return [
            token_id
            for token_id in ids
            if result(vocabulary.decode((token_id,)), timeout=max(0.0, end - monotonic()))
        ]
    except regex.error as error:
        raise ConfigError(f"not a regular expression: {error}") from None
    except TimeoutError:
        raise ConfigError("this regular expression takes too long") from None


def _heading(mask: "Mask") -> Iterator[str]:
    vocabulary = mask.vocabulary
    prefix = mask.prefix
    tokens = f", tokens {', '.join(map(str, prefix.tokens))}" if prefix.tokens else ""
    yield f"vocabulary  {visible(vocabulary.name or '-')} ({vocabulary.size:,} ids)"
    yield f"prefix      {escaped(prefix.data)} ({count_of(len(prefix.data), 'byte')}{tokens})"
    yield f"status      {mask.status}"
    yield f"allowed     {len(mask.ids):,} of {len(vocabulary):,} tokens{_lacking(mask)}"
    yield f"end         {_end(mask)}"


def _lacking(mask: "Mask") -> str:
    """Return the tokens that are not allowed in a few words, where these are the smaller side."""
    left = _not_allowed(mask)
    if len(left) >= len(mask.ids):
        return ""
    special = len(mask.vocabulary.special_ids.intersection(left))
    if not left:
        return ": all of them"
    if special == len(left):
        return f": all but {count_of(special, 'special token')}"
    groups = [count_of(special, "special token")] if special else []
    return f": all but {' and '.join([*groups, count_of(len(left) - special, 'other')])}"


def _not_allowed(mask: "Mask") -> list[int]:
    allowed = set(mask.ids)
    vocabulary = mask.vocabulary
    all_ids = (*vocabulary.tokens, *vocabulary.special_tokens.values(), *vocabulary.eos_token_ids)
    return sorted(set(all_ids) - allowed)


def _end(mask: "Mask") -> str:
    if mask.is_finished:
        return "the text is over"
    return "end of sequence is allowed" if mask.is_eos_allowed else "cannot end here"


def _allowed(engine: "Engine", ids: Sequence[int], view: View) -> Iterator[str]:
    """Yield the special tokens, then the others: each, or an overview by place."""
    vocabulary = engine.vocabulary
    order = order_of(vocabulary)
    flags, special = order.split(ids)
    count = len(ids) - len(special)
    if ids:
        yield ""
    yield from _special_rows(vocabulary, special, view)
    if count <= view.limit:
        for token_id in order.by_bytes[flags[order.by_bytes]].tolist():
            yield _token_row(vocabulary, token_id)
        return
    yield from _overview(engine, by_site(engine, ids), min(count, max(view.limit, _LEAST)), view)
    yield ""
    yield f"too many to list one by one: --limit {count} does, --match TEXT searches"


_LEAST = 20
"""Lines that an overview may have however few tokens are listed one by one."""


def _overview(
    engine: "Engine", groups: Sequence[SiteGroup], room: int, view: View
) -> Iterator[str]:
    """Yield the groups, the largest first, as far as ``room`` lines go; then all others as one."""
    for number, group in enumerate(groups):
        rows = list(_group_rows(engine, group, view))
        if number and len(rows) > room:
            left = groups[number:]
            yield f"elsewhere, in {count_of(len(left), 'more group')} of places"
            ids = np.concatenate([group.ids for group in left])
            yield _counted(engine.vocabulary, ids.tolist(), view)
            return
        room -= len(rows)
        yield from rows


def _special_rows(vocabulary: "Vocabulary", ids: Sequence[int], view: View) -> Iterator[str]:
    for token_id in ids[: max(view.limit, 1)]:
        yield _token_row(vocabulary, token_id)
    if len(ids) > max(view.limit, 1):
        yield f"{_INDENT}... {len(ids) - max(view.limit, 1):,} more special tokens"


def _token_row(vocabulary: "Vocabulary", token_id: int) -> str:
    return f"{token_id:>8}  {spelled(vocabulary, token_id)}"


def spelled(vocabulary: "Vocabulary", token_id: int) -> str:
    """Return the text shown for a token: its bytes in quotes, or the name of a special one."""
    data = vocabulary.token(token_id)
    if data is not None:
        return escaped(data)
    kind = "end of sequence" if token_id in vocabulary.eos_token_ids else "special"
    name = vocabulary.token_string(token_id)
    return kind if name is None else f"{visible(name)} ({kind})"


def _group_rows(engine: "Engine", group: SiteGroup, view: View) -> Iterator[str]:
    """Yield the sites at which a group begins, and below how many tokens and the shortest."""
    source = engine.grammar.source
    if not group.sites:
        yield "elsewhere"
    for site in group.sites[:_MOST_SITES]:
        yield describe_site(site, source)
    if len(group.sites) > _MOST_SITES:
        yield f"... and {count_of(len(group.sites) - _MOST_SITES, 'more place')}"
    yield _counted(engine.vocabulary, group.ids.tolist(), view)


def _counted(vocabulary: "Vocabulary", ids: Sequence[int], view: View) -> str:
    """Return how many tokens, and the first of them, as many as the line has room for."""
    shown = f"{len(ids):>8,}  "
    for index, token_id in enumerate(ids):
        entry = f"{', ' if index else ''}{token_id} {spelled(vocabulary, token_id)}"
        if cells(shown) + cells(entry) + len(", ...") > view.columns:
            return f"{shown}, ..."
        shown += entry
    return shown


def _lacking_rows(mask: "Mask", view: View) -> Iterator[str]:
    """Yield the tokens with bytes that are not allowed, where they are the smaller side."""
    left = _not_allowed(mask)
    others = [token_id for token_id in left if token_id not in mask.vocabulary.special_ids]
    if others and len(left) < len(mask.ids):
        yield ""
        yield "not allowed"
        yield _counted(mask.vocabulary, others, view)


def _search_lines(engine: "Engine", mask: "Mask", view: View) -> Iterator[str]:
    """Yield the tokens that contain the search term, and how many of them are not allowed."""
    wanted = view.match or ""
    vocabulary = mask.vocabulary
    matches = matching(vocabulary, mask.ids, wanted)
    others = matching(vocabulary, _not_allowed(mask), wanted)
    title = wanted if is_pattern(wanted) else escaped(as_bytes(wanted))
    yield (f"match       {visible(title)}: {len(matches):,} allowed, {len(others):,} not allowed")
    yield from _allowed(engine, matches, view)
    if others:
        yield ""
        yield "not allowed"
    for token_id in others[:_ROWS]:
        yield _token_row(vocabulary, token_id)
    if len(others) > _ROWS:
        yield f"{_INDENT}... {len(others) - _ROWS:,} more"
