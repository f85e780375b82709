"""KBNF in Pygments, and so in mkdocs, Sphinx and ``pygmentize -l kbnf``.

Tests: tests/serving
"""

from collections.abc import Callable

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String

# The stubs of Pygments leave its signature out.
_groups: Callable[..., object] = bygroups

__all__ = ["KbnfLexer"]


class KbnfLexer(RegexLexer):
    """Colours KBNF: names that are defined, texts, regular expressions, tokens and comments."""

    name = "KBNF"
    aliases = ("kbnf",)
    filenames = ("*.kbnf",)
    url = "https://pypi.org/project/kbnf-toolkit"
    version_added = ""

    tokens = {  # noqa: RUF012 - as Pygments has it
        "root": [
            (r"\s+", Punctuation),
            (r"\(\*\s*kbnf:[\s\S]*?\*\)", Comment.Special),
            (r"\(\*[\s\S]*?\*\)", Comment.Multiline),
            (
                r"([A-Za-z_][\w-]*)(@\w+)?(\s*)(::=|=)",
                _groups(Name.Function, Number.Integer, Punctuation, Operator),
            ),
            (r"@(?:>=?)?(?:[A-Za-z_]\w*(?:[+-][0-9]+)?|[0-9]+)", Number.Integer),
            (r"(#r)(\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*')", _groups(String.Affix, String.Regex)),
            (r"#(?:b|ex|e|substrs)?(?=[\"'])", String.Affix, "regex"),
            (r"except!", Keyword),
            (r"#token|#\[", Keyword),
            (r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', String),
            (r"[A-Za-z_][\w-]*", Name.Variable),
            (r"[0-9]+", Number.Integer),
            (r"[|?*+^-]", Operator),
            (r"[(){}\[\];,:#]", Punctuation),
        ],
        "regex": [(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', String.Regex, "#pop")],
    }
