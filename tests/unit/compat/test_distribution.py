"""The distribution kbnf-compat: the top-level module ``kbnf``, with the binding's submodules."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[3] / "integrations" / "kbnf-compat"


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(PLACE)},
    )
    return done.stdout.strip()


def test_a_program_of_the_binding_runs_by_its_keywords() -> None:
    program = """
        import kbnf
        from kbnf.engine import Engine
        assert Engine is kbnf.Engine
        tokens = {0: kbnf.Token(b"a"), 1: kbnf.Token(b"b")}
        vocabulary = kbnf.Vocabulary(id_to_token=tokens, id_to_token_string={0: "a", 1: "b"})
        engine = kbnf.Engine(
            kbnf_syntax_grammar_str="start ::= 'a'+ 'b';", vocabulary=vocabulary,
            config=kbnf.Config(),
        )
        print(engine.try_accept_new_token(0), engine.try_accept_new_token(1))
    """
    assert run(program) == "AcceptTokenResult.Ongoing AcceptTokenResult.Finished"


def test_logits_of_a_batch_are_masked_without_triton() -> None:
    pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")
    program = """
        import torch, kbnf
        from kbnf.triton_logits_mask import mask_logits_inplace
        vocabulary = kbnf.Vocabulary({0: b"a", 1: b"b", 2: b"c"}, {})
        engines = [kbnf.Engine(f"start ::= '{text}';", vocabulary) for text in "abc"]
        for engine in engines:
            engine.compute_allowed_token_ids()
        logits = torch.zeros(3, 3)
        mask_logits_inplace(logits, torch.zeros((3, 1), dtype=torch.int32), engines)
        one = torch.zeros(3)
        mask_logits_inplace(one, torch.zeros(1, dtype=torch.int32), engines[:1])
        some = torch.zeros(3, 3)
        bitmasks = [torch.zeros(1, dtype=torch.int32) for _ in engines]
        mask_logits_inplace(some, bitmasks, engines, indices=[1])
        print([(each == 0).int().tolist() for each in (logits, one, some)])
    """
    one = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert run(program) == str([one, [1, 0, 0], [[1, 1, 1], [0, 1, 0], [1, 1, 1]]])


def test_a_head_wider_than_the_vocabulary_is_refused_what_lies_in_memory() -> None:
    pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")
    program = """
        import torch, kbnf
        from kbnf.triton_logits_mask import mask_logits_inplace
        engine = kbnf.Engine("start ::= 'a';", kbnf.Vocabulary({0: b"a", 1: b"b"}, {}))
        engine.compute_allowed_token_ids()
        logits = torch.zeros(70)
        mask_logits_inplace(logits, torch.full((3,), -1, dtype=torch.int32), [engine])
        print(torch.nonzero(logits == 0).flatten().tolist())
    """
    assert run(program) == "[0]"
