"""A store in S3: cut uploads are sent again, damage is a miss, and nobody reads the credentials.

Needs the extra ``store`` and moto; ``pytest -m slow`` runs it.
"""

import json
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbnf_core import Grammar, Vocabulary
from kbnf_core.engine import Engine
from kbnf_core.farm import MADE, Task, run_task
from kbnf_core.store import ArtifactStore, StoreWarning, open_store
from kbnf_core.store.backend import DirectoryStore, StoreError
from kbnf_core.store.fsspec_store import FsspecStore
from kbnf_core.store.keys import recipe_of
from kbnf_testing.cutting_s3 import BUCKET, CREDENTIALS, cutting_s3
from kbnf_testing.farm import content

pytestmark = pytest.mark.slow

KEY, SECRET = CREDENTIALS["AWS_ACCESS_KEY_ID"], CREDENTIALS["AWS_SECRET_ACCESS_KEY"]
PLACE = f"s3://{KEY}:{SECRET}@{BUCKET}"
BYTES = Vocabulary.bytes()


def text(number: int) -> str:
    return f"start ::= '{{' #'[a-z]{{1,{number}}}' '}}';"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Yield the address of an S3 that cuts every second upload."""
    pytest.importorskip("moto.server", reason="needs moto[server]")
    pytest.importorskip("s3fs", reason="needs the extra store")
    with cutting_s3(every=2) as found:
        yield found


@pytest.fixture
def url(server: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    """Return the URL of a store, with the credentials in it and nowhere else."""
    for name in CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", CREDENTIALS["AWS_DEFAULT_REGION"])
    monkeypatch.setenv("AWS_ENDPOINT_URL", server)
    return f"{PLACE}/{request.node.name}"


def filled(url: str, count: int) -> list[Task]:
    store = open_store(url)
    store.put_vocabulary(BYTES)
    tasks = [
        Task(url, str(number), recipe_of(text(number)), BYTES.fingerprint)
        for number in range(1, count + 1)
    ]
    assert {run_task(task).status for task in tasks} == {MADE}
    return tasks


def test_uploads_that_are_cut_are_sent_again(url: str, tmp_path: Path) -> None:
    filled(url, 8)
    filled(str(tmp_path / "store"), 8)
    store = open_store(url)
    assert content(store.backend) == content(DirectoryStore(tmp_path / "store"))
    contents = {name: name.encode() * 100 for name in map("objects/{}".format, range(20))}
    assert all(store.backend.put_if_absent(*each) for each in contents.items())
    assert not any(store.backend.put_if_absent(*each) for each in contents.items())
    assert {name: content(store.backend)[name] for name in contents} == contents


@pytest.mark.parametrize("folder", ["inputs", "objects"])
def test_damage_is_a_miss_and_a_note_and_mended(url: str, folder: str) -> None:
    [task] = filled(url, 1)
    backend = FsspecStore(url)
    before = content(backend)
    [victim] = backend.keys(f"{folder}/")
    backend.remove(victim)
    assert backend.put_if_absent(victim, before[victim][:-9])
    reader = ArtifactStore(FsspecStore(url), open_store(url).cache)
    reader.cache.drop(task.key)
    with pytest.warns(StoreWarning, match="compiled again") as notes:
        assert reader.get(task.key) is None
    assert not any(SECRET in str(note.message) for note in notes)
    assert reader.metrics["damaged"] == 1
    grammar = Grammar.from_store(url, text(1), BYTES)
    assert Engine(grammar, BYTES)
    assert content(FsspecStore(url)) == before


def test_an_exception_does_not_show_the_credentials(url: str) -> None:
    for wrong in (url.replace(BUCKET, "no-such-bucket"), url.replace("s3:", "nowhere:")):
        with pytest.raises(StoreError) as caught:
            FsspecStore(wrong).put_if_absent("objects/a", b"a")
        shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
        assert SECRET not in shown
        assert f"{KEY}:" not in shown
        assert "***" in shown or "@" not in shown
    assert SECRET not in repr(Task(url, "a", recipe_of(text(1))))


@pytest.mark.parametrize("bucket", [BUCKET, "no-such-bucket"])
def test_a_command_does_not_show_the_credentials(url: str, bucket: str, tmp_path: Path) -> None:
    place = url.replace(BUCKET, bucket)
    (tmp_path / "a.kbnf").write_text(text(1))
    (tmp_path / "bad.kbnf").write_text("start ::= undefined;")
    options = ("--store", place, "--vocab", "bytes", "--report", "report", "-j", "2")
    commands: list[tuple[str, ...]] = [("compile", *options, "a.kbnf", "bad.kbnf")]
    commands += [("store", action, place) for action in ("ls", "info", "verify", "gc")]
    is_there = bucket == BUCKET
    for command, status in zip(commands, [1, 0, 0, 0, 0] if is_there else [2] * 5, strict=True):
        run = subprocess.run(
            [sys.executable, "-m", "kbnf_cli", *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == status, run.stderr
        assert SECRET not in run.stdout + run.stderr
        assert "Traceback" not in run.stderr
        assert is_there or f"s3://{bucket}/" in run.stderr
    if is_there:
        report = (tmp_path / "report").read_text(encoding="utf-8")
        assert SECRET not in report
        assert {json.loads(line)["status"] for line in report.splitlines()} == {"made", "refused"}
