"""The grammar languages: a folder each, which defines its value in ``language.py``."""

from pathlib import PurePath

from kbnf_core.languages.abnf.language import ABNF
from kbnf_core.languages.bnf.language import BNF
from kbnf_core.languages.gbnf.language import GBNF
from kbnf_core.languages.kbnf.language import KBNF
from kbnf_core.languages.lark.language import LARK
from kbnf_core.languages.structural_tag.language import STRUCTURAL_TAG
from kbnf_core.syntax.language import Language

LANGUAGES = (KBNF, GBNF, BNF, LARK, ABNF, STRUCTURAL_TAG)
EXTENSIONS = tuple(language.extension for language in LANGUAGES)

__all__ = [
    "ABNF",
    "BNF",
    "EXTENSIONS",
    "GBNF",
    "KBNF",
    "LANGUAGES",
    "LARK",
    "STRUCTURAL_TAG",
    "Language",
    "language_of",
]


def language_of(path: str | None) -> Language:
    """Return the language of a file by its extension; KBNF where that says nothing."""
    extension = PurePath(path or "").suffix.lower()
    return next((each for each in LANGUAGES if each.extension == extension), KBNF)
