"""The reference engines as fixtures, each in an environment and a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbnf_testing.peer import Peer

_HERE = Path(__file__).parent

_PEERS = Path(__file__).with_name("peers.py")


def _peer(version: str) -> Peer:
    made = subprocess.run(
        [sys.executable, str(_PEERS), version], check=True, capture_output=True, text=True
    )
    return Peer(Path(made.stdout.strip()), version)


@pytest.fixture(scope="session")
def peers() -> Iterator[dict[str, Peer]]:
    """Both versions, by version."""
    with _peer("0.2.9") as seed, _peer("0.4.2") as newest:
        yield {peer.version: peer for peer in (seed, newest)}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder: each needs a peer."""
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker("differential")
