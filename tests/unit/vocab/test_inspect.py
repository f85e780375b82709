"""What is said about a vocabulary."""

from kbnf_core.vocab.vocabulary import Vocabulary, inspect


def test_everything_worth_knowing() -> None:
    vocabulary = Vocabulary(
        {1: b"A", 2: b"", 5: b"AB", 6: b"\xe4\xbd", 7: b"A", 8: b"AB", 12: b"", 13: b"A"},
        special_tokens={"<s>": 9, "<pad>": 0},
        eos_token_id=[14, 9],
        name="a name",
    )
    found = inspect(vocabulary)
    assert found.name == "a name"
    assert found.fingerprint == vocabulary.fingerprint
    assert found.size == 15
    assert found.ordinary == 8
    assert found.special == ((0, "<pad>"), (9, "<s>"))
    assert found.stop_ids == (9, 14)
    assert found.duplicates == ((1, 7, 13), (5, 8))
    assert found.empty == (2, 12)
    assert set(range(256)) - set(found.missing_bytes) == {*b"AB\xe4\xbd"}
    assert found.longest == (5, 6, 8)
    assert found.longest_length == 2
    assert found.gaps == ((3, 5), (10, 12))
    assert found.partial_utf8 == (6,)


def test_nothing_at_all() -> None:
    found = inspect(Vocabulary({}))
    assert found.size == found.ordinary == found.longest_length == 0
    assert not any((found.longest, found.gaps, found.duplicates))
    assert len(found.missing_bytes) == 256


def test_the_bytes() -> None:
    found = inspect(Vocabulary.bytes())
    assert not any((found.missing_bytes, found.gaps, found.empty))
    assert found.partial_utf8 == tuple(range(128, 256))
    assert found.stop_ids == (256,)
