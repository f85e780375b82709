"""What engines say of constructs: taken or refused.

A grammar in the engine's own language is given to it as it is; any other is converted to it.
"""

import subprocess
from collections.abc import Callable
from pathlib import Path

from kbnf_core.convert import to_gbnf, to_lark
from kbnf_core.text.errors import GrammarError
from kbnf_testing.lark_peers import llguidance_accepts
from kbnf_testing.peer import Peer
from kbnf_testing.target_cases import CASES

_TOKENS = {byte: bytes([byte]) for byte in range(256)}

Takes = Callable[[str], bool]
Verdicts = dict[str, dict[str, str]]
"""By extension and name of the construct."""


def kbnf_verdicts(peer: Peer) -> Verdicts:
    """Ask kbnf."""
    return {".kbnf": _ask(".kbnf", lambda text: not peer.run(text, _TOKENS, []).error)}


def xgrammar_verdicts() -> Verdicts:
    """Ask xgrammar, of which the GBNF is."""
    return _through_gbnf(_xgrammar_takes)


def llama_verdicts(checker: Path) -> Verdicts:
    """Ask the program that ``tests/differential/llama_cpp.py`` makes."""
    return _through_gbnf(lambda text: _llama_takes(checker, text))


def llguidance_verdicts() -> Verdicts:
    """Ask llguidance; losses of the conversion, which are invalid bytes, count as refused."""
    return {
        ".kbnf": _ask(
            ".kbnf", lambda text: _is_kept(text) and _llguidance_takes(to_lark(text).text)
        ),
        ".lark": _ask(".lark", _llguidance_takes),
    }


def xgrammar_takes(text: str) -> bool:
    """Ask xgrammar about GBNF."""
    return _safely(_xgrammar_takes, text)


def llama_takes(checker: Path, text: str) -> bool:
    """Ask llama.cpp's parser about GBNF."""
    return _llama_takes(checker, text)


def _through_gbnf(takes: Takes) -> Verdicts:
    return {
        ".kbnf": _ask(".kbnf", lambda text: takes(to_gbnf(text).text)),
        ".gbnf": _ask(".gbnf", takes),
    }


def _ask(extension: str, takes: Takes) -> dict[str, str]:
    return {
        name: "taken" if _safely(takes, text) else "refused"
        for name, text in CASES[extension].items()
    }


def _safely(takes: Takes, text: str) -> bool:
    try:
        return takes(text)
    except (GrammarError, ValueError, RuntimeError):
        return False


def _is_kept(text: str) -> bool:
    """Return whether every terminal has texts left: the conversion notes where one has not."""
    return not any(line.startswith("nothing:") for line in to_lark(text).text.splitlines())


def _llguidance_takes(text: str) -> bool:
    llguidance_accepts(text)
    return True


def _xgrammar_takes(text: str) -> bool:
    import xgrammar

    info = xgrammar.TokenizerInfo([bytes([byte]) for byte in range(256)], stop_token_ids=[0])
    xgrammar.GrammarCompiler(info).compile_grammar(xgrammar.Grammar.from_ebnf(text))
    return True


def _llama_takes(checker: Path, text: str) -> bool:
    # Some grammars make it ask for all memory there is, or run for ever.
    limited = f"ulimit -v 2000000; exec timeout 20 '{checker}'"
    done = subprocess.run(
        ["bash", "-c", limited], input=text.encode(), capture_output=True, check=False
    )
    return done.returncode == 0
