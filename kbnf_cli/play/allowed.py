"""The allowed tokens as lines: in groups by what they begin with, or one by one."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from heapq import nsmallest
from typing import TYPE_CHECKING

from kbnf_cli.escaped import escaped
from kbnf_core.diagnostics.visible import cells, visible

if TYPE_CHECKING:
    from kbnf_core import Engine, Vocabulary

_EXAMPLES = 16
"""Tokens that a group's line shows at most."""


def allowed_ids(engine: "Engine") -> list[int]:
    """Return the ids allowed at the engine's position, ascending."""
    engine.compute_allowed_token_ids()
    return engine.get_allowed_token_ids_from_last_computation()


def token_lines(vocabulary: "Vocabulary", ids: Iterable[int], columns: int) -> list[str]:
    """Return a line for each token, special ones first, then in the order of their bytes."""
    ordered = sorted(ids, key=lambda each: (vocabulary.token(each) or b"", each))
    return [clip(f"{each:>8}  {spelled(vocabulary, each)}", columns) for each in ordered]


def grouped_lines(vocabulary: "Vocabulary", ids: Iterable[int], columns: int) -> list[str]:
    """Return a line for each special token, and one for each first byte of the others."""
    return _grouped(vocabulary, ids, columns, lambda data: (data[0], escaped(data[:1])))


def summary_lines(vocabulary: "Vocabulary", ids: Iterable[int], columns: int) -> list[str]:
    """Return a line for each special token, and one for each kind that the others begin with."""
    return _grouped(vocabulary, ids, columns, lambda data: _kind(data[0]))


def _grouped(
    vocabulary: "Vocabulary",
    ids: Iterable[int],
    columns: int,
    group_of: Callable[[bytes], tuple[int, str]],
) -> list[str]:
    groups: dict[tuple[int, str], list[int]] = defaultdict(list)
    special = []
    for token_id in ids:
        data = vocabulary.token(token_id)
        if data:
            groups[group_of(data)].append(token_id)
        else:
            special.append(token_id)
    lines = token_lines(vocabulary, special, columns)
    return lines + [
        _group(vocabulary, title, members, columns)
        for (_, title), members in sorted(groups.items())
    ]


_KINDS = ("blank", "digit", "letter", "sign", "control", "other")


def _kind(first: int) -> tuple[int, str]:
    """Return the number and the name of the kind of a first byte."""
    character = chr(first)
    tests = (
        character in " \t\n\r",
        character.isdigit(),
        character.isalpha(),
        character.isprintable(),
        first < 0x80,
    )
    kind = tests.index(True) if first < 0x80 else len(tests)
    return kind, _KINDS[kind]


def _group(vocabulary: "Vocabulary", title: str, ids: list[int], columns: int) -> str:
    tokens = vocabulary.tokens
    nearest = nsmallest(_EXAMPLES, ids, key=lambda each: (len(tokens[each]), tokens[each], each))
    parts = (f" {each} {spelled(vocabulary, each)}" for each in nearest)
    return "".join(_fitting(f"{title:>8} {len(ids):>7,}:", parts, columns))


def _fitting(head: str, parts: Iterable[str], columns: int) -> Iterator[str]:
    """Yield ``head`` and as many parts as the line has room for."""
    yield head
    room = columns - cells(head)
    for part in parts:
        room -= cells(part)
        if room < 0:
            return
        yield part


def spelled(vocabulary: "Vocabulary", token_id: int) -> str:
    """Return what to show for a token: its bytes in quotes, or the name of a special one."""
    data = vocabulary.token(token_id)
    if data is not None:
        return escaped(data)
    name = vocabulary.token_string(token_id)
    kind = "end of sequence" if token_id in vocabulary.eos_token_ids else "special"
    return kind if name is None else f"{visible(name)} ({kind})"


def clip(line: str, columns: int) -> str:
    """Return a line, cut off with an ellipsis where it is wider than ``columns`` cells."""
    if cells(line) <= columns:
        return line
    kept = []
    room = columns - 1
    for character in line:
        room -= cells(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"
