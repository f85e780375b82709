"""The grammar backend ``kbnf`` of SGLang: ``--grammar-backend kbnf``.

SGLang calls ``register`` in each of its processes. It adds a name, and does nothing in a version
that this one was not tested with; it raises nothing, so it stops no server.
"""

import logging
from importlib.metadata import PackageNotFoundError, version

KNOWN_VERSIONS = frozenset({"0.5.23"})

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
