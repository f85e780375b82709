"""Resident memory beyond interpreter, vocabulary and its slices; run as a process of its own."""

import json
import sys
from dataclasses import fields

from benchmarks.engines import Ours
from benchmarks.measure import in_own_process, resident
from benchmarks.vocabulary import read_setting
from benchmarks.workloads import WORKLOADS
from kbnf_core.mask.slices import slice_set_of
from kbnf_core.vocab.trie import TokenTrie


def measure_memory(tokens: int) -> dict[str, float]:
    """Return MB of the vocabulary's slices, and of the JSON grammar after a pass over documents."""
    found: dict[str, float] = in_own_process("benchmarks.memory", tokens)
    return found


def _main(tokens: int) -> None:
    setting = read_setting()
    workload = WORKLOADS[0]
    documents = workload.documents(setting.encode, tokens)
    _touch(setting.vocabulary.trie)
    alone = resident()
    # All grammars share them, so they are no part of what one takes.
    slice_set_of(setting.vocabulary)
    before = resident()
    matcher = Ours(setting).make(workload)
    matcher.begin()
    matcher.mask()
    first = resident()
    for document in documents:
        matcher.begin()
        for token in document:
            matcher.mask()
            matcher.accept(token)
    figures = {"first mask": first - before, "after all": resident() - before}
    print(json.dumps({"slices": before - alone} | figures))


def _touch(trie: TokenTrie) -> None:
    """Read every page of the mapped vocabulary, so that it counts as the vocabulary's."""
    for field in fields(trie):
        getattr(trie, field.name).sum()


if __name__ == "__main__":
    _main(int(sys.argv[1]))
