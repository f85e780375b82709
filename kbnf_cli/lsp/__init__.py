"""``kbnf lsp``: a language server on stdin and stdout, with diagnostics, navigation and help.

Tests: tests/lsp/test_workshop.py
"""

import logging
import os
import re
import sys
from typing import BinaryIO, cast

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.options import common_options
from kbnf_core.text.errors import MissingExtraError
from kbnf_core.text.limits import DEFAULT_LIMITS


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
        make_server().start_io(cast(BinaryIO, _Input(sys.stdin.buffer)), answers)
    return Exit.CLEAN


LARGEST_MESSAGE = 4 * DEFAULT_LIMITS.source_bytes
"""The largest Content-Length, in bytes: a text that may be read, with all of it escaped."""

_LONGEST_HEADER = 1 << 16
_HEADER = re.compile(rb"Content-Length:\s*(\d+)\s*$")


class _Input:
    """The messages on a stream: invalid ones, and those that are too long, are skipped.

    The reader of pygls waits for as many bytes as a header announces, and takes a header for one
    only where nothing is before it on its line.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        """Return the next line, from the header in it on."""
        line = self._stream.readline(_LONGEST_HEADER)
        header = _HEADER.search(line)
        if header is None:
            return line
        # More digits than those of any length are not a number to be read.
        if len(header[1]) > len(str(LARGEST_MESSAGE)) or int(header[1]) > LARGEST_MESSAGE:
            logging.getLogger(__name__).warning("a message is too long and not read")
            return b"\n"
        return b"Content-Length: %s\r\n" % header[1]

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer at the end."""
        return self._stream.read(size)


def _without_answers(record: logging.LogRecord) -> bool:
    """Drop the text of answers to clients, and the trace of a message that could not be read."""
    from pygls.exceptions import JsonRpcException

    record.msg, record.args = record.getMessage().partition("\n")[0], ()
    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))
