"""Chat templates for tests: the texts around calls are those of no model, the call is given."""


def template(call: str, before: str = "", after: str = "", between: str = "") -> str:
    """Return a chat template; ``call`` has the call as ``f``, and the name and arguments in it."""
    separator = f"{{%- if not loop.first %}}{{{{- {between!r} }}}}{{%- endif %}}" if between else ""
    return (
        "{%- for m in messages %}{%- if m.role == 'user' %}{{- '<|user|>' + m.content }}"
        "{%- else %}{{- '<|assistant|>' }}"
        "{%- if m.reasoning_content %}"
        "{{- '<think>\\n' + m.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}"
        "{{- m.content or '' }}"
        f"{{%- if m.tool_calls %}}{{{{- {before!r} }}}}{{%- for c in m.tool_calls %}}{separator}"
        f"{{%- set f = c.function %}}{call}{{%- endfor %}}{{{{- {after!r} }}}}{{%- endif %}}"
        "{{- '<|end|>\\n' }}{%- endif %}{%- endfor %}"
        "{%- if add_generation_prompt %}{{- '<|assistant|>' }}{%- endif %}"
    )


JSON_CALL = (
    """{{- '<tool_call>\\n{"name": "' + f.name + '", "arguments": ' }}"""
    "{{- f.arguments | tojson }}{{- '}\\n</tool_call>' }}"
)
XML_VALUES = (
    "{{- '<tool_call>\\n<function=' + f.name + '>\\n' }}{%- for k, v in f.arguments.items() %}"
    "{{- '<parameter=' + k + '>\\n' }}{{- VALUE }}{{- '\\n</parameter>\\n' }}{%- endfor %}"
    "{{- '</function>\\n</tool_call>' }}"
)
"""A call in XML, whose values are written by ``VALUE``."""

LFM = (
    "{{- f.name + '(' }}{%- for k, v in f.arguments.items() %}"
    "{%- if not loop.first %}{{- ', ' }}{%- endif %}{{- k + '=' }}"
    """{%- if v is string %}{{- "'" + v + "'" }}{%- elif v is mapping %}{{- v | tojson }}"""
    "{%- else %}{{- v | string }}{%- endif %}{%- endfor %}{{- ')' }}"
)
"""A call as in LFM2.5: strings as they are in single quotes, objects as JSON, else as in Python."""
