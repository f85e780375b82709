"""What users of other linters do with ``kbnf check`` without thinking."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write

GOOD = "start ::= 'a';  \n"
BAD = "start ::= itme;\n"
UNSAFE = "(* kbnf: finish=eos *) start ::= #'\\\\d+';\n"


@pytest.mark.parametrize("format_", ["text", "concise"])
def test_fixable_findings_are_marked_and_counted(kbnf: Kbnf, write: Write, format_: str) -> None:
    file = write("a.kbnf", "start ::= 'a' | 'a';\n")
    result = kbnf("check", "--finish", "eos", "--format", format_, file)
    assert "[*]" in result.out
    assert result.stderr.endswith("\n1 fixable with --fix\n")
    assert kbnf("check", "--finish", "eos", "--fix", file).stderr.startswith("1 finding fixed\n")


def test_what_needs_unsafe_fixes_is_marked_with_them_only(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", UNSAFE)
    assert "[*]" not in kbnf("check", file).out
    marked = kbnf("check", "--unsafe-fixes", file)
    assert "[*]" in marked.out
    assert marked.stderr.endswith("fixable with --fix --unsafe-fixes\n")


def test_what_fixing_left_is_not_fixable(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("check", "--fix", write("a.kbnf", BAD))
    assert "[*]" not in result.out
    assert "fixable" not in result.stderr


def test_one_help_for_a_finding(kbnf: Kbnf, write: Write) -> None:
    for text in ("start ::= 'a' | 'a';\n", UNSAFE, 'start ::= "a" / "b";\n'):
        found = kbnf("check", "--select", "E,I206,W1", write("a.kbnf", text)).out
        assert found
        for finding in found.split("\n\n"):
            assert finding.count("= help:") <= 1


def test_exit_zero(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", BAD)
    assert kbnf("check", file).status == 1
    assert kbnf("check", "--exit-zero", file).status == 0
    assert kbnf("check", "--exit-zero", "nowhere.kbnf").status == 2


def test_statistics(kbnf: Kbnf, write: Write) -> None:
    write("a.kbnf", "start ::= x y;\n")
    write("b.kbnf", "start ::= 'a'; unused ::= 'b';\n")
    result = kbnf("check", "--statistics")
    assert result.out.splitlines()[0] == "2\tE101\t[ ] undefined-nonterminal"
    assert [line.split("\t")[1] for line in result.out.splitlines()] == ["E101", "W101"]
    assert result.status == 1
    assert kbnf("check", "--statistics", "--format", "json").status == 2


def test_show_files(kbnf: Kbnf, write: Write) -> None:
    write("b.kbnf", BAD)
    write("sub/a.gbnf", 'root ::= "a"\n')
    result = kbnf("check", "--show-files")
    assert (result.status, result.out) == (0, "b.kbnf\nsub/a.gbnf\n")


def test_show_settings_can_be_read_back(kbnf: Kbnf, write: Write) -> None:
    config = (
        'select = ["E", "W1"]\nfail-on = "warning"\nfinish = "eos"\neos = [1, 2]\n'
        'per-file-ignores = { "*.kbnf" = ["W101"] }\nexclude = ["old/"]\nforce-exclude = true\n'
    )
    write("kbnf.toml", config)
    write("a.kbnf", GOOD)
    shown = kbnf("check", "--show-settings", "--ignore", "I")
    assert shown.status == 0
    head, _, rest = shown.out.partition("\n")
    assert head == "# settings for a.kbnf"
    write("kbnf.toml", rest)
    assert kbnf("check", "--show-settings").out == shown.out
    assert 'ignore = ["I"]' in rest.splitlines()


@pytest.mark.parametrize("command", ["check", "fmt", "test"])
def test_an_empty_folder_is_no_error(kbnf: Kbnf, command: str) -> None:
    Path("none").mkdir()
    result = kbnf(command, "none")
    assert result.status == 0
    assert result.stderr.startswith("warning: none: the directory contains no grammar (*.kbnf")


def test_an_empty_folder_as_json(kbnf: Kbnf) -> None:
    value = json.loads(kbnf("check", "--format", "json").out)
    assert value["diagnostics"] == []
    assert value["summary"]["files"] == 0


def _files(kbnf: Kbnf, *arguments: object) -> list[str]:
    result = kbnf("check", "--show-files", *arguments)
    assert result.status == 0, result.stderr
    return result.out.split()


@pytest.fixture
def tree(write: Write) -> None:
    for name in ("a", "old/b", "old/keep/c", "sub/d", "node_modules/x/e"):
        write(f"{name}.kbnf", GOOD)
    write("sub/f.yacc", GOOD)


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("config", "files"),
    [
        ("", ["a.kbnf", "old/b.kbnf", "old/keep/c.kbnf", "sub/d.kbnf"]),
        ('exclude = ["old/"]', ["a.kbnf", "node_modules/x/e.kbnf", "sub/d.kbnf"]),
        ('extend-exclude = ["/old"]', ["a.kbnf", "sub/d.kbnf"]),
        ('extend-exclude = ["old/*", "!old/keep"]', ["a.kbnf", "old/keep/c.kbnf", "sub/d.kbnf"]),
        ('extend-exclude = ["b.kbnf", "sub/*.kbnf"]', ["a.kbnf", "old/keep/c.kbnf"]),
        ('include = ["*.yacc", "/a.kbnf"]', ["a.kbnf", "sub/f.yacc"]),
    ],
)
def test_patterns_of_the_configuration(
    kbnf: Kbnf, write: Write, config: str, files: list[str]
) -> None:
    write("kbnf.toml", config)
    assert _files(kbnf) == files


@pytest.mark.usefixtures("tree")
def test_patterns_are_from_the_configuration_file(kbnf: Kbnf, write: Write) -> None:
    write("pyproject.toml", '[tool.kbnf]\nextend-exclude = ["/sub/d.kbnf", "/old"]\n')
    assert _files(kbnf, "sub", "a.kbnf") == ["a.kbnf"]
    write("sub/kbnf.toml", 'extend-exclude = ["/old"]')
    assert _files(kbnf, "sub", "a.kbnf") == ["a.kbnf", "sub/d.kbnf"]


@pytest.mark.usefixtures("tree")
def test_exclude_option(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'exclude = ["a.kbnf"]')
    found = _files(kbnf, "--exclude", "old", "--exclude", "node_modules")
    assert found == ["a.kbnf", "sub/d.kbnf"]


@pytest.mark.usefixtures("tree")
def test_named_files_are_checked_unless_forced(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'extend-exclude = ["old"]')
    assert _files(kbnf, "old/b.kbnf", "a.kbnf") == ["a.kbnf", "old/b.kbnf"]
    assert _files(kbnf, "--force-exclude", "old/b.kbnf", "a.kbnf") == ["a.kbnf"]
    write("kbnf.toml", 'extend-exclude = ["old"]\nforce-exclude = true')
    assert _files(kbnf, "old/b.kbnf", "a.kbnf") == ["a.kbnf"]


@pytest.mark.usefixtures("tree")
def test_extend_exclude_option_adds(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'extend-exclude = ["sub"]')
    assert _files(kbnf, "--extend-exclude", "old/b.kbnf") == ["a.kbnf", "old/keep/c.kbnf"]
    both = ("--exclude", "a.kbnf", "--extend-exclude", "old")
    assert _files(kbnf, *both) == ["node_modules/x/e.kbnf"]
    forced = ("--force-exclude", "--extend-exclude", "old", "old/b.kbnf", "a.kbnf")
    assert _files(kbnf, *forced) == ["a.kbnf"]


def _formatted(kbnf: Kbnf, *arguments: object) -> list[str]:
    said = kbnf("fmt", "--check", *arguments).stderr
    return [line[22:] for line in said.splitlines() if line.startswith("would be reformatted: ")]


def _tested(kbnf: Kbnf, *arguments: object) -> list[str]:
    value = json.loads(kbnf("test", "--format", "json", *arguments).out)
    return [suite["path"] for suite in value["grammars"]]


def _compiled(kbnf: Kbnf, *arguments: object) -> list[str]:
    paths = arguments if any("." in str(each) for each in arguments) else (*arguments, ".")
    said = kbnf("compile", "-v", "-j", "1", *paths).stderr
    made = [line.split()[1] for line in said.splitlines() if line.startswith("wrote ")]
    return sorted(each.replace(".kbnfc", ".kbnf") for each in made)


def _converted(kbnf: Kbnf, *arguments: object) -> list[str]:
    paths = arguments if any("." in str(each) for each in arguments) else (*arguments, ".")
    wanted = ("convert-gbnf", "--to", "gbnf", "--lossy", "-o", "out")
    said = kbnf(*wanted, *paths).stderr
    made = [line.split()[1] for line in said.splitlines() if line.startswith("wrote ")]
    return sorted(each.removeprefix("out/").replace(".gbnf", ".kbnf") for each in made)


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize("chosen", [_formatted, _tested, _compiled, _converted])
def test_all_commands_choose_alike(
    kbnf: Kbnf, write: Write, chosen: Callable[..., list[str]]
) -> None:
    everything = ["a.kbnf", "old/b.kbnf", "old/keep/c.kbnf", "sub/d.kbnf"]
    assert chosen(kbnf) == everything
    assert chosen(kbnf, "--exclude", "old", "--exclude", "node_modules") == [
        "a.kbnf",
        "sub/d.kbnf",
    ]
    write("kbnf.toml", 'extend-exclude = ["sub"]\ninclude = ["?.kbnf", "*.gbnf"]')
    assert chosen(kbnf, "--extend-exclude", "keep") == ["a.kbnf", "old/b.kbnf"]
    named = ("a.kbnf", "old/b.kbnf", "sub/d.kbnf")
    forced = chosen(kbnf, "--force-exclude", *named)
    assert [Path(each).name for each in forced] == ["a.kbnf", "b.kbnf"]
    assert chosen(kbnf, "--isolated") == everything


def test_a_file_of_another_language_is_not_laid_out(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'include = ["*.gbnf", "*.yacc"]')
    write("a.gbnf", 'root ::= "a"\n')
    write("b.yacc", "start::='a';")
    assert _formatted(kbnf) == ["b.yacc"]


def test_include_does_not_speak_of_schemas(kbnf: Kbnf, write: Write) -> None:
    write("kbnf.toml", 'include = ["*.kbnf"]')
    write("schemas/a.json", '{"type": "null"}')
    assert kbnf("convert-json-schema", "schemas", "-o", "out").status == 0
    assert Path("out/a.kbnf").exists()


@pytest.mark.parametrize("config", ['exclude = "old"', "include = [1]", 'force-exclude = "yes"'])
def test_impossible_values(kbnf: Kbnf, write: Write, config: str) -> None:
    write("kbnf.toml", config)
    write("a.kbnf", GOOD)
    result = kbnf("check")
    assert result.status == 2
    assert "kbnf.toml:1:1: `" in result.stderr


def test_conversions_say_what_they_wrote(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", GOOD)
    result = kbnf("convert-gbnf", "--to", "gbnf", "-o", "a.gbnf", "--lossy", file)
    assert result.stderr.endswith("wrote a.gbnf\n")
    assert Path("a.gbnf").exists()


def test_token_ids_with_blanks(kbnf: Kbnf, write: Write) -> None:
    file = write("a.kbnf", 'start ::= "abcd";\n')
    spaced = kbnf("mask", file, "--tokens", "97 98, 99")
    assert spaced.status == 0
    assert spaced.out == kbnf("mask", file, "--tokens", "97,98,99").out


def test_one_byte(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("mask", write("a.kbnf", "start ::= 'a' | 'ab';\n"), "--text", "ab")
    assert "complete after 1 byte, and" in result.out + result.stderr
