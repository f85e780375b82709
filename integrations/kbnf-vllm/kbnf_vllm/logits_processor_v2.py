"""A logits processor for vLLM's model runner V2, given by its class name.

``--logits-processors kbnf_vllm.logits_processor_v2:KbnfLogitsProcessor``; a request asks by
``extra_args={"kbnf_regex": "..."}``, see ``requests.KINDS``. The tokens of requests are on the
device there, so a step with a constrained request waits for them.
"""

from typing import Any

from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor

from kbnf_core import allocate_bitmask, apply_bitmask
from kbnf_vllm.requests import Follower, Requests, validate


class KbnfLogitsProcessor(LogitsProcessor):  # type: ignore[misc] # the host is not typed
    """Constrains the requests that ask for it, in all rows of their drafts."""

    def __init__(self, vllm_config: Any, req_states: Any) -> None:
        super().__init__(vllm_config, req_states)
        self._states = req_states
        self._requests = Requests(vllm_config)
        self._followers: dict[int, Follower] = {}

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raise ``ValueError`` for a grammar that cannot be used."""
        validate(sampling_params)

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """Take a slot for a request; return whether it is constrained."""
        self._followers.pop(req_idx, None)
        follower = self._requests.follow(sampling_params)
        if follower is not None:
            self._followers[req_idx] = follower
        return follower is not None

    def apply(self, logits: Any, ctx: Any) -> Any:
        """Return the logits, those of tokens that cannot come at minus infinity."""
        slots = [slot for slot in ctx.idx_mapping_np.tolist() if slot in self._followers]
        if not slots:
            return logits
        self._append_new(slots)
        rows: dict[int, list[int]] = {slot: [] for slot in slots}
        for row, slot in enumerate(ctx.expanded_idx_mapping.tolist()):
            if slot in rows:
                rows[slot].append(row)
        inputs = ctx.input_ids.tolist()
        bitmask = allocate_bitmask(*logits.shape)
        for slot, (first, *others) in rows.items():
            # Behind the first row, inputs are the tokens of the draft.
            self._followers[slot].text.fill(bitmask, first, [inputs[row] for row in others])
        return apply_bitmask(logits, bitmask, [row for each in rows.values() for row in each])

    def _append_new(self, slots: list[int]) -> None:
        """Append what was sampled since the last step, in one copy from the device."""
        import torch

        states = self._states
        totals = states.total_len.gpu[slots].tolist()
        starts = [int(states.prompt_len.np[each]) + self._followers[each].seen for each in slots]
        counts = [max(total - start, 0) for total, start in zip(totals, starts, strict=True)]
        tokens = states.all_token_ids.gpu
        places = torch.tensor(starts)[:, None] + torch.arange(max(counts))
        places = places.clamp(max=tokens.shape[1] - 1).to(tokens.device)
        new = tokens[torch.tensor(slots, device=tokens.device)[:, None], places].tolist()
        for slot, count, row in zip(slots, counts, new, strict=True):
            self._followers[slot].append(row[:count])
