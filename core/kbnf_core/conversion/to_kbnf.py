"""Prints a tree of KBNF that was read from another language, and makes names out of foreign ones.

The rest of the work is names, settings and the layout: comments and line breaks are those of the
author.

Tests: tests/unit/conversion
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from textwrap import wrap
from typing import Self

from kbnf_core.conversion.rewrite import rename
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf.format import (
    WIDTH,
    FormattedText,
    Gap,
    contents_of_tree,
    generated_statement,
    print_contents,
)
from kbnf_core.kbnf.tree import Comment, Definition, Document
from kbnf_core.text.collecting import without_collecting

_START = "start"
_FINISH = "eager"
"""What a text of KBNF means that says nothing else."""

_SETTING = re.compile(
    r"^(\s*kbnf:(?!\s*(?:accept|reject)\b).*?)\bstart\s*=\s*[^\s,]+[\s,]*", re.DOTALL
)


@without_collecting()
def print_kbnf(
    document: Document,
    start: str,
    finish: str | None,
    remark: str,
    *,
    keeps_names: bool,
    origin: str = "",
) -> str:
    """Return a tree as KBNF, with its comments and settings.

    ``finish`` is a setting that the comments do not have; ``remark`` is put in front, ``origin``
    says what nobody wrote as rules. Names that KBNF cannot have are replaced, and the start is
    called ``start``, unless the document ``keeps_names``.
    """
    definitions: Sequence[Definition] = document.definitions
    comments: Iterable[Comment] = document.comments
    changed: dict[str, str] = {}
    if not keeps_names:
        names = kbnf_names((d.name.value for d in definitions), {start: _START})
        definitions = [rename(definition, names) for definition in definitions]
        comments = filter(None, map(_without_start, comments))
        changed = {old: new for old, new in names.items() if old != new}
    has_start = start in changed or any(
        _SETTING.match(comment.text) for comment in document.comments
    )
    is_explicit = finish != _FINISH or document.remarks is not None
    settings = [f"finish={finish}"] if finish and is_explicit else []
    if start != _START and not has_start:
        settings.append(f"start={start}")
    if origin:
        settings.append(f"from={origin}")
    head = _head(settings, remark, changed)
    if document.remarks is not None:
        contents = _rules_for_people(document, document.remarks)
    else:
        texts = [(comment.span, _comment(comment.text)) for comment in comments]
        contents = contents_of_tree(document.source, definitions, texts)
    return head + print_contents(contents)


def _rules_for_people(document: Document, remarks: Mapping[str, str]) -> FormattedText:
    """Return the generated rules with the notes about them, with which sections begin."""
    notes = {name: _comment("\n   ".join(lines_of(note))) for name, note in remarks.items()}
    statements = (
        generated_statement(definition, notes.get(definition.name.value))
        for definition in document.definitions
    )
    return FormattedText(tuple(statements), Gap())


def lines_of(remark: str) -> list[str]:
    """Return the lines of a note, with room for the marks of a comment."""
    is_short = 0 < len(remark) <= WIDTH - 6 and " ".join(remark.split()) == remark
    return [remark] if is_short else wrap(remark, WIDTH - 6)


def _without_start(comment: Comment) -> Comment | None:
    """Return a comment without the setting of the start, which gets another name; None for that."""
    text, count = _SETTING.subn(r"\g<1>", comment.text, count=1)
    return None if count and text.strip() == "kbnf:" else replace(comment, text=text)


def _comment(text: str) -> str:
    """Return a comment of KBNF; what would end it is broken up."""
    inner = text.strip().replace("*)", "* )").replace("(*", "( *")
    return f"(* {inner} *)" if inner else "(* *)"


def _head(settings: Sequence[str], remark: str, changed: Mapping[str, str]) -> str:
    """Return the settings, the note, and the table of new names."""
    lines = [f"(* kbnf: {' '.join(settings)} *)"] if settings else []
    if remark:
        lines.append("\n   ".join(wrap(_comment(remark), 96)))
    if changed:
        width = max(map(len, changed))
        rows = (f"     {old:<{width}}  {new}" for old, new in changed.items())
        lines += [f"(* {TABLE_HEAD}", *rows, "*)"]
    return "".join(f"{line}\n" for line in [*lines, *([""] if lines else [])])


TABLE_HEAD = "Renamed:"
"""Begins the comment with the table of new names; it is not carried over to a third text."""

_NO_IDENTIFIER = re.compile(r"[^A-Za-z0-9_]+")
_NO_GBNF_NAME = re.compile(r"[^A-Za-z0-9-]+")

_OF_XGRAMMAR = (
    "true",
    "false",
    "Token",
    "ExcludeToken",
    "TagDispatch",
    "TokenTagDispatch",
    "Regex",
    "Substring",
)
"""Words of XGrammar's GBNF that cannot name a rule."""


def kbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return an identifier of KBNF for each name of another language, each different.

    ``fixed`` has those that are settled. Other names stay as they are where they can.
    """
    spell = partial(_spelled, bad=_NO_IDENTIFIER, joint="_")
    return distinct(names, fixed, spell, "_")


def gbnf_names(names: Iterable[str], fixed: Mapping[str, str]) -> dict[str, str]:
    """Return a name of GBNF for each name of any language, as ``kbnf_names``.

    It has letters, digits and hyphens only, and begins with a letter: all readers of GBNF take it.
    """
    spell = partial(_spelled, bad=_NO_GBNF_NAME, joint="-")
    return distinct(names, fixed, spell, "-", _OF_XGRAMMAR)


class Identifiers(FreshNames):
    """Gives out identifiers of KBNF; equal requests get the same one."""

    def __init__(self) -> None:
        super().__init__()
        self._given: dict[object, str] = {}

    def copy(self) -> Self:
        """Return the same state, to come back to."""
        other = super().copy()
        other._given = dict(self._given)
        return other

    def of(self, key: object, wanted: str) -> str:
        """Return the name of ``key``, as close to ``wanted`` as is left."""
        if key not in self._given:
            self._given[key] = self.fresh(wanted)
        return self._given[key]

    def fresh(self, wanted: str) -> str:
        """Return a name that nothing has yet; an underscore in front is kept."""
        base = _NO_IDENTIFIER.sub("_", wanted).strip("_") or "rule"
        if wanted.startswith("_") or base[0].isdigit():
            base = f"_{base}"
        return super().fresh(base)


def _spelled(name: str, bad: "re.Pattern[str]", joint: str) -> str:
    """Return ``name`` with one joint for every run of ``bad`` characters, none at its ends."""
    plain = name if bad.search(name) is None else bad.sub(joint, name).strip(joint)
    return plain if plain[:1].isalpha() or plain[:1] == "_" else f"r{plain}"


def distinct(
    names: Iterable[str],
    fixed: Mapping[str, str],
    spell: Callable[[str], str],
    joint: str,
    reserved: Iterable[str] = (),
) -> dict[str, str]:
    """Return ``fixed``, and for every other name one close to what ``spell`` makes of it.

    The result depends on the order of the names only. None is one of ``reserved``.
    """
    ordered = list(dict.fromkeys(names))
    chosen = dict(fixed)
    names_left = FreshNames((*fixed.values(), *reserved), joint)
    # Names that can stay go first, so that none of them gives way to one that must change.
    for name in sorted(ordered, key=lambda name: spell(name) != name):
        if name not in chosen:
            chosen[name] = names_left.fresh(spell(name))
    return chosen
