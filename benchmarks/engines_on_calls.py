"""Calls that models' templates write: which each engine's own tags take, and which are read.

``python -m benchmarks.engines_on_calls FOLDER`` takes the source distribution of CanIToolCall
(package ``canitoolcall``). Its renders of whole calls by official templates are given to the
engines that have formats of calls: xgrammar (``get_model_structural_tag``) and kbnf
(``from_tools``), with the tools of the fixture. A render is taken as a whole where thoughts are
enabled, or without its thoughts where they are not. *Read* are those whose calls kbnf's reader
returns as the suite expects. xgrammar, llguidance, outlines-core and llama.cpp's converter have no
reader; the last three have no formats.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
import xgrammar
from canitoolcall.adapters.base import ReplayInput
from canitoolcall.fixtures import Fixture, load_families, load_fixtures

from benchmarks.canitoolcall import cases, format_of, thoughts
from benchmarks.public_table import fill
from kbnf_core.grammar import Grammar
from kbnf_core.targets.judges import GrammarTexts
from kbnf_core.text.errors import KbnfError

BEGIN, END = "<!-- made by benchmarks.engines_on_calls -->", "<!-- end of the calls -->"
STOPS = {"harmony": "<|call|>"}
"""Tokens that end a call, which the fixtures leave out as a server does."""

Takes = Callable[[str], bool]


def of_kbnf(name: str, tools: list[Any], reasoning: str) -> Takes:
    """Return what tells whether kbnf takes a text. Raises ``KbnfError``."""
    return GrammarTexts(Grammar.from_tools(tools, tool_calls=name, reasoning=reasoning)).has


def of_xgrammar(name: str, tools: list[Any], reasoning: Any) -> Takes:
    """Return what tells whether xgrammar takes a text.

    Raises ``LookupError`` for a format that it does not have, ``ValueError`` and ``RuntimeError``
    for tools that it does not take.
    """
    try:
        xgrammar.get_model_structural_tag(name, tools=[])
    except ValueError as error:
        raise LookupError(name) from error
    tag = xgrammar.get_model_structural_tag(name, tools=tools, reasoning=reasoning)
    tokens = [*(bytes([byte]) for byte in range(256)), b"</s>"]
    information = xgrammar.TokenizerInfo(tokens, vocab_size=len(tokens), stop_token_ids=[256])
    compiler = xgrammar.GrammarCompiler(information, max_threads=1)
    compiled = compiler.compile_grammar(xgrammar.Grammar.from_structural_tag(tag))

    def takes(text: str) -> bool:
        matcher = xgrammar.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(256))

    return takes


ENGINES: Mapping[str, Callable[[str, list[Any], str], Takes]] = {
    "xgrammar": of_xgrammar,
    "kbnf": of_kbnf,
}


def renders(folder: Path) -> Iterator[tuple[Fixture, str, Sequence[tuple[str, str]]]]:
    """Yield renders of whole calls, their formats, and the texts by how thoughts are asked for."""
    root = folder / "fixtures"
    families = load_families(root)
    for fixture in load_fixtures([root]):
        is_render = fixture.provenance.kind == "template_render"
        has_calls = fixture.expected is not None and fixture.expected.tool_calls
        if not is_render or not has_calls or {"truncated", "malformed"} & set(fixture.tags):
            continue
        raw = ReplayInput.from_fixture(fixture, families[fixture.family])
        name = format_of(raw.family, raw.model)
        if name is not None:
            stop = STOPS.get(name, "")
            after = raw.text[thoughts(raw)[1] :] + stop
            yield fixture, name, (("disabled", after), ("enabled", raw.text + stop))


def takes(
    engine: str, name: str, tools: list[Any], texts: Sequence[tuple[str, str]]
) -> bool | None:
    """Return whether an engine takes a render, None where it has no such format."""
    try:
        return any(ENGINES[engine](name, tools, mode)(text) for mode, text in texts)
    except LookupError:
        return None
    except (KbnfError, ValueError, RuntimeError):
        return False


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--page", type=click.Path(path_type=Path, exists=True), help="A page with the marks.")
def main(folder: Path, page: Path | None) -> None:
    """Print what is taken and read of each format, and each render that is not."""
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    read = {each for _, each, result, _ in cases(folder, []) if result in ("pass", "soft_pass")}
    for fixture, name, texts in renders(folder):
        counts[name]["renders"] += 1
        counts[name]["read"] += fixture.id in read
        for engine in ENGINES:
            is_taken = takes(engine, name, list(fixture.tools), texts)
            if is_taken is None:
                continue
            counts[name][engine] += is_taken
            if not is_taken:
                print(f"{fixture.id}: {engine} refuses")
    rows = [
        f"| {name} | {found['renders']} | {found.get('xgrammar', 'no format')} | {found['kbnf']} |"
        f" {found['read']} |"
        for name, found in sorted(counts.items())
    ]
    heads = f"xgrammar {version('xgrammar')} takes | kbnf takes | kbnf reads"
    text = "\n".join([f"| format | renders | {heads} |", "|---|---|---|---|---|", *rows, ""])
    print(text)
    if page is not None:
        fill(page, BEGIN, END, text)


if __name__ == "__main__":
    main()
