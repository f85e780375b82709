"""What the console proposes while a line is typed."""

from pathlib import Path
from typing import Any

import pytest

from kbnf_cli.play.commands import step
from kbnf_cli.play.session import Session
from kbnf_cli.play.terminal import proposals


def at(session: Session, world: Any, *lines: str) -> Session:
    for line in lines:
        session = step(session, line, world).session
    return session


@pytest.mark.parametrize(
    ("lines", "typed", "texts"),
    [
        ([], "", ["say", "say\\x20"]),
        ([], "sa", ["say", "say\\x20"]),
        ([], "x", []),
        ([], "\\x", []),
        (["#2"], "", ["\\#1", "\\:x", "he", "he", "hello", "h\\xc3"]),
        (["#2"], "h", ["he", "he", "hello", "h\\xc3"]),
        (["#2"], "\\:", ["\\:x"]),
        (["#2"], ":why he", ["he", "he", "hello"]),
        (["#2"], ":assert allowed he", ["he", "he", "hello"]),
        ([], ":fo", [":forced"]),
        ([], ":zzz", []),
        ([], ":undo ", []),
        ([], ":zzz x", []),
        ([], ":tree w", ["word"]),
        ([], ":start s", ["start"]),
        ([], ":finish-mode e", ["eager", "eos"]),
        ([], ":stacks o", ["on", "off"]),
    ],
)
def test_proposals(
    session: Session, world: Any, lines: list[str], typed: str, texts: list[str]
) -> None:
    found = list(proposals(at(session, world, *lines), typed))
    assert [each.text for each in found] == texts
    assert all(0 <= each.length <= len(typed) for each in found)


def test_every_proposed_token_can_be_taken(session: Session, world: Any) -> None:
    session = at(session, world, "#2")
    for each in proposals(session, "h"):
        after = step(session, each.text, world).session
        assert after.count == session.count + 1


def test_paths_are_proposed(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "grammars").mkdir()
    (tmp_path / "grammars/a b.kbnf").write_text("")
    (tmp_path / "grammar.gbnf").write_text("")
    monkeypatch.chdir(tmp_path)
    for command in ("load", "vocab", "grammar", "save"):
        found = list(proposals(session, f":{command} gram"))
        assert [(each.text, each.length) for each in found] == [("mar.gbnf", 0), ("mars/", 0)]
    assert [each.text for each in proposals(session, ":load grammars/a")] == [" b.kbnf"]
    assert not list(proposals(session, ":undo gram"))
