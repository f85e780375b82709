"""``kbnf lsp``: a language server on stdin and stdout, with diagnostics, navigation and help."""

import logging
import os
import sys

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.options import common_options
from kbnf_core.text.errors import MissingExtraError


@click.command()
@common_options
@click.pass_obj
def lsp(console: Console) -> int:
    """Run the language server for editors.

    It offers findings while typing, fixes, navigation and formatting.

    An editor starts this command and speaks the Language Server Protocol with it on stdin and
    stdout; messages for people go to stderr. Reads KBNF, GBNF, Lark, BNF and ABNF. It reads other
    files only in the folders of the workspace, or, without one, in the folder of a file.
    Needs the extra `lsp`: pip install '.[lsp]'.
    """
    try:
        from kbnf_cli.lsp.server import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise MissingExtraError("a language server", "lsp") from None
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    for handler in logging.getLogger().handlers:
        handler.addFilter(_without_answers)
    del console
    # The protocol has the stream for itself: what a library prints must not get between.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        make_server().start_io(None, answers)
    return Exit.CLEAN


def _without_answers(record: logging.LogRecord) -> bool:
    """Drop what a client is told in an answer, and the trace of how a message was not read."""
    from pygls.exceptions import JsonRpcException

    record.msg, record.args = record.getMessage().partition("\n")[0], ()
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))
