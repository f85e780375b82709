"""What check, fmt, convert and diagram say of files, printed as JSON.

``python without_arrays.py bare FILES`` runs without NumPy, the regex package and compiled modules,
as a browser does; ``uncompiled`` in place of ``bare`` without the compiled modules alone, as after
an installation that could not build them; ``full`` with everything.
"""

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

COMPILED = (
    "kbnf_core.automata._automata",
    "kbnf_core.kernel._engine",
    "kbnf_core.kernel._trees",
    "kbnf_core.lower._lowering",
)

BLOCKED = {"full": (), "uncompiled": COMPILED, "bare": ("numpy", "regex", *COMPILED)}


def block(how: str) -> None:
    """Make the modules of ``BLOCKED`` impossible to import in this process."""
    vars(sys)["modules"].update(dict.fromkeys(BLOCKED[how]))


def main() -> None:
    """Print a JSON object of the findings, by operation and file."""
    block(sys.argv[1])
    said = {}
    for name in sys.argv[2:]:
        text = Path(name).read_text(encoding="utf-8")
        for operation, run in operations(name, text):
            said[f"{operation} {name}"] = run()
    print(json.dumps(said))  # noqa: T201 - a program of its own


def operations(name: str, text: str) -> Iterable[tuple[str, Callable[[], object]]]:
    """Yield the operations on a text, by name."""
    from kbnf_core import check, convert
    from kbnf_core.frontend import read_grammar
    from kbnf_core.kbnf.diagram import render_html
    from kbnf_core.kbnf.format import format_kbnf
    from kbnf_core.languages import KBNF, language_of
    from kbnf_core.text.diagnostics import Diagnostic
    from kbnf_core.text.errors import GrammarError
    from kbnf_core.text.source import Source

    language = language_of(name)

    def shown(found: Iterable[Diagnostic]) -> list[object]:
        return [[each.code, each.message, *each.span, each.notes, each.helps] for each in found]

    def converted(run: Callable[[], convert.Conversion]) -> object:
        try:
            done = run()
        except GrammarError as error:
            return shown(error.diagnostics)
        return [done.text, sorted(loss.code for loss in done.losses)]

    yield "check", lambda: shown(check(text, name))
    yield "diagram", lambda: render_html(read_grammar(Source(text), language=language).document, "")
    if language is KBNF:
        yield "fmt", lambda: format_kbnf(Source(text, name)).text
        yield "to_gbnf", lambda: converted(lambda: convert.to_gbnf(text, path=name))
        yield "to_lark", lambda: converted(lambda: convert.to_lark(text, path=name))
    else:
        yield "to_kbnf", lambda: converted(lambda: convert.convert(text, language, path=name))


if __name__ == "__main__":
    main()
