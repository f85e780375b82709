"""``kbnf init``: the files of a first grammar, from a template.

Tests: tests/cli/test_init.py
"""

from pathlib import Path
from typing import NamedTuple

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import write_text
from kbnf_cli.options import common_options, examples

GRAMMAR = """\
(* A person as JSON, on one line: {"name": "Ada", "age": 36} *)
(* The model ends the text, where the grammar lets it: *)
(* kbnf: finish=eos *)

start ::= '{"name": ' string ', "age": ' age "}";

(* #r"..." is a regular expression in which a backslash is just that; "" is one quote. *)
string ::= #r'"([^"\\\\\\x00-\\x1f]|\\\\["\\\\/bfnrt])*"';
age ::= #"[0-9]|[1-9][0-9]|1[01][0-9]";
"""

EXAMPLES = """\
# Texts that the grammar must accept and refuse: `kbnf test` runs this.

accept = [
  '{"name": "Ada", "age": 36}',
  '{"name": "", "age": 0}',
  '{"name": "a \\"quoted\\" name", "age": 119}',
]

reject = [
  { text = '{"name": "Ada"}', why = "no age" },
  { text = '{"name": "Ada", "age": 036}', why = "a zero in front" },
  { text = '{"name": "Ada", "age": 36', why = "not closed" },
]
"""

SCHEMA = """\
{
  "type": "object",
  "properties": {
    "name": { "type": "string", "maxLength": 40 },
    "age": { "type": "integer", "minimum": 0, "maximum": 119 },
    "skills": { "type": "array", "items": { "enum": ["python", "sql", "rust"] }, "maxItems": 3 }
  },
  "required": ["name", "age"],
  "additionalProperties": false
}
"""

SCHEMA_EXAMPLES = """\
# Texts that the schema allows and refuses: `kbnf test` runs them.

accept = [
  '{"name": "Ada", "age": 36}',
  '{"name": "Bob", "age": 0, "skills": ["sql", "rust"]}',
]

reject = [
  { text = '{"name": "Ada"}', why = "no age" },
  { text = '{"name": "Ada", "age": 120}', why = "too old" },
  { text = '{"name": "Ada", "age": 36, "city": "Rome"}', why = "no other members" },
]
"""

TOOLS = """\
[
  {
    "type": "function",
    "function": {
      "name": "get_weather",
      "description": "The weather of a city",
      "parameters": {
        "type": "object",
        "properties": {
          "city": { "type": "string" },
          "unit": { "enum": ["celsius", "fahrenheit"] }
        },
        "required": ["city"]
      }
    }
  }
]
"""

TOOLS_EXAMPLES = '''\
# Answers of the model that the tools allow and refuse: `kbnf test` runs them.

accept = [
  "It is cold.",
  """
<tool_call>
{"name": "get_weather", "arguments": {"city": "Rome"}}
</tool_call>""",
]

reject = [
  { text = """
<tool_call>
{"name": "get_wether", "arguments": {"city": "Rome"}}
</tool_call>""", why = "no such tool" },
  { text = """
<tool_call>
{"name": "get_weather", "arguments": {}}
</tool_call>""", why = "no city" },
]
'''

LANGUAGE = """\
(* Commands for a list of tasks: one on each line. *)
(* kbnf: finish=eos *)

start ::= command { "\\n" command };
command ::= "add " task [" by " date] [" #" tag] | "done " number | "list" [" #" tag];

task ::= #"[A-Za-z][A-Za-z ]{0,38}[a-z]";
tag ::= "home" | "work" | "errand";
date ::= #"20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
number ::= #"[1-9][0-9]?";
"""

LANGUAGE_EXAMPLES = """\
# Texts that the grammar allows and refuses: `kbnf test` runs them.

accept = [
  "add buy milk by 2026-12-24 #home",
  "done 3\\nlist #work",
]

reject = [
  { text = "add", why = "no task" },
  { text = "add buy milk by 2026-13-01", why = "no such month" },
  { text = "list #garden", why = "no such tag" },
]
"""

SETTINGS = """\
# Settings for all grammars in this folder and below; kbnf-check(1) lists them.

# When a text ends, where a grammar does not say: "eager", "token" or "eos" (the model ends it).
finish = "eos"

# The vocabulary of the model, such as its tokenizer.json; without one every byte is a token.
# vocab = "tokenizer.json"
"""

TOOLS_SETTINGS = """
# How the model writes calls: a format of `kbnf convert --list-formats`, or its chat template.
tool-calls = "hermes"
"""


class Beginning(NamedTuple):
    """The files of a beginning: a name, and the extension and text of the grammar; examples."""

    name: str
    extension: str
    grammar: str
    examples: str
    settings: str = ""


TEMPLATES = {
    "grammar": Beginning("person", ".kbnf", GRAMMAR, EXAMPLES),
    "json": Beginning("person", ".schema.json", SCHEMA, SCHEMA_EXAMPLES),
    "tools": Beginning("weather", ".tools.json", TOOLS, TOOLS_EXAMPLES, TOOLS_SETTINGS),
    "language": Beginning("tasks", ".kbnf", LANGUAGE, LANGUAGE_EXAMPLES),
}
"""The values of `--template`: a record as a grammar, a JSON Schema, tools, a small language."""

HOOKS = """\
repos:
  - repo: local
    hooks:
      - id: kbnf-check
        name: kbnf check
        entry: kbnf check --force-exclude
        language: system
        files: \\.(kbnf|gbnf|lark|bnf|abnf|g4|ebnf|structural_tag|(schema|tools)\\.json)$
        require_serial: true
      - id: kbnf-fmt
        name: kbnf fmt
        entry: kbnf fmt --force-exclude
        language: system
        files: \\.kbnf$
        require_serial: true
      - id: kbnf-test
        name: kbnf test
        entry: kbnf test
        language: system
        files: \\.(kbnf|examples\\.toml|play\\.jsonl)$
        pass_filenames: false
"""


@click.command(
    epilog=examples(
        "kbnf init",
        "kbnf init app --template json",
        "kbnf init grammars --template language --name orders --hooks",
    )
)
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--template",
    type=click.Choice(list(TEMPLATES)),
    default="grammar",
    show_default=True,
    help="Template: a grammar of a record, a JSON Schema, tools and the format of their "
    "calls, or a small language.",
)
@click.option("--name", metavar="NAME", help="Name of the grammar.  [default: the template's]")
@click.option("--hooks", is_flag=True, help="Write hooks for pre-commit, too.")
@common_options
@click.pass_obj
def init(console: Console, directory: Path, template: str, name: str | None, hooks: bool) -> int:
    """Write a first grammar.

    Writes a grammar, a file of examples and a kbnf.toml into DIR, by default the current
    directory. If one of the files exists, nothing is written, and the exit status is 2.
    """
    from kbnf_core.examples.cases import examples_path

    begun = TEMPLATES[template]
    name = begun.name if name is None else name
    if Path(name).name != name or not name.strip("."):
        raise click.UsageError(f"{name!r} is not a name for a file")
    grammar = directory / f"{name}{begun.extension}"
    files = {
        grammar: begun.grammar,
        examples_path(grammar): begun.examples,
        directory / "kbnf.toml": SETTINGS + begun.settings,
        **({directory / ".pre-commit-config.yaml": HOOKS} if hooks else {}),
    }
    there = [str(file) for file in files if file.exists()]
    if there:
        raise click.ClickException(f"nothing was written, for there is {', '.join(there)}")
    directory.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        write_text(file, text)
        console.note(f"wrote {file}")
    console.note(f"try `kbnf test {grammar}`, `kbnf sample {grammar}` and `kbnf play {grammar}`")
    return Exit.CLEAN
