"""Explains mistakes in what stands between the brackets of `except!`, `#token` and counts."""

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.syntax.mistake import Mistake

_FORM = "write `except!('text')`, `except!(NAME)` or `except!('text', 100)`"
_LIST = "name a rule that lists the texts: `except!(NAME)`"


def explain_arguments(mistake: Mistake) -> Diagnostic | None:
    """Return the finding for a mistake in such a bracket (E013, E014, E016), or None."""
    if mistake.before.type == "EXCEPT":
        return mistake.finding("E014", "`except!` needs its argument in `(...)`", "", _FORM)
    if mistake.kind == "END" or mistake.inside is None:
        return None
    opener = mistake.open_brackets[-1]
    if mistake.words[opener - 1].type == "EXCEPT":
        return _exception(mistake)
    match mistake.inside.type:
        case "TOKEN_OPEN":
            help_ = "write ids and ranges: `#token[5]`, `#token[1-5,7]` or `#token[^1-5]`"
            return mistake.finding("E016", f"unexpected {mistake.found} in a token set", "", help_)
        case "COUNT_OPEN":
            help_ = "write `{3}`, `{2,}`, `{,5}` or `{2,5}`"
            return mistake.finding("E013", f"unexpected {mistake.found} in a count", "", help_)
        case _:
            return None


def _exception(mistake: Mistake) -> Diagnostic:
    match (mistake.before.type, mistake.kind):
        case ("LPAR", "RPAR"):
            return mistake.finding("E014", "`except!` needs an argument", "", _FORM)
        case ("LPAR", _):
            message = "`except!` takes a quoted text or a name"
            return mistake.finding("E014", message, "expected a quoted text or a name", _FORM)
        case (_, "_OR") | ("_COMMA", "STRING" | "NAME"):
            return mistake.finding("E014", "`except!` takes one text only", "", _LIST)
        case ("_COMMA", "RPAR"):
            help_ = "remove the comma, or write the largest number of bytes after it"
            return mistake.finding("E014", "`except!` has a comma but no limit", "", help_)
        case ("_COMMA", _):
            message = "the limit of `except!` is a number of bytes"
            return mistake.finding("E014", message, "expected a number", _FORM)
        case _:
            message = f"unexpected {mistake.found} in the argument of `except!`"
            return mistake.finding("E014", message, "", _FORM)
