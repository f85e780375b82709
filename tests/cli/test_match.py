"""``kbnf match``."""

from itertools import pairwise

import pytest

from kbnf_testing.command import Kbnf, Write
from kbnf_testing.schemas import checked

LIST = '(* kbnf: finish=eos *)\nstart ::= item ("," item)*;\nitem ::= #"[a-z]+";\n'
LINE = 'start ::= "a\\n";'


def test_a_text_that_fits(kbnf: Kbnf, write: Write) -> None:
    grammar, text = write("g.kbnf", LIST), write("t.txt", "a,b")
    result = kbnf("match", grammar, text)
    assert (result.status, result.out, result.stderr) == (0, "t.txt: fits\n", "")


def test_a_text_that_does_not(kbnf: Kbnf, write: Write) -> None:
    grammar, text = write("g.kbnf", LIST), write("t.txt", "a,b\nü,c")
    result = kbnf("match", grammar, text)
    assert result.status == 1
    assert result.out == (
        "t.txt:1:4: does not fit: byte 3 (0x0a) is not expected here\n"
        "  a,b\\n\n"
        "     ^\n"
        '  expected  ",", "a"-"z"\n'
        '  in        start, at g.kbnf:2:17 ","\n'
        '  in        start > item, at g.kbnf:3:10 #"[a-z]+"\n'
    )


def test_a_letter_in_the_wrong_case_is_named(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", "start ::= 'SELECT ' 'a';")
    for command in ("match", "parse"):
        said = kbnf(command, grammar, "--text", "SELeCT a").out.splitlines()[0]
        assert said.endswith("byte 3 ('e', 0x65) is not expected here, but 'E' is: case matters")
    assert "case" not in kbnf("match", grammar, "--text", "SELACT a").out


@pytest.mark.parametrize(("count", "lines"), [(8, 8), (9, 9), (11, 9)])
def test_places_that_are_not_shown_are_counted(
    count: int, lines: int, kbnf: Kbnf, write: Write
) -> None:
    rules = "".join(f" r{n} ::= '{n:x}' 'x';" for n in range(count))
    names = " | ".join(f"r{n}" for n in range(count))
    said = kbnf("match", write("g.kbnf", f"start ::= {names};{rules}"), "--text", "!").out
    places = [line for line in said.splitlines() if line.startswith("  in  ")]
    assert len(places) == lines
    more = {8: False, 9: "... and 1 more place", 11: "... and 3 more places"}[count]
    assert not more or places[-1].endswith(str(more))


def test_columns_are_in_code_points_and_lines_are_counted(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", '(* kbnf: finish=eos *) start ::= #"[^!]*";')
    result = kbnf("match", grammar, "-", stdin="eins\nzwölf!".encode())
    assert result.out.startswith("<stdin>:2:6: does not fit: byte 11 ('!', 0x21)")


def test_a_text_that_ends_too_early(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("match", write("g.kbnf", LIST), stdin=b"a,")
    assert result.status == 1
    assert "<stdin>:1:3: does not fit: the text ends too early\n  a,\n    ^\n" in result.out


def test_the_last_line_break_counts_where_it_is_wanted(kbnf: Kbnf, write: Write) -> None:
    wanted, unwanted = write("line.kbnf", LINE), write("g.kbnf", LIST)
    assert kbnf("match", unwanted, stdin=b"a\n").out == "<stdin>: fits\n"
    assert kbnf("match", unwanted, stdin=b"a\r\n").out == "<stdin>: fits\n"
    assert kbnf("match", unwanted, stdin=b"a\n\n").status == 1
    said = kbnf("match", wanted, stdin=b"a\n")
    assert (said.status, said.out) == (0, "<stdin>: fits, with the line break at its end\n")
    assert kbnf("match", wanted, stdin=b"a").status == 1


def test_texts_of_the_command_line(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", LIST)
    result = kbnf("match", grammar, write("t.txt", "a"), "--text", "a,b", "--text", "b;")
    assert result.status == 1
    assert result.out.startswith("<text>: fits\n<text>:1:2: does not fit")
    assert result.out.endswith("t.txt: fits\n")
    assert kbnf("match", "-", "--text", "a", stdin=LIST.encode()).out == "<text>: fits\n"


def test_lines(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("match", write("g.kbnf", LIST), "--lines", stdin=b"a\n1\r\na,b\r\n")
    fits = [line for line in result.out.splitlines() if line.endswith(" fits")]
    assert (result.status, fits) == (1, ["<stdin>:1: fits", "<stdin>:3: fits"])
    assert "<stdin>:2:1: does not fit" in result.out


def test_eager_finish_is_named(kbnf: Kbnf) -> None:
    result = kbnf("match", "-", "t.txt", stdin=b"")
    assert result.status != 0
    grammar = b'start ::= #"[0-9]+";'
    with open("t.txt", "w", encoding="utf-8") as file:
        file.write("12\n")
    said = kbnf("match", "-", "t.txt", stdin=grammar)
    assert (said.status, "`finish=eager` ends it there" in said.out) == (1, True)
    assert kbnf("match", "-", "t.txt", "--finish", "eos", stdin=grammar).status == 0


def test_json(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", LIST)
    result = kbnf("match", grammar, "--lines", "--format", "json", stdin=b"a\na,1\n")
    first, second = checked("match", result.out)["texts"]
    assert (result.status, first["matches"], second["matches"]) == (1, True, False)
    assert second["position"] == {"offset": 2, "line": 2, "column": 3}
    assert second["expected"] == {"bytes": [[97, 122]], "text": '"a"-"z"'}


def test_the_empty_text(kbnf: Kbnf) -> None:
    with open("empty", "wb"):
        pass
    grammar = b'(* kbnf: finish=eos *) start ::= "a"?;'
    assert kbnf("match", "-", "empty", stdin=grammar).status == 0


def test_files_that_cannot_be_read_and_the_others(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("match", write("g.kbnf", LIST), "no.txt", write("t.txt", "a"))
    assert (result.status, result.out) == (2, "t.txt: fits\n")
    assert "cannot read no.txt" in result.stderr


@pytest.mark.parametrize("files", [(), ("-",)])
def test_stdin_is_one_thing(kbnf: Kbnf, files: tuple[str, ...]) -> None:
    result = kbnf("match", "-", *files, stdin=b"a")
    assert (result.status, "cannot both be read from stdin" in result.stderr) == (2, True)


def test_no_line_about_a_place_is_wider_than_the_terminal(
    kbnf: Kbnf, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"a_rule_with_a_long_name_{number}" for number in range(7)]
    rules = "".join(f"{one} ::= {other};\n" for one, other in pairwise(names))
    grammar = write("g.kbnf", f'start ::= {names[0]};\n{rules}{names[-1]} ::= "x" "y";')
    whole = kbnf("match", grammar, stdin=b"z").out
    monkeypatch.setattr("kbnf_cli.console.Console.width", lambda _: 80)
    wrapped = kbnf("match", grammar, stdin=b"z").out
    assert max(map(len, whole.splitlines())) > 80 >= max(map(len, wrapped.splitlines()))
    assert wrapped.split() == whole.split()


def test_why_shows_the_tree_of_what_was_read(kbnf: Kbnf, write: Write) -> None:
    grammar = write("g.kbnf", LIST)
    result = kbnf("match", grammar, "--tree", "--text", "ab,;", "--text", "a")
    assert result.out.endswith(
        '  start 0-...\n    item 0-2 "ab"\n    item 3-... ""\n<text>: fits\n'
    )
    value = checked(
        "match", kbnf("match", grammar, "--tree", "--text", ";", "--format", "json").out
    )
    (only,) = value["texts"]
    assert only["tree"]["children"][0]["rule"] == "item"


def test_blanks_are_the_last_of_what_is_expected(kbnf: Kbnf, write: Write) -> None:
    path = write("g.kbnf", "ws ::= #'[ \\t]{0,9}';\nstart ::= ws 'to' ws ';';\n")
    out = kbnf("match", path, "--text", "x").out
    assert '  expected  "t", "\\t", " "\n' in out
    places = [line for line in out.splitlines() if line.startswith("  in ")]
    assert ["start > ws" in place for place in places] == [False, False, True]
