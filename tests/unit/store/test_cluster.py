"""A farm of workers that are killed, over an S3 that cuts uploads, ends as a serial run.

Needs the extras ``store``, ``dask`` (and ``ray``), moto and the schemas of maskbench;
`pytest -m slow` runs it.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kbnf_cli.store import open_workers
from kbnf_core import Vocabulary
from kbnf_core.farm import QUARANTINED, Task, TaskOutcome, run_tasks
from kbnf_core.processes import Pool, ProcessError
from kbnf_core.store import open_store
from kbnf_core.store.backend import DirectoryStore
from kbnf_core.store.keys import recipe_of
from kbnf_testing.cutting_s3 import BUCKET, CREDENTIALS, cutting_s3
from kbnf_testing.data import OUTSIDE
from kbnf_testing.farm import Counting, content, killer

pytestmark = [pytest.mark.slow, pytest.mark.data]

SCHEMAS = int(os.environ.get("KBNF_FARM_SCHEMAS", "600"))
WORKERS = 3
PYTHONPATH = os.pathsep.join(filter(None, sys.path))
PRELOADED = ["distributed", "s3fs", "aiobotocore.session", "kbnf_testing.farm_preload"]


def schemas() -> Iterator[tuple[str, str]]:
    """Yield real schemas with their names, and then them again with a property renamed."""
    assert OUTSIDE is not None
    files = sorted((OUTSIDE / "maskbench").glob("*.json"))
    for number in range(SCHEMAS):
        file = files[number % len(files)]
        schema = json.loads(file.read_text(encoding="utf-8"))["schema"]
        text = json.dumps(schema)
        names = list(schema.get("properties", ())) if isinstance(schema, dict) else []
        if number >= len(files) and names:
            text = text.replace(json.dumps(names[0]), json.dumps(f"{names[0]}_{number}"))
        yield f"{file.stem}:{number}", text


def tasks_for(url: str) -> list[Task]:
    vocabulary = Vocabulary.bytes()
    open_store(url).put_vocabulary(vocabulary)
    tokens = recipe_of("<start>::=<any!><start>|'!'", language="BNF")
    tasks = [Task(url, name, recipe_of(text, language="JSON Schema")) for name, text in schemas()]
    return [*tasks, Task(url, "tokens", tokens, vocabulary.fingerprint)]


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return what one worker that nobody disturbs writes into a folder."""
    url = tmp_path_factory.mktemp("serial") / "store"
    with Pool(1) as one:
        assert list(run_tasks(tasks_for(str(url)), one, (ProcessError,), 2))
    return content(DirectoryStore(url))


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    pytest.importorskip("moto.server", reason="needs moto[server]")
    pytest.importorskip("s3fs", reason="needs the extra store")
    with cutting_s3(every=20) as found:
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": found}.items():
            monkeypatch.setenv(name, value)
        yield found


def check(
    outcomes: list[TaskOutcome], tasks: list[Task], log: Path, killed: list[int], window: int
) -> None:
    """Say what happened, and compare it with what may happen."""
    runs = len(log.read_text().splitlines())
    found = Counter(outcome.status for outcome in outcomes)
    print(f"{len(tasks)} tasks, {runs} begun, {len(killed)} workers killed, {dict(found)}")  # noqa: T201
    assert len(outcomes) == len(tasks)
    assert not found[QUARANTINED]
    assert runs - len(tasks) <= len(killed) * window


def test_dask_over_s3(
    address: str, serial: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    dask = pytest.importorskip("dask", reason="needs the extra dask")
    # Workers live for six seconds: on two cores they would spend them on imports.
    # (Python 3.11 does not tell the process that they are forked of where modules are.)
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    distributed.utils.get_mp_context().set_forkserver_preload(PRELOADED)
    url = f"s3://{BUCKET}/farm"
    cluster: Any = distributed.LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, dashboard_address=None
    )

    def workers() -> list[int]:
        return [nanny.pid for nanny in list(cluster.workers.values()) if nanny.pid]

    log = tmp_path / "log"
    place = cluster.scheduler_address.replace("tcp://", "dask://")
    with cluster, open_workers(place, 0) as opened, killer(workers, 2.0) as killed:
        # A nanny does not start another worker for one that is killed while it starts.
        cluster.adapt(minimum=WORKERS, maximum=WORKERS)
        tasks = tasks_for(url)
        executor = Counting(opened.executor, log)
        outcomes = list(run_tasks(tasks, executor, opened.lost, 2 * WORKERS))
        check(outcomes, tasks, log, killed, 2 * WORKERS)
    assert killed
    assert content(open_store(url).backend) == serial


def test_ray(serial: dict[str, bytes], tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    from kbnf_cli.store import ray_workers

    paths = {"env_vars": {"PYTHONPATH": PYTHONPATH}}
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, runtime_env=paths)
    log = tmp_path / "log"
    url = str(tmp_path / "store")

    def workers() -> list[int]:
        import psutil

        found = []
        for child in psutil.Process().children(recursive=True):
            # One that ended just now has no command line; agents take their node with them.
            with suppress(psutil.Error):
                if child.cmdline()[:1] and child.cmdline()[0].startswith(
                    ("ray::_call", "ray::IDLE")
                ):
                    found.append(child.pid)
        return found

    try:
        opened = ray_workers(ray)
        tasks = tasks_for(url)
        with killer(workers, 2.0) as killed:
            executor = Counting(opened.executor, log)
            outcomes = list(run_tasks(tasks, executor, opened.lost, 2 * WORKERS))
        check(outcomes, tasks, log, killed, 2 * WORKERS)
    finally:
        ray.shutdown()
    assert killed
    assert content(DirectoryStore(url)) == serial
