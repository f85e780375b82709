"""Random grammars over character classes: what masks of free text are made from.

Classes of all scripts, of one byte and of several, with bounds, tails, calls, exceptions and bytes
that are no text. Many have the same language as a pattern of the module ``regex``, which is then
another judge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import regex

_CHARACTERS = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))

# No property is beside its complement: ``regex`` takes `[^\P{L}\p{L}]` for any character.
ITEMS = (
    *("a-z", "A-Z", "0-9", "a-f", "_", r"\x20", r"\x20-\x7e", r"\x00-\x7f", r"\x00-\x1f", r"\n"),
    *(r"\x22", r"\x27", r"\x5c", r"\.", r"\-", ",", ";", "!-/", "x", r"\x7f-\xa0", r"\x80-\u07ff"),
    *("é", "à-ÿ", r"\u0100-\uffff", r"\u0400-\u9fff", r"\u3000-\uffff", r"\u0800-\uffff", "ñß€…"),
    *("漢", "一-龥", "ぁ-ん", "ァ-ヶ", "가-힣", "а-яё", "α-ω", "ا-ي", "א-ת", "ก-๙", "अ-ह", "。、"),
    *(r"\U00010000-\U0010ffff", r"\U0001F300-\U0001FAFF", "🙂", r"\u2000-\u206f", r"\u2028"),
    *(r"\p{Han}", r"\p{Cyrillic}", r"\p{Greek}", r"\p{Hiragana}", r"\p{Arabic}", r"\p{Hangul}"),
    *(r"\p{L}", r"\p{Lu}", r"\p{N}", r"\p{P}", r"\P{Latin}", "[:^ascii:]", r"\p{Thai}"),
)
BOUNDS = (
    "+",
    "*",
    "+",
    "*",
    "?",
    "{1}",
    "{2}",
    "{5}",
    "{0,3}",
    "{2,}",
    "{1,9}",
    "{3,30}",
    "{0,70}",
)
WORDS = (";", "x", "\\n", "</b>", "é", "漢字", "。", "你好", "🙂", "ab", '\\"', "\\\\", "...", " ")
BYTES = (r"\xff", r"\xc3", r"\xe4\xbd", r"\x80", r"\xf0\x9f")
LIMITS = ("", ",0", ",1", ",2", ",5", ",30")


@dataclass(frozen=True, slots=True)
class ClassGrammar:
    """A grammar, and a pattern of ``regex`` with the same language, if there is one."""

    text: str
    pattern: str | None


def class_grammar(random: Random) -> ClassGrammar:
    """Return a random grammar; some need too many states."""
    return random.choice(_SHAPES)(random)


def character_class(random: Random) -> str:
    """Return a class that has some character, as KBNF and ``regex`` read it.

    ``regex`` knows no dead ends: it takes a text for a beginning that nothing can follow.
    """
    while True:
        items = [random.choice(ITEMS) for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5)))]
        if random.random() < 0.3:
            items.append(_range(random))
        negated = "^" if random.random() < 0.4 else ""
        found = f"[{negated}{''.join(items)}]"
        if regex.search(found, _CHARACTERS):
            return found


def _range(random: Random) -> str:
    first, last = sorted(random.choice((0x7F, 0x7FF, 0xD7FF, 0x10FFFF)) for _ in range(2))
    first, last = sorted((random.randint(0, first), random.randint(0, last)))
    return rf"\U{first:08X}-\U{last:08X}"


def _run(random: Random) -> str:
    return character_class(random) + random.choice(BOUNDS)


def _runs(random: Random) -> str:
    return "".join(_run(random) for _ in range(random.choice((1, 1, 1, 2, 3))))


def _tail(random: Random) -> tuple[str, str]:
    """Return what follows, as KBNF and as a pattern; often nothing."""
    if random.random() < 0.4:
        return "", ""
    word = random.choice(WORDS)
    bound = random.choice(("", "", "?", "*"))
    return f' "{word}"{bound}', f"(?:{_escaped(word)}){bound}"


def _escaped(word: str) -> str:
    return word.replace(".", r"\.")


def _regular(random: Random) -> ClassGrammar:
    runs, (tail, after) = _runs(random), _tail(random)
    return ClassGrammar(f'start ::= #r"{runs}"{tail};', runs + after)


def _within(random: Random) -> ClassGrammar:
    runs, word, (tail, after) = _runs(random), random.choice(WORDS), _tail(random)
    pattern = f"(?:{_escaped(word)}){runs}{after}"
    return ClassGrammar(f'start ::= "{word}" #r"{runs}"{tail};', pattern)


def _called(random: Random) -> ClassGrammar:
    run, bound, (tail, after) = character_class(random), random.choice(BOUNDS), _tail(random)
    return ClassGrammar(f'start ::= x{bound}{tail}; x ::= #r"{run}";', f"{run}{bound}{after}")


def _listed(random: Random) -> ClassGrammar:
    run, more, word = _run(random), _run(random), random.choice(WORDS)
    tail, after = _tail(random)
    pattern = f"{run}(?:{_escaped(word)}{more})*{after}"
    return ClassGrammar(f'start ::= #r"{run}" {{ "{word}" #r"{more}" }}{tail};', pattern)


def _either(random: Random) -> ClassGrammar:
    one, other, (tail, after) = _runs(random), _runs(random), _tail(random)
    text = f'start ::= (one | other){tail}; one ::= #r"{one}"; other ::= #r"{other}";'
    return ClassGrammar(text, f"(?:{one}|{other}){after}")


def _mixed(random: Random) -> ClassGrammar:
    run, word, bound = character_class(random), random.choice(WORDS), random.choice(BOUNDS)
    tail, after = _tail(random)
    text = f'start ::= (x | "{word}"){bound}{tail}; x ::= #r"{run}";'
    return ClassGrammar(text, f"(?:{run}|{_escaped(word)}){bound}{after}")


def _nested(random: Random) -> ClassGrammar:
    run, tail = _runs(random), _tail(random)[0]
    return ClassGrammar(f'start ::= "(" start ")" | #r"{run}"{tail};', None)


def _until(random: Random) -> ClassGrammar:
    ending = random.choice((f'"{random.choice(WORDS)}"', f'#r"{_run(random)}"', ""))
    return ClassGrammar(f"start ::= {_until_word(random)} {ending};", None)


def _until_word(random: Random) -> str:
    return f'except!("{random.choice(WORDS)}"{random.choice(LIMITS)})'


def _never(random: Random) -> ClassGrammar:
    mark, run, (tail, _) = random.choice("ex"), _run(random), _tail(random)
    form = "#e" if mark == "e" else "#ex"
    return ClassGrammar(f"start ::= {form}'{_doubled(run)}'{tail};", None)


def _doubled(run: str) -> str:
    return run.replace("\\", "\\\\")


def _bytes(random: Random) -> ClassGrammar:
    run, data, bound = character_class(random), random.choice(BYTES), random.choice(BOUNDS)
    tail, _ = _tail(random)
    text = f'start ::= (x | #b"{data}"){bound}{tail}; x ::= #r"{run}";'
    return ClassGrammar(text, None)


def _composed(random: Random) -> ClassGrammar:
    """Two or three rules that call those after them, and themselves in brackets.

    What calls itself otherwise is ambiguous here, and has states for each length of a text.
    """
    names = ("start", "x", "y")[: random.choice((2, 2, 3))]
    rules = (f"{name} ::= {_choice(random, names[i:])};" for i, name in enumerate(names))
    return ClassGrammar(" ".join(rules), None)


def _choice(random: Random, names: Sequence[str]) -> str:
    ways = (
        " ".join(_part(random, names) for _ in range(random.choice((1, 1, 2, 3))))
        for _ in range(random.choice((1, 1, 2)))
    )
    # One that ends, whatever the others call.
    return " | ".join((*ways, f'#r"{_run(random)}"'))


def _part(random: Random, names: Sequence[str]) -> str:
    roll = random.random()
    if roll < 0.1:
        return f'"(" {names[0]} ")"'
    if roll < 0.4 and names[1:]:
        bound = random.choice(("", "", "?", "*", "+", "{2}", "{0,3}", "{2,9}"))
        return random.choice(names[1:]) + bound
    if roll < 0.75:
        return f'#r"{random.choice((_run, character_class))(random)}"'
    return random.choice((f'"{random.choice(WORDS)}"', _until_word(random)))


_SHAPES = (
    *(_regular, _regular, _regular, _within, _within, _called, _called, _listed, _either, _mixed),
    *(_nested, _until, _until, _never, _bytes, _composed, _composed),
)
