"""The engine as a structured output backend of vLLM, in the place of ``guidance``.

vLLM has no registry of backends, so this one takes the place of a known name. It does so only
where the environment has ``KBNF_VLLM=1`` and vLLM is a version that this one was tested with;
whatever goes wrong, vLLM stays as it is. vLLM calls ``register`` in each of its processes.
"""

import logging
import os
from importlib.metadata import PackageNotFoundError, version

KNOWN_VERSIONS = frozenset({"0.33.0"})
VARIABLE = "KBNF_VLLM"

_logger = logging.getLogger(__name__)


def register() -> None:
    """Take the place of ``guidance``, where that is asked for."""
    if os.environ.get(VARIABLE) != "1":
        return
    try:
        found = version("vllm")
    except PackageNotFoundError:
        found = "none"
    if found not in KNOWN_VERSIONS:
        known = ", ".join(sorted(KNOWN_VERSIONS))
        _logger.warning("kbnf-vllm is for vLLM %s, not %s: vLLM stays as it is", known, found)
        return
    try:
        from vllm.v1 import structured_output
        from vllm.v1.structured_output import backend_guidance

        from kbnf_vllm.backend import KbnfBackend, validate
    except ImportError:
        _logger.exception("kbnf-vllm cannot be imported: vLLM stays as it is")
        return
    structured_output.GuidanceBackend = KbnfBackend
    backend_guidance.validate_guidance_grammar = validate
    _logger.info("kbnf-vllm answers for the structured output backend guidance")
