"""What the page asks of the toolkit: each function takes texts and returns JSON.

Runs in Pyodide, without NumPy and the engine: what takes them is left out (see README.md).
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kbnf_core import check, convert
from kbnf_core.frontend import read_grammar
from kbnf_core.kbnf.diagram import render_html
from kbnf_core.kbnf.format import format_kbnf
from kbnf_core.languages import ABNF, BNF, GBNF, KBNF, LARK
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.text import render_text, summarise
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.imports import Imports
from kbnf_core.text.source import Source

LANGUAGES = {each.name: each for each in (KBNF, GBNF, LARK, BNF, ABNF)}
WRITERS = {GBNF.name: convert.to_gbnf, LARK.name: convert.to_lark}
NO_FILES = Imports(load=lambda _: None)
EXAMPLES = Path(__file__).with_name("grammars")
WIDTH = 72
"""Columns of a finding: prose is wrapped there."""


def languages() -> str:
    """Return the names of the languages that are read, and of those that KBNF is written in."""
    return json.dumps({"read": list(LANGUAGES), "written": list(WRITERS)})


def examples() -> str:
    """Return the grammars that are shipped, by name."""
    files = sorted(EXAMPLES.glob("*.kbnf"))
    return json.dumps({each.stem: each.read_text("utf-8") for each in files})


def checked(text: str, language: str) -> str:
    """Return what ``kbnf check`` says."""
    found = check(text, _name(language), language=LANGUAGES[language], imports=NO_FILES)
    return _said(found)


def formatted(text: str, language: str) -> str:
    """Return the text in the canonical layout, or what stands in the way."""
    if LANGUAGES[language] is not KBNF:
        return json.dumps({"refused": "Only KBNF has a canonical layout: convert it first."})
    done = format_kbnf(Source(text, _name(language)))
    return _said(done.errors, text=done.text)


def converted(text: str, language: str, target: str) -> str:
    """Return the text in another language, with what is lost."""
    try:
        if target == KBNF.name:
            options: dict[str, Any] = {"imports": NO_FILES} if language == LARK.name else {}
            done = convert.to_kbnf(language, text, path=_name(language), **options)
        elif LANGUAGES[language] is KBNF:
            done = WRITERS[target](text, path=_name(language))
        else:
            return json.dumps({"refused": f"{target} is written from KBNF: convert to KBNF first."})
    except GrammarError as error:
        return _said(error.diagnostics)
    source = Source(text, _name(language))
    losses = [loss.diagnostic(source) for loss in done.losses]
    return _said(losses, text=done.text)


def diagram(text: str, language: str) -> str:
    """Return railroad diagrams as a page of HTML, or what stands in the way."""
    reading = read_grammar(
        Source(text, _name(language)), language=LANGUAGES[language], imports=NO_FILES
    )
    page = None if reading.errors else render_html(reading.document, reading.start)
    return _said(reading.errors, text=page)


def _name(language: str) -> str:
    """Return what messages call the text."""
    return f"grammar{LANGUAGES[language].extension}"


def _said(found: Iterable[Diagnostic], text: str | None = None) -> str:
    found = list(found)
    findings = [_finding(each) for each in found]
    return json.dumps({"summary": summarise(found, 1), "findings": findings, "text": text})


def _finding(diagnostic: Diagnostic) -> dict[str, Any]:
    text = diagnostic.source.text
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.label,
        "start": _units(text, diagnostic.span.start),
        "end": _units(text, diagnostic.span.end),
        "shown": [[part.text, part.role.name.lower()] for part in render_text(diagnostic, WIDTH)],
    }


def _units(text: str, index: int) -> int:
    """Return where JavaScript, which counts UTF-16, sees a code point."""
    return len(text[:index].encode("utf-16-le", "surrogatepass")) // 2
