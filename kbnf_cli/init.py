"""``kbnf init``: the files of a first grammar."""

from pathlib import Path

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
# What the grammar must take and refuse: `kbnf test` runs this.

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

SETTINGS = """\
# Settings for all grammars in this folder and below; kbnf-check(1) lists them.

# When a text ends, where a grammar does not say: "eager", "token" or "eos" (the model ends it).
finish = "eos"

# The vocabulary of the model, such as its tokenizer.json; without one every byte is a token.
# vocab = "tokenizer.json"
"""

HOOKS = """\
repos:
  - repo: local
    hooks:
      - id: kbnf-check
        name: kbnf check
        entry: kbnf check --force-exclude
        language: system
        files: \\.(kbnf|gbnf|lark|bnf|abnf|structural_tag|(schema|tools)\\.json)$
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


@click.command(epilog=examples("kbnf init", "kbnf init grammars --name invoice --hooks"))
@click.argument("directory", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option(
    "--name", metavar="NAME", default="person", show_default=True, help="What to call the grammar."
)
@click.option("--hooks", is_flag=True, help="Write hooks for pre-commit, too.")
@common_options
@click.pass_obj
def init(console: Console, directory: Path, name: str, hooks: bool) -> int:
    """Write a first grammar.

    With a file of examples and a kbnf.toml, into DIR, or into the current directory. Files that
    are there already are left alone: then nothing is written, and the exit status is 2.
    """
    if Path(name).name != name or not name.strip("."):
        raise click.UsageError(f"{name!r} is no name for a file")
    files = {
        directory / f"{name}.kbnf": GRAMMAR,
        directory / f"{name}.examples.toml": EXAMPLES,
        directory / "kbnf.toml": SETTINGS,
        **({directory / ".pre-commit-config.yaml": HOOKS} if hooks else {}),
    }
    there = [str(file) for file in files if file.exists()]
    if there:
        raise click.ClickException(f"nothing was written, for there is {', '.join(there)}")
    directory.mkdir(parents=True, exist_ok=True)
    for file, text in files.items():
        write_text(file, text)
        console.note(f"wrote {file}")
    grammar = directory / f"{name}.kbnf"
    console.note(f"try `kbnf test {grammar}`, `kbnf sample {grammar}` and `kbnf play {grammar}`")
    return Exit.CLEAN
