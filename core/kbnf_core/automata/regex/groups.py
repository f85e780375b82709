"""What stands between an opening parenthesis and what it groups."""

from dataclasses import replace

from kbnf_core.automata.regex.problems import UNSUPPORTED
from kbnf_core.automata.regex.reader import Reader

_FLAGS = {
    "i": "ignore_case",
    "m": "multi_line",
    "s": "dot_all",
    "R": "crlf",
    "U": "swap_greed",
    "u": "unicode",
    "x": "verbose",
}
_UNSUPPORTED = {
    "?=": ("look-ahead is not supported", "write what follows as the next symbol of the rule"),
    "?!": (
        "negative look-ahead is not supported",
        "for text without some words write except!('..') or #ex\"..\"",
    ),
    "?<=": ("look-behind is not supported", "write what comes before as a symbol of its own"),
    "?<!": (
        "negative look-behind is not supported",
        "for text without some words write except!('..') or #ex\"..\"",
    ),
    "?>": ("atomic groups are not supported", "write (?:..); nothing is backtracked here"),
    "?|": ("branch-reset groups are not supported", "write (?:..)"),
    "?(": ("conditional groups are not supported", "write the cases as alternatives"),
    "?#": ("comments in groups are not supported", "use the x flag: (?x) # a comment"),
    "?&": ("recursion is not supported", "let a rule refer to itself instead"),
    "?P=": ("back references are not supported", "a grammar cannot compare two parts"),
    "?P>": ("recursion is not supported", "let a rule refer to itself instead"),
    "?'": ("this way to name a group is not supported", "write (?<name>..)"),
    "*": ("backtracking verbs are not supported", "write \\* for the sign"),
}


def read_group_start(reader: Reader) -> bool:
    """Read ``(`` and what belongs to it; tell whether a group was opened.

    It was not after flags alone, ``(?i)``. Flags take effect; problems are reported, and what
    is unsupported opens a group all the same.
    """
    start = reader.index
    reader.advance()
    if _report_unsupported(reader, start):
        return True
    if reader.take("?P<") or reader.take("?<"):
        _read_name(reader)
        return True
    if not reader.take("?"):
        return True
    return _read_flags(reader, start)


def _report_unsupported(reader: Reader, start: int) -> bool:
    for prefix in sorted(_UNSUPPORTED, key=len, reverse=True):
        if reader.text.startswith(prefix, reader.index):
            message, hint = _UNSUPPORTED[prefix]
            reader.report(message, start, reader.index + len(prefix), code=UNSUPPORTED, hint=hint)
            # The condition of (?(1)..) is read like a group, so that its end is found.
            reader.index += len(prefix.removesuffix("("))
            return True
    return False


def _read_name(reader: Reader) -> None:
    start = reader.index
    end = reader.text.find(">", start)
    if end < 0:
        reader.give_up("the name of this group is not closed with `>`", start, len(reader.text))
    name = reader.text[start:end]
    reader.index = end + 1
    if not name:
        reader.report("the name of a group is missing", start, end)
    elif not (name[0] == "_" or name[0].isalpha()) or not all(map(_is_name_char, name)):
        reader.report(f"`{name}` cannot name a group", start, end)
    elif name in reader.group_names:
        reader.report(f"two groups are named `{name}`", start, end)
    reader.group_names.add(name)


def _is_name_char(char: str) -> bool:
    return char in "_.[]" or char.isalpha() or char.isnumeric()


def _read_flags(reader: Reader, start: int) -> bool:
    changes: dict[str, bool] = {}
    value = True
    while reader.char not in {":", ")"}:
        at = reader.index
        reader.index += 1
        char = reader.text[at : at + 1]
        if not char:
            reader.give_up("this group is not closed with `)`", start, start + 1)
        if char == "-":
            if not value:
                reader.report("flags are switched off with one `-` only", at)
            value = False
        elif char not in _FLAGS:
            reader.report(f"`{char}` is not a flag", at, hint="the flags are i, m, s, R, U, u, x")
        elif _FLAGS[char] in changes:
            reader.report(f"the flag `{char}` is given twice", at)
        else:
            changes[_FLAGS[char]] = value
    if reader.text[reader.index - 1] == "-":
        reader.report("a flag is expected after `-`", reader.index - 1)
    opened = reader.char == ":"
    if not opened and reader.text[reader.index - 1] == "?":
        reader.report("there is nothing to repeat", reader.index - 1)
    reader.index += 1
    reader.flags = replace(reader.flags, **changes)
    return opened
