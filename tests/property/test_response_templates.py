"""Messages of texts of response templates, beside transformers' own parser, character by character.

The texts are those of the grammars, for each way to ask, and such texts with parts replaced; chats
before them end in the beginning of a message or not. ``python -m kbnf_testing.response_templates
10000`` reads as many texts of the grammars, which ``-m slow`` does, too.
"""

import os
from random import Random

import pytest

from kbnf_core.languages.response_template.template import template_of
from kbnf_testing.response_templates import (
    TEMPLATES,
    damaged,
    difference,
    grammars,
    main,
    our_message,
    texts_of,
)

pytest.importorskip("transformers", reason="transformers is not installed (extra `transformers`)")

FEW = 3
PREFIXES = (
    "",
    "<bot>\n",
    "a<bot><bot>\n\n<think>",
    "<|assistant|>\n<think>\n",
    "<|start|>assistant<|channel|>analysis",
)


@pytest.mark.parametrize("name", TEMPLATES)
def test_texts_read_as_transformers_reads_them(name: str) -> None:
    value, random = TEMPLATES[name], Random(len(name))
    template = template_of(value)
    for number, (grammar, tools) in enumerate(grammars(value, 5)):
        for text in texts_of(grammar, FEW, number):
            for changes in range(4):
                changed = text
                for _ in range(changes):
                    changed = damaged(changed, value, random)
                prefix = random.choice(PREFIXES)
                assert difference(changed, value, template, prefix, tools) is None
            message = our_message(text, template, "", tools)
            if tools and message is not None:
                calls = [each["function"] for each in message.get("tool_calls", [])]
                meant = [
                    each for each in grammar.read_value(text)
                    if isinstance(each, dict) and "name" in each
                ]  # fmt: skip
                assert [(each["name"], each["arguments"]) for each in calls] == [
                    (each["name"], each["arguments"]) for each in meant
                ]


@pytest.mark.slow
def test_ten_thousand_texts_read_as_transformers_reads_them() -> None:
    assert main(int(os.environ.get("KBNF_TEXTS", "10000"))) == 0
