"""The grammar languages that are read, each with its extension and its reader."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, TypeAlias

from kbnf_core.config import Finish
from kbnf_core.diagnostics.decode import too_large
from kbnf_core.imports import BELOW, Imports
from kbnf_core.limits import Limits
from kbnf_core.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbnf_core.languages.kbnf.parse import Parsed

    Reader: TypeAlias = Callable[..., Parsed]


@dataclass(frozen=True, slots=True)
class Language:
    """A grammar language.

    ``start`` and ``finish`` are what holds where the text does not say otherwise. ``reader``
    names a function that reads a text into a tree of KBNF, as ``module:function``. A language
    that ``is_converted`` has another structure: its reader takes the start and the imports, too,
    and leaves out all to which that does not lead; the tree has places of the text, but not its
    form.
    """

    name: str
    extension: str
    start: str
    finish: Finish
    reader: str
    is_converted: bool = False

    def read(
        self,
        source: Source,
        limits: Limits,
        start: str | None = None,
        imports: Imports = BELOW,
    ) -> "Parsed":
        """Parse ``source``; never raises, findings are in the result.

        ``start`` None is the text's own choice; ``imports`` says which files may be imported.
        """
        if len(source.text) > limits.source_bytes:
            return _refused(source, limits)
        module, _, function = self.reader.partition(":")
        reader: Reader = getattr(import_module(module), function)
        more = (start, imports) if self.is_converted else ()
        return reader(source, limits, *more)


def _refused(source: Source, limits: Limits) -> "Parsed":
    from kbnf_core.languages.kbnf.parse import Parsed
    from kbnf_core.syntax.tree import Document

    return Parsed(Document(source, (), ()), (too_large(source, limits.source_bytes),))


KBNF = Language("KBNF", ".kbnf", "start", Finish.EAGER, "kbnf_core.languages.kbnf.parse:parse_kbnf")
GBNF = Language("GBNF", ".gbnf", "root", Finish.EOS, "kbnf_core.languages.gbnf.parse:parse_gbnf")
BNF = Language("BNF", ".bnf", "start", Finish.TOKEN, "kbnf_core.languages.bnf.parse:parse_bnf")
LARK = Language(
    "Lark", ".lark", "start", Finish.EOS, "kbnf_core.languages.lark.check:parse_as_kbnf", True
)

LANGUAGES = (KBNF, GBNF, BNF, LARK)
EXTENSIONS = tuple(language.extension for language in LANGUAGES)


def language_of(path: str | None) -> Language:
    """Return the language of a file by its extension; KBNF where that says nothing."""
    extension = PurePath(path or "").suffix.lower()
    return next((each for each in LANGUAGES if each.extension == extension), KBNF)
