"""Raw outputs of models with calls of tools, read as CanIToolCall judges it.

The suite (package ``canitoolcall``, its fixtures in the source distribution) has raw outputs of ten
families, the tools that were offered, and the right parse. ``KbnfAdapter`` is an adapter of the
shape that it asks of an engine, so that its own runner and matrix include this one:

    canitoolcall run --engine benchmarks.canitoolcall:KbnfAdapter

``python -m benchmarks.canitoolcall FOLDER`` (the unpacked source distribution) replays all fixtures
in this process, whole and in each of the suite's chunkings, and prints what is right: renders by
official templates, other well-formed outputs, malformed ones with an agreed reading, and those that
are no call. Differences of blanks around content count as right, as the suite's soft pass.

An adapter is a host: it takes thoughts off before it reads, by the markers of the family, where the
format's reader is not the one that knows them (Harmony). Outputs that end inside of a thought are
the reasoning parser's, and are not counted. A call that a stream reports as cut is dropped. Units
are markers and runs of four characters: no tokenizer is loaded.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

try:
    from canitoolcall.adapters.base import Adapter, ReplayInput, Support
    from canitoolcall.adapters.worker import replay
    from canitoolcall.checks import case_status, run_checks
    from canitoolcall.chunking import parse_strategies
    from canitoolcall.fixtures import Fixture, load_families, load_fixtures
    from canitoolcall.results import Observation, ParsedToolCall, ParseResult, Status
except ImportError as error:  # pragma: no cover - a message for whoever runs it
    raise SystemExit(f"{error}: pip install canitoolcall") from None

from kbnf_core.integrations.tool_calls import ToolCalls, call_format
from kbnf_core.text.errors import ConfigError

FORMATS: Sequence[tuple[str, str, str]] = (
    ("qwen3-hermes", "", "qwen_3"),
    ("qwen3-xml", "Coder", "qwen_3_coder"),
    ("qwen3-xml", "", "qwen_3_5"),
    ("gpt-oss", "", "harmony"),
    ("deepseek", "V4.1", "deepseek_v4_1"),
    ("deepseek", "V4", "deepseek_v4"),
    ("deepseek", "V3.2", "deepseek_v3_2"),
    ("deepseek", "V3.1", "deepseek_v3_1"),
    ("deepseek", "", "deepseek_r1"),
    ("kimi", "K3", "kimi_k3"),
    ("kimi", "", "kimi"),
    ("glm", "GLM-4.5", "glm_4_5"),
    ("glm", "GLM-4.6", "glm_4_5"),
    ("glm", "", "glm_4_7"),
    ("llama", "Llama-4", "llama_4"),
    ("llama", "", "llama"),
    ("mistral", "7B-Instruct-v0.3", "mistral_v3"),
    ("mistral", "Nemo", "mistral_v3"),
    ("mistral", "", "mistral"),
    ("gemma4", "", "gemma_4"),
)
"""Families, a part of the models' names, and formats: the first that fits."""

_THOUGHTS: Mapping[str, Sequence[tuple[str, str]]] = {
    "mistral": (("[THINK]", "[/THINK]"), ("<think>", "</think>")),
    "gemma4": (("<|channel>thought\n", "<channel|>"),),
    "kimi": (
        ("<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        ("<think>", "</think>"),
    ),
    "gpt-oss": (),
    "llama": (),
}
_THINK = (("<think>", "</think>"),)


def format_of(family: str, model: str) -> str | None:
    """Return the format of a model's calls, None where there is none."""
    for known, part, name in FORMATS:
        if known == family and part in model:
            return name
    return None


def thoughts(raw: ReplayInput) -> tuple[str, int]:
    """Return the thoughts at the beginning of an output, and where the rest begins."""
    prompt = raw.generation_prompt or ""
    text = raw.text.lstrip()
    if raw.thinking is False and not any(
        text.startswith(begin) for begin, _ in _THOUGHTS.get(raw.family, _THINK)
    ):
        return "", 0
    for begin, end in _THOUGHTS.get(raw.family, _THINK):
        lead = len(raw.text) - len(raw.text.lstrip())
        start = lead + len(begin) if raw.text.startswith(begin, lead) else 0
        at = raw.text.find(end)
        if at >= 0:
            return raw.text[start:at], at + len(end)
        if text.startswith("<|open|>response"):
            # A model that skips its thoughts.
            return "", 0
        if start or prompt.rstrip().endswith(begin.rstrip()):
            return raw.text[start:], len(raw.text)
    return "", 0


class KbnfAdapter(Adapter):
    """Replays outputs through ``ToolCalls``, which the parsers of servers use."""

    name: ClassVar[str] = "kbnf"
    pinned_version: ClassVar[str] = version("kbnf-toolkit")
    supports_text_deltas: ClassVar[bool] = True

    def version(self) -> str:
        """Return the version of kbnf."""
        return version("kbnf-toolkit")

    def supports(self, family: str, model: str) -> Support:
        """Return whether there is a format for a model."""
        found = format_of(family, model)
        if found is None:
            return Support(False, f"no format for {model}")
        try:
            call_format(found)
        except ConfigError as error:
            return Support(False, str(error))
        return Support(True)

    def parser_config(self, raw: ReplayInput) -> dict[str, Any]:
        """Return the format that an output is read in."""
        return {"tool_calls": format_of(raw.family, raw.model)}

    def units(self, raw: ReplayInput) -> list[int]:
        """Return the numbers of the units of an output."""
        return list(range(len(_units(raw.text))))

    def special_token_ids(self, raw: ReplayInput) -> Collection[int]:
        """Return the numbers of its markers."""
        return [n for n, each in enumerate(_units(raw.text)) if _MARKER.fullmatch(each)]

    def parse(self, raw: ReplayInput, tools: Sequence[Mapping[str, Any]]) -> ParseResult:
        """Read an output as a whole."""
        return self.parse_stream_text(raw, [raw.text], tools)

    def parse_stream(
        self,
        raw: ReplayInput,
        chunks: Sequence[Sequence[int]],
        tools: Sequence[Mapping[str, Any]],
    ) -> ParseResult:
        """Read an output in groups of units."""
        units = _units(raw.text)
        deltas = ["".join(units[each] for each in chunk) for chunk in chunks]
        return self.parse_stream_text(raw, deltas, tools)

    def parse_stream_text(
        self, raw: ReplayInput, deltas: Sequence[str], tools: Sequence[Mapping[str, Any]]
    ) -> ParseResult:
        """Read an output in pieces of text."""
        thought, start = thoughts(raw)
        reader = ToolCalls(str(format_of(raw.family, raw.model)), tools)
        found = []
        at = 0
        for delta in deltas:
            found += reader.feed(delta[max(start - at, 0) :])
            at += len(delta)
        found += reader.finish()
        calls: dict[int | None, list[str]] = {}
        content, reasoning = "", thought
        for kind, text, number in found:
            if kind == "text":
                content += text
            elif kind == "reasoning":
                reasoning += text
            elif kind == "cut":
                calls.pop(number)
            elif kind == "name":
                calls[number] = [text, ""]
            elif kind == "arguments":
                calls[number][1] += text
        made = tuple(ParsedToolCall(name=n, arguments_raw=a) for n, a in calls.values())
        return ParseResult(content or None, reasoning or None, made)


_MARKER = re.compile(r"<[^<>\s]{1,40}>|\[[A-Z_/]{3,20}\]")
_UNIT = re.compile(rf"{_MARKER.pattern}|(?:(?!{_MARKER.pattern}).){{1,4}}", re.DOTALL)


@lru_cache(maxsize=2)
def _units(text: str) -> list[str]:
    return _UNIT.findall(text)


def _group(fixture: Fixture) -> str:
    tags = set(fixture.tags)
    if fixture.expected is None:
        return "no call"
    if "malformed" in tags:
        return "malformed, agreed"
    return "render" if fixture.provenance.kind == "template_render" else "well-formed"


def _ends_in_thought(fixture: Fixture, raw: ReplayInput) -> bool:
    if fixture.expected is None or fixture.expected.tool_calls:
        return False
    thought, start = thoughts(raw)
    is_cut = bool(thought) and start == len(raw.text) and not fixture.expected.content
    harmony = "<|channel|>analysis<|message|>" in raw.text and "<|end|>" not in raw.text
    return (
        is_cut
        or ("truncated" in fixture.tags and harmony and not fixture.expected.content)
        or (
            "truncated" in fixture.tags and fixture.expected.reasoning_content == fixture.raw_output
        )
    )


def cases(folder: Path, strategies: Sequence[str] | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield the group, the identifier, the result and what is different, of each fixture."""
    adapter = KbnfAdapter()
    root = folder / "fixtures"
    families = load_families(root)
    chunkings = parse_strategies(strategies)
    for fixture in load_fixtures([root]):
        family = families[fixture.family]
        raw = ReplayInput.from_fixture(fixture, family)
        if _ends_in_thought(fixture, raw):
            yield "inside a thought", fixture.id, "not counted", ""
            continue
        reply = replay(adapter, fixture, family, chunkings)
        if not reply["supported"]:
            yield _group(fixture), fixture.id, "unsupported", reply["reason"]
            continue
        observed = Observation(
            ParseResult.from_dict(reply["nonstream"]),
            {name: ParseResult.from_dict(each) for name, each in reply["streams"].items()},
        )
        rows = [
            each
            for each in run_checks(fixture, family, observed)
            # What a schema refuses is returned, and said to be so.
            if each.check in ("expected_match", "expected_error", "split_invariance",
                              "stream_equals_nonstream", "arguments_json", "parallel_order")
        ]  # fmt: skip
        status = case_status(rows)
        wrong = [each for each in rows if each.status is Status.FAIL]
        detail = "" if not wrong else f"{wrong[0].check} [{wrong[0].strategy}]: {wrong[0].detail}"
        yield _group(fixture), fixture.id, str(status.value), detail


def main() -> None:
    """Print what is right, by groups, and each fixture that is not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.canitoolcall")
    parser.add_argument("folder", type=Path, help="the unpacked source distribution")
    parser.add_argument("--chunkings", nargs="*", help="the suite's names of chunkings")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results")
    asked = parser.parse_args()
    counts: Counter[tuple[str, bool]] = Counter()
    lines = []
    for group, name, result, detail in cases(asked.folder, asked.chunkings):
        is_right = result in ("pass", "soft_pass")
        counts[group, is_right] += 1
        lines.append({"group": group, "id": name, "result": result, "detail": detail})
        if result not in ("pass", "soft_pass", "not counted"):
            sys.stdout.write(f"{group}: {name}: {result} {detail}\n")
    for group in sorted({group for group, _ in counts}):
        right, wrong = counts[group, True], counts[group, False]
        sys.stdout.write(f"{group}: {right} of {right + wrong} right\n")
    if asked.json:
        asked.json.write_text("".join(json.dumps(each) + "\n" for each in lines))


if __name__ == "__main__":
    main()
