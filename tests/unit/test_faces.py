"""``Engine`` and ``Grammar`` are faces: a method that is another room's work calls it.

So a method has at most three lines of statements, imports apart. The longer ones are listed with
the reason; a method that is shortened or removed has to leave the list.
"""

import ast
from pathlib import Path

import pytest

import kbnf_core

FACES = {
    "Engine": (
        "engine.py",
        {
            "__init__": "resolves the arguments, one room a line",
            "_begin": "sets the attributes of a position at its beginning",
            "__copy__": "copies them",
            "__reduce__": "lists what a position follows from",
            "reset": "sets them back",
            "rollback": "takes back a position, what was accepted, the budget and the events",
            "_replay": "finds a forgotten position by accepting all again",
            "_accept_again": "accepts tokens and byte strings",
            "accept_tokens": "accepts as long as nothing is refused",
            "validate_tokens": "accepts, and takes back",
            "try_accept_new_bytes": "moves the position",
            "_position_after": "moves the position, with room made in a full table",
            "_step_from": "the same for a position beside the text",
            "_mask_here": "makes a mask, with room made in a full table",
            "_renew": "takes the positions along to a fresh table",
            "fill_draft_bitmask": "moves along a draft, fills rows, and moves back",
            "fill_tree_bitmasks": "fills rows of a tree, with room made in a full table",
            "mask_logits": "restores the last computation if logits are refused",
            "update_logits": "accepts and masks in one step, all or nothing",
            "remaining": "turns None to a number of the kernel",
            "look_ahead": "starts working ahead, once",
            "temperature": "asks for an explanation only if some rule has a temperature",
            "why": "explains what comes before the grammar by another automaton",
            "values": "makes the reader once, and reads what is new",
            "_followed": "makes the follower once, and reads what is new",
            "accepted_by_grammar": "cuts what was accepted where the grammar begins",
        },
    ),
    "Grammar": (
        "grammar.py",
        {
            "__init__": "takes a text of KBNF or the name of an included grammar",
            "_hold": "sets the attributes of a grammar that was read",
            "restore": "sets those of a compiled one",
            "read": "makes the request of a reading, and refuses losses",
            "from_any": "chooses the constructor for a value, one case a kind",
            "from_json_schema": "reads, and warns of misspelt keywords of a program's schema",
            "from_file": "reads a file, finds its language, and reads the text",
            "cold": "copies all but the caches",
            "__reduce__": "lists what a grammar was made of",
            "of_texts": "reads the text again without markers as tokens",
            "_build": "turns limits of automata into findings about the text",
            "tables_with": "the same for a given budget",
            "require": "recognises, and asks the parser where the text does not fit",
            "read_value": "checks the text if that is asked for, and reads its value",
            "estimated_bytes": "adds up what was made so far",
            "to_kbnf": "stored, own, or written text",
            "start_in_kbnf": "the name of the start in it",
            "stored_rules": "rules as written, or those of the text in KBNF",
            "losses": "stored ones, or those of the reading",
            "vocabulary_mark": "stored one, or that of the reading",
            "check_vocabulary": "against the stored one, or that of the reading",
            "_marked": "stored marks, or those of the reading",
            "values_as_text": "stored text of marks, or that of the reading",
        },
    ),
}


def statement_lines(method: ast.FunctionDef) -> int:
    """Return the number of lines of a method's statements, without docstring and imports."""
    body = method.body[1:] if ast.get_docstring(method) is not None else method.body
    own = [each for each in body if not isinstance(each, ast.Import | ast.ImportFrom)]
    return sum((each.end_lineno or each.lineno) - each.lineno + 1 for each in own)


@pytest.mark.parametrize("name", FACES)
def test_long_methods_have_a_reason(name: str) -> None:
    file, reasons = FACES[name]
    tree = ast.parse((Path(kbnf_core.__file__).parent / file).read_text(encoding="utf-8"))
    [face] = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name]
    methods = [each for each in face.body if isinstance(each, ast.FunctionDef)]
    assert {each.name for each in methods if statement_lines(each) > 3} == reasons.keys()
