"""What can be converted, as ``kbnf convert`` names it."""

from dataclasses import dataclass

from kbnf_core.convert import JSON_SCHEMA
from kbnf_core.languages import LANGUAGES

REGEX = "regex"
MODEL = "model"


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name in options, what the library calls it, and its files.

    ``is_written`` tells whether KBNF can be converted to it.
    """

    name: str
    language: str
    files: str
    what: str
    is_written: bool = False


_ABOUT = {
    "KBNF": "the language of this toolkit",
    "GBNF": "llama.cpp's grammars",
    "BNF": "bnf_sampler's older <start>::=...",
    "Lark": "Lark, LLGuidance's too, JSON lists",
    "ABNF": "the grammars of RFCs",
    "Structural tag": "XGrammar's structural tags",
}

FORMATS = (
    *(
        Format(
            each.name.lower().replace(" ", "-"),
            each.name,
            f"*{each.extension}",
            _ABOUT.get(each.name, each.name),
            each.from_kbnf is not None or each.to_kbnf is None,
        )
        for each in LANGUAGES
    ),
    Format("json-schema", JSON_SCHEMA, "*.json", "JSON Schema"),
    Format(REGEX, REGEX, "--from regex", "a regular expression"),
    Format(MODEL, MODEL, "module:Class", "a pydantic model, a dataclass, ..."),
)

READ = tuple(each.name for each in FORMATS if each.name != MODEL)
WRITTEN = tuple(each.name for each in FORMATS if each.is_written)


_CALLS = """
formats of tool calls, for --tool-calls; `--tool-calls NAME --to structural-tag` shows one:
"""


def listing() -> str:
    """Return a line for each format, and one for each format of tool calls."""
    from kbnf_core.languages.structural_tag.presets import NAMES

    width = max(len(each.name) for each in FORMATS)
    lines = (
        f"{each.name:<{width}}  {'read, written' if each.is_written else 'read':<13}"
        f"  {each.files:<12}  {each.what}\n"
        for each in FORMATS
    )
    calls = (f"  {name:<{width}}  {models}\n" for name, models in NAMES.items())
    return "".join((*lines, _CALLS, *calls))
