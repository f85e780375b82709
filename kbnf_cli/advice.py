"""Advice for arguments that name no file: what was passed instead, and how that is passed.

Beginners pass a pattern, a rule, a schema or the text itself where a file is expected. Each kind
has one hint with a command that works as it is printed; a test runs every one of them.
"""

import json
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kbnf_cli.files import is_model_name
from kbnf_core.text.errors import SourceError

_NO_FILE = ("no such file", "file name too long")

_PATTERN = re.compile(r"[\[\](){}*+?|^$\\]")
"""Characters of regular expressions that names of files hardly have."""


def hints_for(error: SourceError) -> tuple[str, ...]:
    """Return how to pass what was named in place of a file; nothing for other failures."""
    if not error.reason.lower().startswith(_NO_FILE) or ";" in error.reason:
        return ()
    return tuple(_hints(error.path))


def _hints(name: str) -> Iterator[str]:
    if Path(name).suffix in _extensions():
        near = _similar(name)
        if near is not None:
            yield f"did you mean `{near}`?"
    elif is_model_name(name):
        yield f"`kbnf convert {name}` imports a class, as do check and diff"
    elif "::=" in name:
        yield f"`-` reads a grammar from stdin: `printf %s {shlex.quote(name)} | kbnf explain -`"
    elif _is_object(name):
        piped = f"printf %s {shlex.quote(name)}"
        yield f"a JSON Schema is read from a file or stdin: `{piped} | kbnf convert -`"
        yield "--text of the commands match and mask gives a text directly"
    elif _PATTERN.search(name):
        from kbnf_core.kbnf.printer import spell_regex

        with suppress(ValueError):
            grammar = shlex.quote(f"start ::= {spell_regex(name)};")
            yield (
                f"a regular expression is part of a grammar: `printf %s {grammar} | kbnf explain -`"
            )
            piped = f"printf %s {shlex.quote(name)}"
            yield f"or it is converted from stdin: `{piped} | kbnf convert --from regex -`"
    else:
        near = _similar(name)
        if near is not None:
            yield f"did you mean `{near}`?"
        elif not Path(name).suffix:
            yield "`kbnf help grammars` lists the grammars that are included, by name"


def _extensions() -> tuple[str, ...]:
    from kbnf_core.artifact import SUFFIX
    from kbnf_core.languages import EXTENSIONS

    return (*EXTENSIONS, SUFFIX, ".json")


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | bool)
    except (ValueError, RecursionError):
        return False


def _similar(name: str) -> str | None:
    """Return the included grammar, or the file in the same folder, that a name resembles."""
    from kbnf_core.shipped import grammar_names
    from kbnf_core.text.suggest import Suggestions

    path = Path(name)
    names = {each: each for each in grammar_names()} if path.parent == Path() else {}
    with suppress(OSError):
        names |= {each.name: str(path.parent / each.name) for each in path.parent.iterdir()}
    near = Suggestions(names).closest(path.name)
    return None if near is None else names[near]
