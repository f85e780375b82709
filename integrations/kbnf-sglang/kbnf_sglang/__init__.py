"""The grammar backend ``kbnf`` of SGLang, ``--grammar-backend kbnf``, and a parser of tool calls.

SGLang calls ``register`` in each of its processes. It adds a name, and where the environment names
a format of calls (``KBNF_TOOL_CALLS``) that of the parser, ``--tool-call-parser kbnf``. It does
nothing in a version that this one was not tested with; it raises nothing, so it stops no server.
"""

import logging
import os
from importlib.metadata import PackageNotFoundError, version

KNOWN_VERSIONS = frozenset({"0.5.23"})
OF_CALLS = "KBNF_TOOL_CALLS"

_logger = logging.getLogger(__name__)


def register() -> None:
    """Add the backend to those that can be chosen."""
    try:
        found = version("sglang")
    except PackageNotFoundError:
        found = "none"
    if found not in KNOWN_VERSIONS:
        known = ", ".join(sorted(KNOWN_VERSIONS))
        _logger.warning("kbnf-sglang is for SGLang %s, not %s: no backend is added", known, found)
        return
    try:
        from sglang.srt.arg_groups.choices import add_grammar_backend_choices
        from sglang.srt.constrained.base_grammar_backend import register_grammar_backend

        from kbnf_sglang.server import create
    except ImportError:
        _logger.exception("kbnf-sglang cannot be imported: no backend is added")
        return
    register_grammar_backend("kbnf", create)
    add_grammar_backend_choices(["kbnf"])
    if os.environ.get(OF_CALLS):
        _add_detector()


def _add_detector() -> None:
    try:
        from sglang.srt.function_call.function_call_parser import FunctionCallParser

        from kbnf_sglang.detector import KbnfDetector
    except ImportError:
        _logger.exception("the parser of tool calls of kbnf-sglang cannot be added")
        return
    FunctionCallParser.ToolCallParserEnum["kbnf"] = KbnfDetector
