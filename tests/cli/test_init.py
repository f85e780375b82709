"""``kbnf init``."""

from pathlib import Path

import pytest
import yaml

from kbnf_cli.init import TEMPLATES
from kbnf_testing.command import Kbnf


def test_what_is_written_is_clean_and_works(kbnf: Kbnf) -> None:
    result = kbnf("init", "here", "--hooks")
    assert (result.status, result.out) == (0, "")
    assert {path.name for path in Path("here").iterdir()} == {
        "person.kbnf",
        "person.examples.toml",
        "kbnf.toml",
        ".pre-commit-config.yaml",
    }
    assert kbnf("check", "here", "--fail-on", "info").out == ""
    assert kbnf("test", "here").out == "here/person.kbnf: 6 passed\n"
    assert kbnf("fmt", "--check", "here").status == 0
    assert len(kbnf("sample", "here/person.kbnf").out.splitlines()) == 20


def test_hooks_run_what_the_shipped_hooks_run(kbnf: Kbnf) -> None:
    kbnf("init", "--hooks")
    written = yaml.safe_load(Path(".pre-commit-config.yaml").read_text(encoding="utf-8"))
    shipped = Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml"
    wanted = {each["id"]: each for each in yaml.safe_load(shipped.read_text(encoding="utf-8"))}
    (repository,) = written["repos"]
    assert {each["id"] for each in repository["hooks"]} == wanted.keys()
    for hook in repository["hooks"]:
        shared = hook.keys() - {"language"}
        assert {key: hook[key] for key in shared} == {
            key: wanted[hook["id"]][key] for key in shared
        }


def test_nothing_is_replaced(kbnf: Kbnf) -> None:
    Path("kbnf.toml").write_text("finish = 'eager'\n", encoding="utf-8")
    result = kbnf("init")
    assert (result.status, "nothing was written, for there is kbnf.toml" in result.stderr) == (
        2,
        True,
    )
    assert [path.name for path in Path().iterdir()] == ["kbnf.toml"]


def test_another_name(kbnf: Kbnf) -> None:
    assert kbnf("init", "--name", "invoice").status == 0
    assert kbnf("test", "invoice.kbnf").status == 0
    assert kbnf("init", "--name", "a/b").status == 2


@pytest.mark.parametrize("template", TEMPLATES)
def test_each_template_is_clean_and_tested(kbnf: Kbnf, template: str) -> None:
    assert kbnf("init", "--template", template, "--name", "mine").status == 0
    grammar = f"mine{TEMPLATES[template].extension}"
    assert kbnf("check", "--fail-on", "info").status == 0
    assert f"{grammar}: " in kbnf("test").out
    assert " failed" not in kbnf("test").out
    assert kbnf("fmt", "--check").status == 0
    assert len(kbnf("sample", grammar, "-n", "5").out.splitlines()) == 5
