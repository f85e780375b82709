"""Every block of README and of every page in ``docs/`` is run, or read by what reads its language.

``kbnf_testing.pages`` says how. Lua, and what installs programs or starts servers (``sh``), is read
only: the one not at all, the other by a shell.
"""

import doctest
import html
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import click
import pytest
import yaml

import kbnf_core
import kbnf_core.text.errors
from kbnf_cli.app import app
from kbnf_cli.help import render_page
from kbnf_core import Grammar
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.segments import plain
from kbnf_testing import hosts, page_environment, pages, terminal
from kbnf_testing.pages import Block

DOCS = pages.ROOT / "docs"
README = pages.ROOT / "README.md"
PAGES = [README, *pages.documentation()]
COMPILED_ONLY = {"scale.md"}
"""Pages whose Python needs what a test does not have, such as a store in a cloud."""
RUN = {"console", "python"}

pytestmark = pytest.mark.docs
each_page = pytest.mark.parametrize(
    "page", PAGES, ids=lambda page: page.relative_to(pages.ROOT).as_posix()
)


@each_page
def test_commands_print_what_they_say(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert pages.rerun(text, tmp_path) == text
    if missing := pages.missing(text):
        pytest.skip(f"{', '.join(missing)} not installed, which a block needs")


@each_page
def test_python_prints_what_it_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = page.read_text(encoding="utf-8")
    needed = re.search("^<!-- needs: ([^>\n]*)$", text, re.MULTILINE)
    for name in needed[1].split() if needed else ():
        pytest.importorskip(name, reason=f"{name} is not installed (extra `transformers`)")
    pages.write_files(text, tmp_path)
    monkeypatch.chdir(tmp_path)
    with hosts.forgotten():
        failed, _ = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert not failed


@each_page
def test_a_page_installs_what_its_programs_import(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    code = (each.text for each in pages.blocks(text) if each.language == "python")
    found = {name for each in code for name in re.findall(_IMPORT, each, re.MULTILINE)}
    # What cannot be linked is looked for where it is installed.
    named = sorted(name for name in found - sys.stdlib_module_names if find_spec(name))
    if named:
        python = page_environment.make(tmp_path, text) / "python"
        program = (
            "import sys; from importlib.util import find_spec;"
            "print([name for name in sys.argv[1:] if not find_spec(name)])"
        )
        done = subprocess.run(
            [python, "-c", program, *named], capture_output=True, text=True, check=True
        )
        assert done.stdout == "[]\n"


_IMPORT = r"^(?:>>> |\.\.\. )? *(?:import|from) (\w+)"


@each_page
def test_other_blocks_are_read(page: Path) -> None:
    for block in pages.blocks(page.read_text(encoding="utf-8")):
        is_program = block.title is not None and block.title.endswith(".py")
        if block.language == "python" and (is_program or page.name in COMPILED_ONLY):
            assert compile(block.text, page, "exec")
        elif block.language == "python":
            assert block.text.startswith(">>> "), "a block of Python is a doctest"
        elif block.language not in RUN:
            read(block)


def read(block: Block) -> None:
    """Read a block by what reads its language."""
    match block.language:
        case "kbnf" | "gbnf":
            made = Grammar if block.language == "kbnf" else Grammar.from_gbnf
            assert made(block.text)
        case "antlr" | "ebnf":
            assert Grammar.read(block.text, block.language)
        case "toml":
            tomllib.loads(block.text)
        case "json":
            json.loads(block.text)
        case "yaml":
            yaml.safe_load(block.text)
        case "sh":
            subprocess.run(["sh", "-n"], input=block.text, text=True, check=True)
            for words in map(shlex.split, re.findall("^kbnf .*", block.text, re.MULTILINE)):
                _read_command(words)
        case "text" | "lua":
            pass
        case language:
            pytest.fail(f"nothing reads a block of {language or 'no language'}")


def _read_command(words: list[str]) -> None:
    """Check that a command which is not run here, for its files are not there, has its options."""
    top = click.Context(app, **app.context_settings)
    command = app.get_command(top, words[1])
    assert command, f"there is no command {words[1]}"
    subcommands = isinstance(command, click.Group)
    known = {name for each in command.get_params(top) for name in each.opts}
    named = {word.partition("=")[0] for word in words if word.startswith("-")}
    assert subcommands or named <= known, f"kbnf {words[1]} has no {named - known}"


def test_pages_name_one_version_of_each_peer() -> None:
    # A measurement has a date, and the versions of that day.
    texts = [
        re.sub(r"(?m)^Measured on .*", "", page.read_text(encoding="utf-8"))
        for page in (*PAGES, pages.ROOT / "benchmarks/README.md")
    ]
    peers = ("xgrammar", "llguidance", "outlines-core", "glrmask", "cyllama", "llama-cpp-python")
    named = {
        peer: {found for text in texts for found in re.findall(rf"\b{peer} (\d+\.\d+\.\d+)", text)}
        for peer in peers
    }
    assert {peer: found for peer, found in named.items() if len(found) > 1} == {}
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (pinned,) = (each for each in project["optional-dependencies"]["peers"] if "xgrammar" in each)
    assert named["xgrammar"] == {pinned.partition("==")[2]}


def test_the_workflow_of_the_tutorial_passes(tmp_path: Path) -> None:
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    workflow = next(block for block in pages.blocks(text) if block.title and ".yml" in block.title)
    steps = [
        step.get("run", "") for step in yaml.safe_load(workflow.text)["jobs"]["check"]["steps"]
    ]
    commands = [command for command in steps if command.startswith("kbnf ")]
    work = tmp_path / "work"
    pages.write_files(text, work)
    environment = pages.environment_of(tmp_path, text)
    assert len(commands) == 3
    assert [pages.run(each, work, environment)[0] for each in commands] == [0, 0, 0]


@pytest.mark.ci
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra `docs`)")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=pages.ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    made = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*.html")}
    assert made >= {f"findings/{code}.html" for code in CATALOGUE}
    assert made >= {"index.html", "language.html", "commands/kbnf-check.html", "benchmarks.html"}
    # The playground is part of the site where what it is built from was installed.
    shown = (tmp_path / "playground.html").read_text(encoding="utf-8")
    is_there = (pages.ROOT / "docs" / "page" / "node_modules" / "pyodide").is_dir()
    assert ("<iframe" in shown) == ("playground/index.html" in made) == is_there
    links = re.findall(
        r'href="(?!https?:|#|mailto:)([^"#]*\.md)',
        "".join(file.read_text(encoding="utf-8") for file in tmp_path.rglob("*.html")),
    )
    assert not links


def test_the_site_says_of_the_language_what_the_manual_says() -> None:
    pytest.importorskip("mkdocs", reason="mkdocs is not installed (extra `docs`)")
    file = pages.ROOT / "docs" / "pages.py"
    site = runpy.run_path(str(file))["manual_as_markdown"]("kbnf.5", "The language")
    page = (pages.ROOT / "man" / "kbnf.5").read_text(encoding="utf-8")
    manual = plain(render_page(page, 80)).partition("DESCRIPTION")[2]
    shown = html.unescape(re.sub("</?(?:code|em|d[ltd])>|^#+|^```$", "", site, flags=re.MULTILINE))
    words = [word.lower() for word in shown.partition("Description")[2].split()]
    assert words == manual.lower().split()


def test_what_a_page_prints_is_noticed(tmp_path: Path) -> None:
    page = '```text title="a"\nhello\n```\n```console\n$ cat a\nother\n$ echo b\nb\n```\n'
    assert pages.rerun(page, tmp_path) == page.replace("other", "hello")


@pytest.mark.parametrize(
    ("page", "name", "shown"),
    [
        (DOCS / "decoders" / "transformers.md", "generate.py", r'{\s*"ok": ?(true|false)\s*}'),
        (README, "answer.py", "name='.*' age=-?[0-9]+"),
    ],
    ids=["transformers", "README"],
)
def test_the_program_for_transformers_runs(
    page: Path,
    name: str,
    shown: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    transformers = pytest.importorskip("transformers")
    text = page.read_text(encoding="utf-8")
    program = next(each for each in pages.blocks(text) if each.title == name)
    for kind, make in (("AutoModelForCausalLM", hosts.model), ("AutoTokenizer", hosts.tokenizer)):
        loaded = type(kind, (), {"from_pretrained": staticmethod(lambda _, make=make: make())})
        monkeypatch.setattr(transformers, kind, loaded)
    module = ModuleType("program")
    monkeypatch.setitem(sys.modules, "program", module)
    exec(compile(program.text, name, "exec"), vars(module))  # noqa: S102
    assert re.fullmatch(shown, capsys.readouterr().out.strip(), re.DOTALL)


def test_the_readme_is_short_and_its_picture_is_current() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120
    assert terminal.PICTURE.read_text(encoding="utf-8") == terminal.picture()


def test_the_names_of_this_library_are_there() -> None:
    text = (DOCS / "guides" / "from-x-to-y.md").read_text(encoding="utf-8")
    here = [row.split("|")[-2] for row in text.splitlines() if row.startswith("|")]
    named = set(
        re.findall(r"\b(Grammar|Vocabulary|Compiler|Engine|engine)?\.?(\w+)\(", "".join(here))
    )
    named.discard(("", "len"))
    assert len(named) > 15
    for owner, name in named:
        found = [getattr(kbnf_core, owner.title(), kbnf_core)] if owner else [
            kbnf_core, kbnf_core.Engine, kbnf_core.Compiler, kbnf_core.Vocabulary
        ]  # fmt: skip
        assert any(hasattr(each, name) for each in found), name


def test_the_picture_of_the_first_page_is_current(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pages.write_files((DOCS / "README.md").read_text(encoding="utf-8"), tmp_path)
    assert app.main(["diagram", "order.kbnf", "-o", "order.svg"], standalone_mode=False) == 0
    assert Path("order.svg").read_text(encoding="utf-8") == (DOCS / "order.svg").read_text(
        encoding="utf-8"
    )


def test_every_public_name_is_on_the_page_of_the_library() -> None:
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE))
    errors = vars(kbnf_core.text.errors)
    for name in kbnf_core.__all__:
        assert name in errors or name == "__version__" or any(
            each.endswith(f".{name}") for each in listed
        ), name  # fmt: skip
