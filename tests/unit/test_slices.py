"""Slices: masks found beside a slice are those found by walking everything."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from itertools import combinations, product
from pathlib import Path
from random import Random

import numpy as np
import pytest

from kbnf_core import Config, Engine, Grammar, Vocabulary, load_vocabulary
from kbnf_core.mask import slices
from kbnf_core.mask.bits import unpack, word_count
from kbnf_core.mask.slices import ENDLESS, MACHINES, NO_NUMBER, numbers_of, slices_of
from kbnf_core.text.errors import RejectedError, VocabularyError
from kbnf_core.text.files import VARIABLE
from kbnf_core.vocab.trie import TokenTrie, build_trie, subset_of

FIRST_BYTES = " | ".join(rf"#b'\x{byte:02x}'" for byte in range(0xC2, 0xE0))

GRAMMARS = {
    "string": r"""start ::= '"' #'[^"\\\\\\x00-\\x1f]*' '"' ',' '"' #'[a-z]*' '"';""",
    "counted": """start ::= '"' #'[^"]{0,30}' '"' ';';""",
    "short": """start ::= '"' #'[a-zé ]{0,7}' '"' start | ';';""",
    "until": "start ::= except!('</b>') '</b>' 'x'*;",
    "words": "start ::= word { ' ' word } '.'; word ::= #'[A-Za-z_][A-Za-z0-9_]*';",
    "calls": "start ::= item* ';'; item ::= #'[^;()]'+ | '(' item* ')';",
    "all bytes": "start ::= #e'.|\\n'*;",
    "called": """start ::= '"' any{0,12} '"' start | '#' any{70} ';'; any ::= #'[^"]';""",
    "blocks": """start ::= '"' b{0,2} any{0,99} '"' ';'; b ::= any{64}; any ::= #'[^"]';""",
    "called or ended": """start ::= '"' (any | end){0,70} '"'; any ::= #'[^"x]'; end ::= 'x'+;""",
    "some": "start ::= #'[A-Za-z0-9 .-]{0,20}' ';';",
    "some, then others": "start ::= #'[A-Za-z0-9 ]{8}' #'[a-zé漢 ]*' ';';",
    "names": "start ::= #'[a-z][a-z0-9_]+' { '.' #'[A-Za-z_]+' } ';';",
    "wide": "start ::= #'[A-Zà-ÿ一-龥 ,.;:!?a-z0-9]+' ';';",
    "not wide": "start ::= #'[ !#-Z^-~]*' ';';",
    "no spaces": r"""start ::= '"' #'[^\\s"]+' '"';""",
    "lines": "start ::= #'[^\\r\\n\\u2028\\u2029]{0,9}' ';';",
    "some of a first byte": "start ::= (#'[^漢é]*' ';')*;",
    "one first byte": "start ::= '\"' #'[a-z ]' #'[^\"€🙂]*' '\"';",
    "counted, some of a first byte": "start ::= '\"' #'[^\"€é]{0,30}' '\"';",
    "by two first bytes": "start ::= #'[^漢-龥🙂]*' ';';",
    "only longer ones, at the end": r"start ::= #'[^\\x00-\\x7f]+';",
    "few of one byte, at the end": "start ::= #'[^ -~]{0,3}';",
    "of a called character": r"start ::= x+; x ::= #'[^\\x00-\\x7f]';",
    "bytes that end no character": rf"start ::= ({FIRST_BYTES}) #b'\xff';",
    "a limit in bytes": """start ::= except!('"', 5) '"';""",
    "until longer characters": "start ::= except!('漢字') '漢字';",
    "path": "start ::= '\"/' #'(([^/\"]+/)*[^/\"]+)?' '\"';",
    "address": "start ::= '\"' #'[^@\" ]+@[^@.\" ]+(\\\\.[^@.\" ]+)+' '\"';",
    "a letter that leads elsewhere": "start ::= #'([^a;][^;]{0,30}|a[0-9.]*)' ';';",
    "long ones lead elsewhere": "start ::= #'([^é漢;]|é[0-9]|漢;)*' ';';",
    "side by side": "start ::= '\"' (#'[^\"]{1,40}' ';' | #'[^\".]*' '\"');",
}

WIDE = ["é", "漢", "字", "🙂", "ê", "€", "\u2028", "\u00a0", "😀"]
PIECES = [*"aZ09_ .,;:!?'\"\\/<>()[]{}", *WIDE, "</b>", "\n", "\x7f", "abc", " the"]
BYTES = [bytes([value]) for value in range(256)]


def spellings(random: Random) -> Iterator[bytes]:
    yield from BYTES
    for _ in range(3000):
        text = "".join(random.choices(PIECES, k=random.randint(1, 9))).encode()
        cut = random.randint(0, 3)
        yield text[cut:] if random.random() < 0.2 else text
    yield from (b"a" * length for length in range(1, 40))


def vocabulary() -> Vocabulary:
    tokens = sorted({data for data in spellings(Random(5)) if data})
    return Vocabulary(dict(enumerate(tokens)), eos_token_id=len(tokens) + 7)


VOCABULARY = vocabulary()
TEXTS = Vocabulary(
    dict(enumerate([*BYTES, *(bytes(each) for each in product(b"aZ09 .,x", repeat=4))]))
)


def masks_on_the_way(grammar: str, random: Random) -> list[list[int]]:
    """Return the allowed ids at places that texts of random tokens reach, from nothing known.

    Slices are made once a vocabulary, so each time it is another one.
    """
    engine = Engine(Grammar(grammar), vocabulary(), Config(finish="eos"))
    found = []
    for _ in range(6):
        engine.reset()
        for _ in range(25):
            engine.compute_allowed_token_ids()
            ids = engine.get_allowed_token_ids_from_last_computation()
            found.append(ids)
            if not ids or engine.is_finished():
                break
            engine.try_accept_new_token(random.choice(ids))
    return found


@pytest.mark.parametrize("grammar", GRAMMARS.values(), ids=GRAMMARS)
def test_masks_are_the_same_with_and_without(grammar: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 1 << 30)
    plain = masks_on_the_way(grammar, Random(3))
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    assert masks_on_the_way(grammar, Random(3)) == plain


def assert_what_can_be_accepted(grammar: str, mine: Vocabulary, before: bytes) -> None:
    """Compare the mask after a text with the tokens that can be accepted there, one by one.

    Once as the first mask, once where those on the way have found out something.
    """
    allowed = []
    for on_the_way in (False, True):
        engine = Engine(grammar, mine, Config(finish="eos"))
        bits = np.zeros(word_count(mine.size), np.int32)
        for value in before:
            if on_the_way:
                engine.fill_bitmask(bits)
            engine.try_accept_new_bytes(bytes([value]))
        engine.fill_bitmask(bits)
        allowed.append(set(np.flatnonzero(unpack(bits.view(np.uint32), mine.size)).tolist()))
    accepted = set()
    for token in mine.tokens:
        engine.reset()
        engine.try_accept_new_bytes(before)
        with suppress(RejectedError):
            engine.try_accept_new_token(token)
            accepted.add(token)
    assert allowed == [accepted, accepted]
    assert accepted


LEFT_OUT = """start ::= '"' #'[^"a]|a[^"b]|ab[^"Z]' #'[^"]*' '";';"""


@pytest.mark.parametrize(
    ("grammar", "before"),
    [
        *((LEFT_OUT, before) for before in (b'"', b'"a', b'"ab')),
        *(
            (f"""start ::= '"' {text} '";'; any ::= #'[^"/]';""", b'"' + b"x" * used)
            for most in (64, 79, 80, 127, 200)
            for text in (f"""#'[^"/]{{0,{most}}}'""", f"any{{0,{most}}}")
            for used in (1, most - 20, most - 1)
        ),
    ],
)
def test_masks_of_text_are_what_can_be_accepted(
    grammar: str, before: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    assert_what_can_be_accepted(grammar, vocabulary(), before)


def test_there_may_be_more_classes_than_unions_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    mine = Vocabulary(dict(TEXTS.tokens))
    grammars = [
        f"""start ::= '"' #'[^"{one}{other}]*' '";';"""
        for one, other in combinations("aZ09_ .,;:!?<>()%x", 2)
    ]
    for grammar in grammars[:-2]:
        engine = Engine(grammar, mine, Config(finish="eos"))
        engine.try_accept_new_bytes(b'"')
        engine.fill_bitmask(np.zeros(word_count(mine.size), np.int32))
    for grammar in (grammars[0], *grammars[-2:]):
        assert_what_can_be_accepted(grammar, mine, b'"')


@pytest.mark.parametrize(
    ("grammar", "before"),
    [
        ("start ::= '\"' #'[^\"]*' '\"';", b'"'),
        ("start ::= '\"' #'[^\"]{0,90}' '\"';", b'"1234'),
        ("start ::= '\"' (#'[^\"]*' | 'x') '\"';", b'"'),
    ],
)
def test_what_can_come_as_a_whole_is_not_walked(
    monkeypatch: pytest.MonkeyPatch, grammar: str, before: bytes
) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    mine = vocabulary()
    engine = Engine(grammar, mine)
    engine.try_accept_new_bytes(before)
    engine.compute_allowed_token_ids()
    *read, rest = (each.subset.trie.node_count for each in slices_of(mine).slices)
    # Those that no machine reads, and the way to tokens longer than anybody looks ahead.
    assert engine._automaton.masks.visited <= rest + sum(read) / 4


@pytest.mark.parametrize(
    "grammar",
    [
        "start ::= '\"' #'[^\"]{0,16}' '\"';",
        "start ::= '\"' any{0,16} '\"' | '#' any{70}; any ::= #'[^\"]';",
        "start ::= '\"' #'[A-Za-z0-9 .,]{0,16}' '\"';",
        "start ::= '\"' #'[A-Za-z0-9 .,]*' '\"';",
        r"""start ::= '"' #'[^\\s"]*' '"';""",
        "start ::= '\"' #'[a-z][A-Za-z0-9 .,]*' '\"';",
    ],
)
def test_tokens_are_counted_and_not_walked(grammar: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    engine = Engine(grammar, TEXTS)
    engine.try_accept_new_bytes(b'"')
    engine.compute_allowed_token_ids()
    assert engine.get_allowed_token_ids_from_last_computation()
    # At most the bytes that are no text.
    assert engine._automaton.masks.visited <= len(BYTES)


@pytest.mark.parametrize("grammar", ["path", "address"])
def test_only_what_leads_elsewhere_is_walked(grammar: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    mine = vocabulary()
    engine = Engine(GRAMMARS[grammar], mine)
    engine.try_accept_new_bytes(b'"/a@b' if grammar == "address" else b'"/a')
    engine.compute_allowed_token_ids()
    signs = b"@. " if grammar == "address" else b"/"
    *read, rest = (each.subset.trie for each in slices_of(mine).slices)
    walked = sum(
        len(data)
        for trie in read
        for data in map(mine.token, trie.token_ids.tolist())
        if data and not set(data).isdisjoint(signs)
    )
    assert engine._automaton.masks.visited <= rest.node_count + walked + 2 * len(BYTES)


def test_stored_slices_are_those_that_were_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    made = slices_of(VOCABULARY)
    arrays = slices.to_arrays(made)
    again = slices.to_arrays(slices.from_arrays(arrays, VOCABULARY))
    assert again.keys() == arrays.keys()
    assert all(np.array_equal(again[name], arrays[name]) for name in arrays)
    for name, array in arrays.items():
        damaged = [array.astype(np.float64), np.append(array.ravel(), array.ravel()[:1])]
        if name.endswith((".nodes", ".below", ".reading", ".token_ids", ".parent")):
            damaged.append(np.full_like(array, np.iinfo(array.dtype).max))
        for each in damaged if array.size else ():
            with pytest.raises((ValueError, VocabularyError)):
                slices.from_arrays({**arrays, name: each}, VOCABULARY)
    with pytest.raises(KeyError):
        slices.from_arrays({}, VOCABULARY)


def test_slices_are_taken_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    file = tmp_path / "vocabulary.json"
    file.write_text(json.dumps({str(place): f"token {place}" for place in range(5_000)}))
    os.utime(file, (1, 1))
    masks = []
    for _ in range(2):
        engine = Engine("start ::= #'[a-z 0-46-9]*' ';';", load_vocabulary(file))
        engine.compute_allowed_token_ids()
        masks.append(engine.get_allowed_token_ids_from_last_computation())
        monkeypatch.setattr(slices, "slices_of", None)
    assert masks[0] == masks[1] != []
    # A damaged entry is a miss, and so made again: here nothing makes it.
    [entry] = (tmp_path / "cache").rglob("*-slices.vocabulary")
    data = bytearray(entry.read_bytes())
    data[-5] ^= 1
    entry.write_bytes(data)
    with pytest.raises(TypeError):
        Engine("start ::= 'a';", load_vocabulary(file)).compute_allowed_token_ids()


def test_a_check_makes_no_item_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    engine = Engine("start ::= '\"' #'[^\"]{0,90}' '\"' ';';", TEXTS)
    engine.try_accept_new_bytes(b'"')
    item_sets = len(engine._automaton.masks.states.items)
    engine.compute_allowed_token_ids()
    # Those after the single bytes that are no text.
    assert len(engine._automaton.masks.states.items) - item_sets <= 10


def test_slices_hold_each_token_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    mine = vocabulary()
    found = slices_of(mine)
    ids = np.concatenate([each.subset.trie.token_ids for each in found.slices])
    assert sorted(ids.tolist()) == sorted(mine.trie.token_ids.tolist())
    for each in found.slices:
        trie = each.subset.trie
        for block in each.blocks[-1:]:
            assert np.flatnonzero(unpack(block, mine.size)).tolist() == sorted(trie.token_ids)
        for node in range(trie.node_count):
            height = trie.depth[node : trie.skip[node]].max() - trie.depth[node]
            assert each.height[node] in ((height,) if each.blocks.size else (height, ENDLESS))


def test_tails_follow_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    *_, text = MACHINES
    *_, rest = (found := slices_of(VOCABULARY)).slices
    number = numbers_of(text)
    expected = {}
    for token_id in rest.subset.trie.token_ids.tolist():
        data = VOCABULARY.token(token_id) or b""
        longest = max(end for end in range(len(data)) if runs(text, data[:end]))
        if longest and text[1, data[longest]] == 0:
            expected[token_id] = data[:longest], data[longest:]
    tails, whole = found.tails, VOCABULARY.trie
    seen = {}
    for node in range(tails.trie.node_count):
        for place in tails.trie.ids(node).tolist():
            for token_id in whole.ids(int(tails.nodes[place])).tolist():
                data = VOCABULARY.token(token_id) or b""
                before = data[: len(data) - int(tails.trie.depth[node])]
                seen[token_id] = before, data[len(before) :]
                signs = {int(number[byte]) for byte in before} - {NO_NUMBER}
                bits = sum(int(half) << 64 * i for i, half in enumerate(tails.before[place]))
                assert bits == sum(1 << sign for sign in signs)
    assert seen == expected
    assert expected
    for node, part in enumerate(rest.height.tolist()):
        ids = rest.subset.trie.subtree_ids(node).tolist()
        assert (part == ENDLESS) == (not expected.keys() >= set(ids))


def test_machines_read_text_and_words() -> None:
    word, text = MACHINES
    for good in ("Zürich 漢字 🙂 \U0010ffff", "a.b,c", "~ !", ""):
        assert runs(text, good.encode())
    for bad in (b'"', b"\\", b"\n", b"\x7f", b"\x80", b"\xc0\x80", b"\xe0\x80\x80", b"\xff"):
        assert not runs(text, bad)
    for bad in (b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80"):
        assert not runs(text, bad)
    assert runs(word, b"snake_Case9")
    assert not runs(word, b"a-b")
    assert not runs(word, "é".encode())


def runs(machine: slices.Machine, data: bytes) -> bool:
    state = 1
    for byte in data:
        state = int(machine[state, byte])
    return state != 0


def test_a_part_of_a_trie_is_the_trie_of_its_tokens() -> None:
    random = Random(11)
    for share in (0.0, 0.1, 0.7, 1.0):
        trie = VOCABULARY.trie
        chosen = np.array([random.random() < share for _ in trie.token_ids])
        part = subset_of(trie, chosen)
        kept = {int(token): VOCABULARY.tokens[int(token)] for token in trie.token_ids[chosen]}
        assert same(part.trie, build_trie(kept))
        assert np.array_equal(trie.byte[part.nodes], part.trie.byte)
        assert np.array_equal(trie.depth[part.nodes], part.trie.depth)
        assert np.array_equal(trie.parent[part.nodes[1:]], part.nodes[part.trie.parent[1:]])


def same(one: TokenTrie, other: TokenTrie) -> bool:
    names = [field.name for field in fields(TokenTrie)]
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        and getattr(one, name).dtype == getattr(other, name).dtype
        for name in names
    )


@pytest.mark.parametrize(
    ("grammar", "before"),
    [
        # A token of the block goes on behind a text that is complete elsewhere.
        ("start ::= 'k' 'ab' | t 'z'; t ::= 'k' #'[a-z ]*' ';' | '(' t ')';", b"k"),
        # Nothing of the block does, but what ends the text does.
        ("""start ::= '"' #'[^"]*' '"' 'x'?;""", b'"a'),
        # Tails: in the middle of two names side by side, near a bound, and after a first character.
        (r"""start ::= n #'[a-z]'; n ::= '"' (#'b[^"]*' | #'[^ab"][^"]*' | 'a"') '"';""", b'"'),
        (r"""start ::= '"' c{0,130} '"' #'[,:]'; c ::= #'[^"\\\\]';""", b'"' + b"a" * 110),
        (r"""start ::= '"' c{0,130} '"' #'[,:]'; c ::= #'[^"\\\\]';""", b'"' + b"a" * 128),
        (r"""start ::= '"' c{3,130} '"' #'[,:]'; c ::= #'[^"\\\\]';""", b'"'),
        (r"""start ::= '"' c{1,130} '"' #'[,:]'; c ::= #'[^"\\\\]|\\\\n';""", b'"'),
        (
            r"""start ::= s | '"' #'([^"\\\\]|\\\\n)*' '"'; s ::= '"' c{1,130} '"';"""
            "c ::= #'[^\"]';",
            b'"',
        ),
    ],
)
@pytest.mark.parametrize("finish", ["eager", "token", "eos"])
def test_a_mask_written_from_parts_has_what_can_come(
    grammar: str, before: bytes, finish: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    mine = vocabulary()
    engine = Engine(grammar, mine, finish=finish)
    engine.try_accept_new_bytes(before)
    row = np.full((mine.size + 31) // 32 + 2, -1, np.int32)
    for _ in range(2):
        engine.fill_bitmask(row)
        found = set(np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist())
        expected = {each for each in range(mine.size) if engine.validate_tokens([each])}
        assert found == expected
        assert set(engine.get_allowed_token_ids_from_last_computation()) == expected
    assert len(expected) > 5


@pytest.mark.parametrize(
    ("grammar", "before"),
    [
        ("start ::= '\"' #'[^\"]*' '\"' ';';", b'"'),
        ("start ::= '\"' any{0,300} '\"' ';'; any ::= #'[^\"]';", b'"a'),
        ("start ::= '\"' any{0,300} '\"' ';'; any ::= #'[^\"]';", b'"' + b"a" * 290),
    ],
)
def test_tails_are_walked_once(
    grammar: str, before: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    endings = product(b"aZ09 .,x", b"aZ09 .,x", (b'"', b'";', b'"x'))
    mine = Vocabulary(
        dict(enumerate([*BYTES, *(bytes([one, two]) + end for one, two, end in endings)]))
    )
    engine = Engine(grammar, mine)
    engine.try_accept_new_bytes(before)
    engine.compute_allowed_token_ids()
    assert len(engine.get_allowed_token_ids_from_last_computation()) > 64
    # Three tails, and the bytes that are no text.
    assert engine._automaton.masks.visited <= len(BYTES) + 3


@pytest.mark.parametrize(
    "grammar",
    [
        "start ::= #'[A-Za-z0-9 .,]+';",
        "start ::= name ('\"' name)*; name ::= #'[A-Za-z0-9 .,]+';",
        "start ::= '\"' start | (#'[A-Za-z0-9 .,]+' '\"'?)+;",
    ],
)
def test_what_may_end_behind_any_character_is_not_walked(
    grammar: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slices, "LEAST_TOKENS", 0)
    engine = Engine(grammar, TEXTS, finish="eos")
    engine.try_accept_new_bytes(b"a")
    engine.compute_allowed_token_ids()
    assert len(engine.get_allowed_token_ids_from_last_computation()) > len(TEXTS.trie.token_ids) / 2
    # At most the bytes that are no text.
    assert engine._automaton.masks.visited <= len(BYTES)
