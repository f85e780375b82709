"""A logits processor for vLLM's V1 sampler, given by its class name.

``--logits-processors kbnf_vllm.logits_processor:KbnfLogitsProcessor``; a request asks by
``extra_args={"kbnf_regex": "..."}``, see ``requests.KINDS``.
"""

from typing import Any

from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

from kbnf_vllm.requests import Follower, Requests, validate


class KbnfLogitsProcessor(AdapterLogitsProcessor):  # type: ignore[misc] # the host is not typed
    """Constrains the requests that ask for it."""

    def __init__(self, vllm_config: Any, device: Any, is_pin_memory: bool) -> None:
        super().__init__(vllm_config, device, is_pin_memory)
        self._requests = Requests(vllm_config)

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Raise ``ValueError`` for a grammar that cannot be used."""
        validate(sampling_params)

    def is_argmax_invariant(self) -> bool:
        """Tell that the best token may become another."""
        return False

    def new_req_logits_processor(self, params: Any) -> Follower | None:
        """Return what constrains a request; None for one that is free."""
        return self._requests.follow(params)
