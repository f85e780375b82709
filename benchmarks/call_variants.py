"""Variants of rendered calls, made by rule, and prose with markers, read as servers read them.

    python -m benchmarks.call_variants FOLDER

For each chat template of a folder (``benchmarks.chat_templates``): its format, derived or by name,
and what it writes for calls, in variants: JSON compact, indented, with members in another order or
``parameters`` for ``arguments``; blanks and line breaks at the seams between markers and objects,
or none; a thought, an unknown tool, or prose with a marker in front. The calls must be read. Then
texts of prose and code with markers of the formats, JSON that looks like a call, and whole calls of
unknown tools, quoted: no call may be read.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.chat_templates import PATTERNS, TOOLS, Called, Template, files_in, reason_of
from kbnf_core.integrations.tool_calls import ToolCalls
from kbnf_core.languages.structural_tag.models import fixed_texts, format_named, table
from kbnf_core.languages.structural_tag.reading import language_of_format, words_of
from kbnf_core.languages.tools.chat_template import derived_format
from kbnf_core.text.errors import KbnfError

_SEAM = re.compile(r"(?<=[>\]])[ \n]*(?=[<{\[])|(?<=\})[ \n]*(?=[<\]])")
PROSE = 5_000
_WORDS = (
    "so", "the", "def f(x):", "```", "```json\n", "\n", " ", "for example", '{"a": 1}', "[1, 2]",
    '{"name": "Bob", "arguments": {"x": 1}}', '[{"name": "Bob", "parameters": {}}]', "print(x)",
    "<b>",
    "if a < b:", "{", "}", "]", '"', "<think>", "</think>", "f(x=1)", "[f(x=1)]",
)  # fmt: skip


def format_of(text: str, template: Template) -> str | None:
    """Return the format of a template: derived, or the first by name that reads its calls."""
    if not reason_of(text):
        return derived_format(text)
    raw = [(each, calls) for calls in PATTERNS.values() for each in template.raw(calls)]
    for name in table():
        if raw and all(reads(name, *each) for each in raw):
            return name
    return None


def reads(format_: str, text: str, calls: Sequence[Called]) -> bool:
    """Return whether a text is read as these calls."""
    return read(format_, text) == [*calls]


def read(format_: str, text: str) -> list[Called]:
    """Return the calls in a text."""
    _, found = ToolCalls(format_, TOOLS).whole(text)
    return [(each["name"], json.loads(each["arguments"])) for each in found]


def variants(format_: str, text: str, rng: Random) -> Iterator[tuple[str, str]]:
    """Yield variants of a text, each with its kind."""
    for blanks in ("", " ", "\n", "\n\n  "):
        yield f"seams {blanks!r}", _SEAM.sub(blanks, text)
        yield "a seam", _SEAM.sub(_random_seam(blanks, rng), text)
    for kind, change in (
        ("compact", lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)),
        ("indented", lambda value: json.dumps(value, indent=2, ensure_ascii=False)),
        ("other order", lambda value: json.dumps(reordered(value), ensure_ascii=False)),
        ("parameters", lambda value: json.dumps(renamed(value), ensure_ascii=False)),
    ):
        made = changed(text, change)
        if made != text:
            yield kind, made
    language = language_of_format(format_named(format_), {})
    for frame in () if language is None else language.frames:
        if frame.kind == "reasoning" and frame.begin:
            yield "a thought", f"{frame.begin}hm{frame.ends[0]}{frame.after}{text}"
    unknown = re.sub("get_weather|save|noop", "get_water", text)
    yield "an unknown tool", unknown + text
    marker = words_of(text.strip())[0]
    yield "prose with a marker", f"The marker `{marker}` opens, \0 as in {marker} x. {text}"


def _random_seam(blanks: str, rng: Random) -> Callable[[re.Match[str]], str]:
    """Return a function that replaces each seam by ``blanks`` or a line break, by chance."""
    return lambda _: rng.choice((blanks, "\n"))


def changed(text: str, change: Any) -> str:
    """Return a text with its objects of JSON printed otherwise."""
    made, at = "", 0
    while (start := text.find("{", at)) >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            made, at = made + text[at : start + 1], start + 1
            continue
        made, at = made + text[at:start] + change(value), end
    return made + text[at:]


def reordered(value: Any) -> Any:
    """Return an object with its members in the reverse order."""
    return dict(reversed(value.items())) if isinstance(value, dict) else value


def renamed(value: Any) -> Any:
    """Return a call with the other name of its arguments."""
    other = {"arguments": "parameters", "parameters": "arguments"}
    return {other.get(name, name): each for name, each in value.items()}


def prose(rng: Random, markers: Sequence[str], quoted: Sequence[str]) -> str:
    """Return prose and code with markers by chance, or with a quoted call of an unknown tool."""
    words = [rng.choice((*_WORDS, *markers)) for _ in range(rng.randint(2, 12))]
    if rng.random() < 0.3:
        words.insert(rng.randrange(len(words)), rng.choice(quoted))
    return rng.choice(("", " ", "\n")).join(words)


def main(folder: Path) -> None:
    """Print the share of variants that are read, by kinds, and false calls in prose."""
    rng = Random(1)  # noqa: S311 - a sample
    counts: Counter[tuple[str, bool]] = Counter()
    formats: dict[str, list[str]] = {}
    for path in files_in(folder):
        text = path.read_text("utf-8")
        # Code of others.
        with suppress(Exception):
            template = Template(text)
            format_ = format_of(text, template) if template.has_calls() else None
            if format_ is None:
                continue
            for title, calls in PATTERNS.items():
                for raw in template.raw(calls):
                    formats.setdefault(format_, []).append(raw)
                    for kind, made in (("as rendered", raw), *variants(format_, raw, rng)):
                        is_read = read(format_, made) == [*calls]
                        counts[kind, is_read] += 1
                        if not is_read:
                            sys.stderr.write(f"{path.name} {title} {kind}: {made!r}\n")
    for kind in dict.fromkeys(kind for kind, _ in counts):
        right, wrong = counts[kind, True], counts[kind, False]
        sys.stdout.write(f"{kind}: {right} of {right + wrong} read\n")
    right = sum(number for (_, is_read), number in counts.items() if is_read)
    sys.stdout.write(f"all: {right} of {counts.total()} read\n")
    false = 0
    names = [*table()]
    for number in range(PROSE):
        name = names[number % len(names)]
        with suppress(KbnfError):
            markers = [word for text in fixed_texts(format_named(name)) for word in words_of(text)]
            quoted = [re.sub("get_weather|save|noop", "get_water", each)
                      for known in formats.values() for each in known[:3]]  # fmt: skip
            text = prose(rng, markers, quoted)
            if read(name, text):
                false += 1
                sys.stderr.write(f"prose, {name}: {text!r}\n")
    sys.stdout.write(f"prose: {false} of {PROSE} have a false call\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
