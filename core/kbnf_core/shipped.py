"""The grammars and manual pages that come with the toolkit, by name.

In a checkout they are the folders ``grammars`` and ``man``; ``setup.py`` copies both into the
package of a wheel.

Tests: tests/cli/test_any_grammar.py
"""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_INSTALLED = _HERE / "shipped_files"
_TOP = _INSTALLED if _INSTALLED.is_dir() else _HERE.parent.parent

PREFIX = "builtin:"
"""Names an included grammar, whatever files there are."""


def grammar_names() -> list[str]:
    """Return the names of the grammars."""
    return sorted(file.stem for file in (_TOP / "grammars").glob("*.kbnf"))


def grammar_file(name: str) -> Path | None:
    """Return the file of the grammar called ``name``, with or without the prefix."""
    plain = name.removeprefix(PREFIX)
    return _TOP / "grammars" / f"{plain}.kbnf" if plain in grammar_names() else None


def shown_path(path: Path) -> Path:
    """Return the path that messages show: of an included grammar, its name."""
    is_shipped = path.is_absolute() and path.parent == _TOP / "grammars"
    return Path(f"{PREFIX}{path.stem}") if is_shipped else path


def manual_page(name: str) -> Path | None:
    """Return the page of the manual in the file ``name``, such as ``kbnf.5``."""
    file = _TOP / "man" / name
    return file if file.is_file() else None
