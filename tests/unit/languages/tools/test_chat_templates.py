"""Formats of tool calls from chat templates, against what the templates write."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import ConfigError, Grammar, processes
from kbnf_core.convert import from_structural_tag
from kbnf_core.integrations.tool_calls import ToolCalls
from kbnf_core.languages.structural_tag.presets import tool_calls
from kbnf_core.languages.tools import chat_template, rendering
from kbnf_core.languages.tools.chat_template import derived_format
from kbnf_testing import calls
from kbnf_testing.membership import Language
from kbnf_testing.templates import JSON_CALL, LFM, template

jinja2 = pytest.importorskip("jinja2")

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "day": {"type": "string"}},
    "required": ["city", "day"],
}
TOOLS = [{"name": name, "parameters": SCHEMA} for name in ("weather", "time")]
ARGUMENTS = {"city": "Paris", "day": "today"}


XML = (
    "{{- '<tool_call>\\n<function=' + f.name + '>\\n' }}{%- for k, v in f.arguments.items() %}"
    "{{- '<parameter=' + k + '>\\n' + v + '\\n</parameter>\\n' }}{%- endfor %}"
    "{{- '</function>\\n</tool_call>' }}"
)
GLM = (
    "{{- '<tool_call>' + f.name + '\\n' }}{%- for k, v in f.arguments.items() %}"
    "{{- '<arg_key>' + k + '</arg_key>\\n<arg_value>' + v + '</arg_value>\\n' }}{%- endfor %}"
    "{{- '</tool_call>' }}"
)
MISTRAL = (
    "{{- (f | tojson)[:-1] + ', \"id\": \"' + c.id + '\"}' }}"
    "{%- if c.id | length != 9 %}{{- raise_exception('nine') }}{%- endif %}"
)
TEXTS = "{{- '<call>function<sep>' + f.name + '\\n```json\\n' + f.arguments + '\\n```</call>' }}"
LLAMA = (
    "{%- if m.tool_calls | length != 1 %}{{- raise_exception('one at a time') }}{%- endif %}"
    """{{- '{"name": "' + f.name + '", "parameters": ' + f.arguments | tojson + '}' }}"""
)
FORMS = {
    "hermes": template(JSON_CALL, between="\n"),
    "blank line first": template(JSON_CALL, before="\n\n"),
    "qwen coder": template(XML, between="\n"),
    "glm": template(GLM),
    "mistral": template(MISTRAL, "[TOOL_CALLS] [", "]", between=", "),
    "deepseek": template(TEXTS, "<calls>", "</calls>", between="\n"),
    "section": template(JSON_CALL, "<tools>\n", "\n</tools>"),
    "llama": template(LLAMA),
    "lfm": template(LFM, "<|tool_call_start|>[", "]<|tool_call_end|>", ", "),
}


def written(text: str, count: int, *, as_text: bool) -> str:
    """Return what the template writes for some calls, without what is around every message."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    made = [
        {
            "id": f"abcdefgh{number}",
            "function": {
                "name": ("weather", "time")[number % 2],
                "arguments": json.dumps(ARGUMENTS) if as_text else ARGUMENTS,
            },
        }
        for number in range(count)
    ]
    messages = [{"role": "assistant", "content": "", "tool_calls": made}]
    found = environment.from_string(text).render(messages=messages)
    return str(found).removeprefix("<|assistant|>").removesuffix("<|end|>\n")


def language(made: str, **settings: Any) -> Language:
    return Language(from_structural_tag(json.dumps(tool_calls(made, TOOLS, **settings))).text)


@pytest.mark.parametrize("name", FORMS)
def test_the_grammar_takes_what_the_template_writes(name: str) -> None:
    made = derived_format(FORMS[name])
    most = 1 if name == "llama" else 3
    calls = [written(FORMS[name], n + 1, as_text=name == "deepseek") for n in range(most)]
    found = language(made, choice="required")
    for call in calls:
        assert found.has(call), call
        assert not found.has(call.replace("weather", "water"))
        assert not found.has(call.replace("city", "town"))
    assert not found.has("It is sunny.")
    assert not found.has(calls[0][:-1])
    assert language(made, choice="weather").has(calls[0])
    assert not language(made, choice="time").has(calls[0])
    free = language(made)
    assert free.has("It is sunny.")
    assert free.has(f"Let me see. {calls[0].lstrip()}")
    once = language(made, parallel=False)
    assert once.has(calls[0])
    assert most == 1 or not once.has(calls[1])
    assert language(made, choice="none").has("It is sunny.")
    assert not language(made, choice="none").has(f"Now {calls[0].lstrip()}")
    assert language(made, choice="required", reasoning="enabled").has(
        f"<think>\nSo be it.\n</think>\n\n{calls[0]}"
    )


def test_the_format_of_hermes_is_that_of_xgrammar() -> None:
    from kbnf_core.languages.structural_tag.models import table

    made = json.loads(derived_format(FORMS["hermes"]))
    ours, theirs = (
        tool_calls(each, TOOLS, choice="weather") for each in (json.dumps(made), "qwen_3")
    )
    assert ours == theirs
    assert made["templates"].keys() == table()["qwen_3"]["templates"].keys()


def test_a_configuration_of_a_tokenizer_has_a_template_and_tokens() -> None:
    text = "{%- for m in messages %}{{- m.content or '' }}" + (
        "{%- for c in m.tool_calls %}{{- bos_token + c.function.name }}"
        "{{- c.function.arguments | tojson + '!' }}{%- endfor %}{%- endfor %}"
    )
    named = [{"name": "default", "template": "x"}, {"name": "tool_use", "template": text}]
    config = {"bos_token": {"content": "<s>"}, "chat_template": named}
    made = derived_format(json.dumps(config))
    assert language(made, choice="time").has('<s>time{"city": "a", "day": "b"}!')
    grammar = Grammar.from_tools(TOOLS, tool_calls=made, tool_choice="required")
    assert grammar.source.text.startswith("[")


@pytest.mark.parametrize("name", ["qwen coder", "glm", "hermes"])
def test_calls_without_arguments_are_as_the_template_writes_them(name: str) -> None:
    written = {
        "qwen coder": "<tool_call>\n<function=noop>\n</function>\n</tool_call>",
        "glm": "<tool_call>noop\n</tool_call>",
        "hermes": '<tool_call>\n{"name": "noop", "arguments": {}}\n</tool_call>',
    }
    grammar = Grammar.from_tools(
        [*TOOLS, {"name": "noop"}], tool_calls=derived_format(FORMS[name]), tool_choice="required"
    )
    assert Language(grammar.to_kbnf()).has(written[name])
    assert grammar.read_value(written[name]) == [{"name": "noop", "arguments": {}}]


def test_calls_of_derived_formats_carry_their_tool() -> None:
    made = derived_format(template("{{- '[CALL]' + f.name + ' ' }}{{- f.arguments | tojson }}"))
    tools = [{"name": name} for name in ("ns:f", "a/b", "args")]
    for name in ("ns:f", "a/b", "args"):
        grammar = Grammar.from_tools(tools, tool_calls=made, tool_choice=name)
        expected: list[Any] = [{"name": name, "arguments": {}}]
        assert grammar.read_value(f"[CALL]{name} {{}}") == expected


def test_letters_are_spelt_as_the_template_spells_them() -> None:
    call = "{{- '[CALL]' + f.name + ' ' }}{{- f.arguments | tojson%s }}"
    escaped, plain = (derived_format(template(call % each)) for each in ("(ensure_ascii=True)", ""))
    text = '[CALL]time{"city": "K\\u00f6ln", "day": "b"}'.replace("{", " {", 1)
    assert language(escaped, choice="time").has(text)
    assert not language(plain, choice="time").has(text)
    assert language(plain, choice="time").has(text.replace("\\u00f6", "ö"))


def test_the_number_of_a_call_may_be_any() -> None:
    made = derived_format(template(NUMBERED))
    found = language(made, choice="required")
    calls = [written(template(NUMBERED), count, as_text=False) for count in (1, 2, 3)]
    assert all(map(found.has, calls))
    assert not found.has(calls[0].replace("<call 1>", "<call x>"))


def test_special_tokens_are_those_of_the_configuration() -> None:
    text = template("{{- bos_token + f.name }}{{- f.arguments | tojson }}{{- eos_token }}")
    with pytest.raises(ConfigError, match="`bos_token` in calls: give the folder of the model"):
        derived_format(text)
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}}
    for made in (
        derived_format(text, json.dumps(config)),
        derived_format(json.dumps({**config, "chat_template": text})),
    ):
        assert language(made, choice="time").has('<s>time{"city": "a", "day": "b"}</s>')


def test_what_transformers_knows_is_known_in_templates() -> None:
    text = template(
        "{% generation %}{{- '[C]' + f.name + f.arguments | tojson }}{% endgeneration %}"
    )
    day = (
        "{{ strftime_now('%Y') }}"
        "{% for a in [1, 2] %}{% if a > 1 %}{% break %}{% endif %}{% endfor %}"
    )
    assert language(derived_format(day + text), choice="time").has(
        '[C]time{"city": "a", "day": "b"}'
    )


END_OF_TURN = "{%- if m.tool_calls %}{{- '<|eom|>' }}{%- else %}{{- '<|end|>\\n' }}{%- endif %}"


def test_what_ends_a_turn_with_calls_may_be_another_text() -> None:
    text = template(JSON_CALL).replace("{{- '<|end|>\\n' }}", END_OF_TURN)
    assert END_OF_TURN in text
    found = language(derived_format(text), choice="required")
    assert found.has(
        '<tool_call>\n{"name": "time", "arguments": {"city": "a", "day": "b"}}\n</tool_call>'
    )


def test_a_refusal_names_formats_that_take_the_calls() -> None:
    with pytest.raises(ConfigError, match="these have markers that it has: `kimi`"):
        derived_format(
            "{{ messages.append(1) }}<|tool_calls_section_begin|><|tool_call_begin|>"
            "<|tool_call_argument_begin|><|tool_call_end|><|tool_calls_section_end|>"
        )


NUMBERED = "{{- '<call ' + loop.index | string + '>' + f.name + f.arguments | tojson + '</call>' }}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("plain {{ messages[1].content }}", "does not write the name"),
        ("{{ 1 ", "cannot be read"),
        ("{{ raise_exception('no') }}", "follows from this chat template: no"),
        (
            template(NUMBERED.replace("loop.index", "(loop.index * loop.index * 700)")),
            "otherwise|place",
        ),
        (template("{{- c.id }}"), "does not write the name"),
        (template("{{- f.name + '(' + f.arguments | string + ')' }}"), "neither JSON nor"),
        (template("{{- f.name + ' ' + f.arguments.qzone }}"), "neither JSON nor"),
        # What prints any text that it is given as arguments writes values otherwise.
        (template("{{- '[C]' + f.name }}{{- f.arguments }}"), "neither JSON nor"),
        (
            template(
                "{{- '[C]' + f.name + ' ' }}"
                "{%- if f.arguments %}{{- f.arguments | tojson }}{%- endif %}"
            ),
            "arguments with no values are written otherwise",
        ),
        (template(XML.replace("+ v +", "+ v | string +")), "arguments with values inside values"),
        (
            template(XML.replace("+ v +", "+ v | tojson | replace('<', '&lt;') +")),
            "neither JSON nor",
        ),
        (
            template(XML.replace("+ v +", "+ (v | string | replace('<', '&lt;')) +")),
            "arguments with quotes and brackets",
        ),
        (template("{%- for a in range(99999) %}{{- 'x' * 9999 }}{%- endfor %}"), "no format"),
        ("{{ messages.__class__.__mro__ }}", "no format"),
        ("{{ cycler.__init__.__globals__.os.popen('id').read() }}", "is unsafe"),
        ("{{ '{0.__class__.__init__.__globals__}'.format(cycler) }}", "is unsafe"),
        ("{% include '/etc/passwd' %}", "no loader"),
        ("{% macro f(x) %}{{ f(x) }}{% endmacro %}{{ f(1) }}", "recursion"),
        ("{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}", "recursion"),
        ("{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}", "cannot be read: .*recursion"),
        ("{% for a in [1] %}" * 30 + "{% endfor %}" * 30, "cannot be read: too many"),
        ("{{ 10 ** 5000 | string }}", "no format|cannot be read: Exceeds"),
        ("{{ raise_exception('x' * 10 ** 8) }}", "no format of tool calls"),
        (template("{{- '\ud800' + f.name + f.arguments | tojson }}"), "half of a surrogate pair"),
        ('{"model_max_length": 3}', "there is no `chat_template`"),
        ("", "no answer of the assistant"),
    ],
)
def test_what_says_no_format_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        derived_format(text)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "text",
    [
        "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x * 2 %}{% endfor %}",
        "{{ 'a' * (2 * 10 ** 9) }}",
        "{{ [1] | tojson(indent=10 ** 9) }}",
        "{{ '%1000000000d' | format(1) }}",
        "{{ 'a' | center(10 ** 10) }}",
        "{{ ('a' * 10 ** 5) | replace('a', 'a' * 10 ** 5) }}",
        "{{ range(3) | batch(10 ** 9, 'x') | list }}",
        "{{ range(99999) | list * 10 ** 6 }}",
        "{% if 0 %}{{ 'a' * 10 ** 10 }}{% endif %}{{ 'a' * 10 ** 10 }}",
    ],
)
def test_a_template_that_takes_much_memory_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="it takes more than 512 MB of memory") as refused:
        derived_format(text)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{{ lipsum(n=100000) }}",
        "{% for a in range(99999) %}{{ range(99999) | sum }}{% endfor %}",
    ],
)
def test_a_template_that_takes_long_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "SECONDS", 1.0)
    with pytest.raises(ConfigError, match=r"the chat template takes too long: .* 1 s"):
        derived_format(text)


def test_a_template_whose_process_is_killed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "_derived", calls.kill_for)
    with pytest.raises(ConfigError, match="cannot be rendered: it ended its process"):
        derived_format(FORMS["hermes"])


def test_a_format_is_derived_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    class Child(processes._Child):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            started.append(arguments)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(processes, "_Child", Child)
    derived_format(FORMS["hermes"])
    assert len(started) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "has `templates` and `shared`"),
        ('{"templates": {}, "shared": []}', "has nothing for `auto disabled`"),
        ('{"templates": {"auto disabled": {"shared": 7}}, "shared": []}', "no shared part 7"),
        ('{"templates": {"auto disabled": {"shared": 0}}, "shared": [{"shared": 0}]}', "deep"),
        (
            '{"templates": {"auto disabled": ' + "[" * 90_000 + "]" * 90_000 + '}, "shared": []}',
            "format",
        ),
    ],
)
def test_a_format_in_json_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Grammar.from_tools(TOOLS, tool_calls=text)


def test_thoughts_of_a_prompt_in_one_line_begin_with_their_marker() -> None:
    template = (
        "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}"
        "{% for c in m.tool_calls %}{% if m.reasoning %}<think>{{ m.reasoning }}</think>{% endif %}"
        "<call>{{ c.function.name }} {{ c.function.arguments | tojson }}</call>{% endfor %}"
        "{% endfor %}{% if add_generation_prompt %}<|assistant|><think>{% endif %}"
    )
    found = json.loads(derived_format(template))
    ends = [each for each in found["shared"] if each.get("end") == "</think>"]
    assert {each["begin"] for each in ends} == {"", "<think>"}


K3_CALL = (
    "{{- '<|open|>call tool=\"' + f.name + '\" index=\"' ~ loop.index ~ '\"<|sep|>' }}"
    "{%- for k, v in f.arguments.items() %}{{- '<|open|>argument key=\"' + k + '\" type=\"' }}"
    "{{- 'string' if v is string else 'object' }}{{- '\"<|sep|>' }}"
    "{{- v if v is string else v | tojson }}{{- '<|close|>argument<|sep|>' }}{%- endfor %}"
    "{{- '<|close|>call<|sep|>' }}"
)


def test_a_refused_template_names_the_format_that_has_its_markers() -> None:
    around = "<|open|>response<|sep|><|close|>response<|sep|><|open|>tools<|sep|>"
    text = template(K3_CALL, around, "<|close|>tools<|sep|><|close|>message<|sep|>")
    text = f"{{# <|open|>think<|sep|> <|close|>think<|sep|> #}}{text}"
    with pytest.raises(ConfigError, match=r"of the formats by name, .*: `kimi_k3`"):
        derived_format(text)


def test_the_end_of_a_turn_is_that_of_an_answer() -> None:
    template = (
        "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}"
        "{% for call in message.tool_calls %}[CALL]{{ call.function.name }} "
        "{{ call.function.arguments | tojson }}[END]{% endfor %}<|im_end|>\n{% endfor %}"
    )
    format_ = derived_format(template)
    assert json.loads(format_)["turn_ends"] == ["<|im_end|>"]
    assert ToolCalls(format_, [{"name": "f"}]).whole("Hi<|im_end|>\n") == ("Hi", [])
