"""The engine as a structured output backend of vLLM, in the place of ``guidance``; a tool parser.

vLLM has no registry of backends, so this one takes the place of a known name. It does so only
where the environment has ``KBNF_VLLM=1``. The tool parser ``kbnf`` is added where it names a format
of calls (``KBNF_TOOL_CALLS``). Both are for a version of vLLM that they were tested with; whatever
goes wrong, vLLM stays as it is. vLLM calls ``register`` in each of its processes.
"""

import logging
import os
from importlib.metadata import PackageNotFoundError, version

KNOWN_VERSIONS = frozenset({"0.33.0"})
VARIABLE = "KBNF_VLLM"
OF_CALLS = "KBNF_TOOL_CALLS"

_logger = logging.getLogger(__name__)


def register() -> None:
    """Take the place of ``guidance``, and add the tool parser, where that is asked for."""
    is_backend, has_calls = os.environ.get(VARIABLE) == "1", bool(os.environ.get(OF_CALLS))
    if not is_backend and not has_calls:
        return
    try:
        found = version("vllm")
    except PackageNotFoundError:
        found = "none"
    if found not in KNOWN_VERSIONS:
        known = ", ".join(sorted(KNOWN_VERSIONS))
        _logger.warning("kbnf-vllm is for vLLM %s, not %s: vLLM stays as it is", known, found)
        return
    if is_backend:
        _add_backend()
    if has_calls:
        _add_tool_parser()


def _add_backend() -> None:
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


def _add_tool_parser() -> None:
    try:
        from vllm.tool_parsers.abstract_tool_parser import ToolParserManager
    except ImportError:
        _logger.exception("the tool parser of kbnf-vllm cannot be added: vLLM stays as it is")
        return
    ToolParserManager.register_lazy_module("kbnf", "kbnf_vllm.tool_parser", "KbnfToolParser")
