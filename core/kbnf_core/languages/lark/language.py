"""Lark, in either dialect, as one of the grammar languages."""

from typing import TYPE_CHECKING

from kbnf_core.config import Finish
from kbnf_core.imports import Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source
from kbnf_core.syntax.conversion import Conversion
from kbnf_core.syntax.language import Language, Parsed

if TYPE_CHECKING:
    from kbnf_core.syntax.outline import Outline


def _read(source: Source, limits: Limits, start: str | None, imports: Imports) -> Parsed:
    from kbnf_core.languages.lark.check import parse_as_kbnf

    return parse_as_kbnf(source, limits, start, imports)


def _to_kbnf(source: str, *, path: str | None, start: str | None, imports: Imports) -> Conversion:
    from kbnf_core.languages.lark.read import from_lark

    return from_lark(source, path=path, start=start, imports=imports)


def _from_kbnf(source: str, *, path: str | None, start: str | None, imports: Imports) -> Conversion:
    del imports
    from kbnf_core.languages.lark.writer.from_kbnf import to_lark

    return to_lark(source, path=path, start=start)


def _outline(source: Source, limits: Limits) -> "Outline":
    from kbnf_core.languages.lark.check import outline_lark

    return outline_lark(source, limits)


LARK = Language(
    "Lark",
    ".lark",
    "start",
    Finish.EOS,
    _read,
    _to_kbnf,
    _from_kbnf,
    is_converted=True,
    takes_fixes=False,
    outliner=_outline,
)
