"""``kbnf store`` and ``kbnf compile --store``: stores of artifacts managed, and filled.

Tasks of ``compile --store`` run in processes here, or on a cluster of Dask or Ray.

Tests: tests/cli/test_store.py
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click
from click.core import ParameterSource

from kbnf_cli.console import Console, Exit
from kbnf_cli.files import STDIN, FileChoice, find_grammars, read_source
from kbnf_cli.inputs import (
    Inputs,
    own_options,
    permitted_imports,
    read_vocabulary,
)
from kbnf_cli.options import common_options, examples
from kbnf_core.languages import EXTENSIONS
from kbnf_core.processes import Pool, ProcessError
from kbnf_core.text.diagnostics.segments import visible
from kbnf_core.text.errors import GrammarError, KbnfError, MissingExtraError
from kbnf_core.text.limits import DEFAULT_LIMITS

if TYPE_CHECKING:
    from kbnf_core.artifact.read import Description
    from kbnf_core.device import TokenTable
    from kbnf_core.farm import Task, TaskOutcome
    from kbnf_core.store import ArtifactStore
    from kbnf_core.store.keys import Recipe


T = TypeVar("T")

PROCESSES = "processes"


@dataclass(frozen=True, slots=True)
class Workers:
    """An executor, the errors that say that a worker of it has ended, and their number now."""

    executor: Executor
    lost: tuple[type[BaseException], ...]
    count: Callable[[], int]


@contextmanager
def open_workers(executor: str, count: int) -> Iterator[Workers]:
    """Open ``processes``, ``dask://HOST:PORT`` or ``ray://HOST:PORT``; ``count``: of processes."""
    scheme, _, address = executor.partition("://")
    if executor == PROCESSES:
        opened = _open_processes(count)
    elif scheme == "dask" and address:
        opened = _open_dask(address)
    elif scheme == "ray" and address:
        opened = _open_ray(address)
    else:
        raise click.UsageError(
            f"--executor is {PROCESSES}, dask://HOST:PORT or ray://HOST:PORT, not {executor!r}"
        )
    with opened as workers:
        yield workers


@contextmanager
def _open_processes(count: int) -> Iterator[Workers]:
    # As for this process: nothing here uses the threads of NumPy's linear algebra.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    executor = Pool(count)
    try:
        yield Workers(executor, (ProcessError,), lambda: count)
    finally:
        executor.shutdown(cancel_futures=True)


@contextmanager
def _open_dask(address: str) -> Iterator[Workers]:
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise MissingExtraError("--executor dask://", "dask") from None
    try:
        client = Client(f"tcp://{address}", timeout=10)
    except (OSError, ValueError) as error:
        raise KbnfError(f"dask://{address} cannot be reached: {error}") from None

    def count() -> int:
        try:
            return sum(client.nthreads().values())
        except OSError:
            # The scheduler is away: so are all workers.
            return 0

    with client:
        yield Workers(client.get_executor(pure=False), (KilledWorker,), count)


@contextmanager
def _open_ray(address: str) -> Iterator[Workers]:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("--executor ray://", "ray") from None
    try:
        ray.init(address=f"ray://{address}", log_to_driver=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise KbnfError(f"ray://{address} cannot be reached: {error}") from None
    try:
        yield ray_workers(ray)
    finally:
        ray.shutdown()


def ray_workers(ray: Any) -> Workers:
    """Return the workers of the cluster to which this process is connected."""
    return Workers(
        _RayExecutor(ray),
        (ray.exceptions.WorkerCrashedError,),
        lambda: int(ray.cluster_resources().get("CPU", 0)),
    )


class _RayExecutor(Executor):
    """Ray's tasks as futures."""

    def __init__(self, ray: Any) -> None:
        # As Dask does: the end of a worker while it starts is not a fault of a call.
        self._remote = ray.remote(max_retries=3)(_call)

    def submit(  # type: ignore[override] # no call here has keywords
        self, function: Callable[..., T], /, *arguments: Any
    ) -> Future[T]:
        """Queue a call."""
        future: Future[T] = self._remote.remote(function, *arguments).future()
        return future


def _call(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)


def table_text(table: "TokenTable") -> str:
    """Return the lines that describe a device table."""
    states, classes = table.transitions.shape
    awaited = int(table.waiting.sum())
    return _laid_out(
        {
            "finish": table.finish.value,
            "vocabulary": f"{len(table.token_class):,} ids, {table.fingerprint}",
            "states": f"{states - 1:,}",
            "token classes": f"{classes:,}",
            "table": f"{table.transitions.nbytes:,} bytes",
            "class map": f"{table.token_class.nbytes:,} bytes",
            "whole": "no, a part" if table.is_partial else "yes",
            **({"begins": f"after a text of {awaited} bytes"} if awaited else {}),
        }
    )


def artifact_text(description: "Description") -> str:
    """Return the lines that describe an artifact."""
    manifest = description.manifest
    mark = manifest.vocabulary
    over = {} if mark is None else {"vocabulary": f"{mark.name or '(unnamed)'}, {mark.fingerprint}"}
    usual = asdict(DEFAULT_LIMITS)
    limits = [
        f"{name} {value}" for name, value in manifest.limits.items() if usual.get(name) != value
    ]
    return _laid_out(
        {
            "grammar": manifest.source_path or "(a text)",
            "source hash": manifest.source_hash,
            "start": manifest.start,
            "finish": manifest.finish.value,
            "written by": f"kbnf {manifest.tool}, Unicode tables of regex {manifest.unicode}",
            **over,
            **({"limits": ", ".join(limits)} if limits else {}),
            **{name: f"{count:,}" for name, count in description.counts.items()},
            "size": f"{description.size:,} bytes",
        }
    )


def _laid_out(lines: dict[str, str]) -> str:
    width = max(map(len, lines)) + 2
    shown = {name: visible(value).replace("\n", " ") for name, value in lines.items()}
    return "".join(f"{name + ':':<{width}}{value}\n" for name, value in shown.items())


LINES = ".jsonl"
"""Files with a schema, or another source in JSON, on each line."""

_SOURCES = FileChoice((*EXTENSIONS, ".json", LINES))

_SCHEMA = "kbnf.compile/1"
"""Of the lines of a report."""


@dataclass(frozen=True, kw_only=True)
class Filling:
    """The options of ``compile`` that are for stores, and those of all cases."""

    store: str | None
    executor: str | None
    report: Path | None
    lossy: bool
    work: int | None
    memory: int | None

    def require_store(self) -> None:
        """Raise ``UsageError`` for options that are for stores, where there is none."""
        for name in ("executor", "report", "work", "memory"):
            if self.store is None and getattr(self, name) not in (None, False):
                raise click.UsageError(f"--{name} goes with --store")


def fill(
    console: Console,
    options: Filling,
    inputs: Inputs,
    vocabularies: tuple[str, ...],
    paths: tuple[Path, ...],
    jobs: int,
) -> int:
    """Compile everything below ``paths`` into a store; return the exit status."""
    from kbnf_core.farm import MADE, PRESENT, REPLACED, run_tasks
    from kbnf_core.store import open_store

    store = open_store(_absolute(str(options.store)))
    store.backend.reach(may_be_new=True)
    read = [read_vocabulary(console, name, inputs.eos) for name in vocabularies]
    fingerprints = {
        vocabulary.fingerprint: name for vocabulary, name in zip(read, vocabularies, strict=True)
    }
    report = _OutcomeReport(console, fingerprints)
    with ExitStack() as stack:
        if options.report is not None:
            report.file = stack.enter_context(open(options.report, "w", encoding="utf-8"))
        recipes = list(_recipes(console, report, options, inputs, paths))
        if any(recipe.uses_vocabulary for _, recipe in recipes):
            for vocabulary in read:
                store.put_vocabulary(vocabulary)
        tasks = list(_tasks_of(options, recipes, list(fingerprints)))
        progress = stack.enter_context(console.progress(f"compiling into {store.backend.name}"))

        workers = stack.enter_context(open_workers(options.executor or "processes", jobs))
        # A worker that ends a task finds the next one waiting.
        window = 2 * max(1, workers.count())
        for outcome in run_tasks(
            tasks, workers.executor, workers.lost, window, lambda: workers.count() > 0
        ):
            report.write(outcome)
            progress(report.counts.total(), len(tasks))
    console.note(report.summary())
    is_clean = not report.unreadable and report.counts.keys() <= {MADE, PRESENT, REPLACED}
    return Exit.CLEAN if is_clean else Exit.FINDINGS


class _OutcomeReport:
    """Writes the outcome of each task; ``counts`` has their number by status."""

    def __init__(self, console: Console, names: dict[str, str]) -> None:
        self.file: TextIO | None = None
        self.unreadable = 0
        self.counts: Counter[str] = Counter()
        self._made: list[tuple[float, int]] = []
        self._console = console
        self._names = names

    def write(self, outcome: "TaskOutcome") -> None:
        """Write an outcome to the report, and why there is no artifact to stderr."""
        outcome = replace(outcome, message=_placed(outcome.message, outcome.name))
        self.counts[outcome.status] += 1
        if outcome.seconds is not None and outcome.size is not None:
            self._made.append((outcome.seconds, outcome.size))
        line = {"schema": _SCHEMA, **asdict(outcome)}
        line["vocabulary"] = self._names.get(outcome.fingerprint)
        self._line(line)
        if outcome.message:
            self._console.error(f"{outcome.name}: {outcome.message}")

    def refuse(self, name: str, error: KbnfError) -> None:
        """Report a source that cannot be read."""
        self.unreadable += 1
        line = {"schema": _SCHEMA, "name": name, "status": "refused", "message": str(error)}
        missing = ("key", "fingerprint", "vocabulary", "size", "seconds")
        self._line({**line, **dict.fromkeys(missing)})
        self._console.error(f"{name}: {error}")

    def summary(self) -> str:
        """Return the last line: the outcomes, and the cost of the artifacts made."""
        counts = [f"{count:,} {status}" for status, count in sorted(self.counts.items())]
        if self.unreadable:
            counts.append(f"{self.unreadable:,} sources unreadable")
        return "; ".join(filter(None, [", ".join(counts), self._cost()])) or "nothing to compile"

    def _cost(self) -> str:
        """Return the time and the size of a grammar (median and largest), and of all."""
        if not self._made:
            return ""
        times, sizes = map(sorted, zip(*self._made, strict=True))
        return (
            f"a grammar {1000 * median(times):.1f} ms (at most {1000 * times[-1]:,.0f}) and"
            f" {median(sizes) / 1024:,.1f} KiB (at most {sizes[-1] / 1024:,.0f}), all"
            f" {sum(times):,.1f} s and {sum(sizes) / 2**20:,.1f} MiB"
        )

    def _line(self, fields: dict[str, object]) -> None:
        if self.file is not None:
            # A line at a time: every line is complete, whenever the run ends.
            self.file.write(json.dumps(fields, sort_keys=True) + "\n")
            self.file.flush()


def _placed(message: str, name: str) -> str:
    """Return a message with the name of its source in its positions.

    A key is that of a text, which other files may have as well: failures in a store have no names.
    """
    return re.sub(r"(?m)^( *--> )<text>(?=:)", lambda match: f"{match[1]}{name}", message)


def _tasks_of(
    options: Filling, recipes: "list[tuple[str, Recipe]]", fingerprints: list[str]
) -> "Iterator[Task]":
    from kbnf_core.farm import Task

    url = _absolute(str(options.store))
    memory = None if options.memory is None else options.memory * 2**20
    for name, recipe in recipes:
        over = fingerprints if recipe.uses_vocabulary else []
        for fingerprint in over or [""]:
            yield Task(url, name, recipe, fingerprint, memory)


def _absolute(url: str) -> str:
    """Return a store as workers find it, whose current folder is another."""
    return url if "://" in url or not url else str(Path(url).absolute())


def _recipes(
    console: Console,
    report: _OutcomeReport,
    options: Filling,
    inputs: Inputs,
    paths: tuple[Path, ...],
) -> "Iterator[tuple[str, Recipe]]":
    """Yield the sources below ``paths`` with their names, having reported invalid ones."""
    for path in find_grammars(paths, console.note, _SOURCES):
        name = inputs.name_of(path).as_posix()
        try:
            source, invalid = read_source(path, name)
            if invalid is not None:
                raise GrammarError([invalid])
        except KbnfError as error:
            report.refuse(name, error)
            continue
        texts = {name: source.text}
        if path != STDIN and path.suffix == LINES:
            lines = enumerate(source.text.splitlines(), 1)
            texts = {f"{name}:{number}": line for number, line in lines if line.strip()}
        for source_name, text in texts.items():
            try:
                yield source_name, _recipe(text, source_name, options, inputs, path)
            except KbnfError as error:
                report.refuse(source_name, error)


def _recipe(text: str, name: str, options: Filling, inputs: Inputs, path: Path) -> "Recipe":
    from kbnf_core.languages import JSON_SCHEMA, KBNF, detect
    from kbnf_core.store.keys import recipe_of

    is_line = path.suffix == LINES
    language = detect(text, f"{name}.json" if is_line else name)
    if is_line and language is KBNF:
        # The content of a line decides its kind; one that is not JSON is a schema with an error.
        language = JSON_SCHEMA
    recipe = recipe_of(
        text,
        path=name,
        language=language.name,
        start=inputs.start,
        finish=inputs.finish,
        lossy=options.lossy,
        defaults=inputs.settings_source()(inputs.name_of(path)).defaults,
        imports=permitted_imports(),
        **own_options(inputs.schema_for(path), language),
    )
    work = {} if options.work is None else {"work": options.work}
    return replace(recipe, limits=replace(recipe.limits, **work))


_ACTIONS = {
    "ls": ("URL", "List the keys, each with the digest of its artifact or why it was refused."),
    "info": ("URL [KEY]...", "Count the entries of the store, or describe the artifacts of keys."),
    "verify": ("URL", "Read everything; exit with 1 if something is damaged."),
    "gc": ("URL", "Remove unreferenced files."),
}
"""The actions: their arguments, and their help."""

_FOR = {"remove": "verify", "age": "gc"}
"""Options of one action."""


class _StoreCommand(click.Command):
    """A command with help for each of its actions: their arguments and options only."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help of an action where one is named before ``--help``."""
        if args and args[0] in _ACTIONS and {"-h", "--help"} & set(args):
            ctx.info_name = f"{ctx.info_name} {args[0]}"
            usage, text = _ACTIONS[args[0]]
            left: list[click.Parameter] = [
                option
                for option in self.params
                if isinstance(option, click.Option)
                and _FOR.get(str(option.name)) in (None, args[0])
            ]
            own = click.Command(
                args[0], params=left, help=text, options_metavar=f"[OPTIONS] {usage}"
            )
            click.echo(own.get_help(ctx))
            ctx.exit()
        return super().parse_args(ctx, args)


@click.command(
    "store",
    cls=_StoreCommand,
    epilog=examples(
        "kbnf compile --store s3://grammars/production schemas/",
        "kbnf store info s3://grammars/production",
        "kbnf store verify s3://grammars/production",
        "kbnf store gc /srv/grammars",
    ),
)
@click.argument("action", type=click.Choice(tuple(_ACTIONS)))
@click.argument("url")
@click.argument("keys", nargs=-1)
@click.option("--remove", is_flag=True, help="Remove damaged entries found by `verify`.")
@click.option(
    "--age",
    metavar="HOURS",
    type=click.FloatRange(min=0),
    default=24.0,
    help="Minimum age of files that `gc` removes, in hours.  [default: 24]",
)
@common_options
@click.pass_obj
def store(
    console: Console, action: str, url: str, keys: tuple[str, ...], remove: bool, age: float
) -> int:
    """Manage a store of artifacts.

    `kbnf compile --store` fills it.

    `ls` lists the keys, each with the digest of its artifact or why its source was refused; `info`
    counts the entries of the store, or describes the artifacts of KEYS; `verify` reads
    everything and exits with 1 if something is damaged; `gc` removes unreferenced files. URL is a
    folder or a URL of fsspec; a password in it is never printed.
    """
    from kbnf_core.store import open_store

    if keys and action != "info":
        raise click.UsageError(f"`{action}` is for a whole store")
    context = click.get_current_context()
    for option, owner in _FOR.items():
        is_given = context.get_parameter_source(option) is ParameterSource.COMMANDLINE
        if is_given and action != owner:
            raise click.UsageError(f"--{option} goes with `{owner}`")
    opened = open_store(url)
    opened.backend.reach()
    if action == "verify":
        return _verify(console, opened, remove)
    if action == "gc":
        return _collect(console, opened, age)
    if keys:
        return _describe(console, opened, keys)
    (_list if action == "ls" else _count)(console, opened)
    return Exit.CLEAN


def _list(console: Console, opened: "ArtifactStore") -> None:
    from kbnf_core.artifact import FORMAT
    from kbnf_core.store import FAILURES, DamagedError
    from kbnf_core.store.keys import is_name

    others = 0
    for key, entry in opened.entries():
        if isinstance(entry, DamagedError):
            console.text(f"{key} damaged: {entry}\n")
        elif entry.format == FORMAT:
            console.text(f"{key} artifact: {entry.digest}\n")
        else:
            others += 1
    for name in opened.backend.keys(FAILURES):
        key = name.removeprefix(FAILURES)
        failure = opened.failure(key) if is_name(key) else None
        if failure is not None:
            first, *_ = failure.message.splitlines() or [""]
            console.text(f"{key} {failure.kind}: {visible(first)}\n")
    _note_others(console, others)


def _note_others(console: Console, count: int) -> None:
    if count:
        console.note(f"{count:,} entries of another format; `gc` removes those of earlier ones")


def _count(console: Console, opened: "ArtifactStore") -> None:
    from kbnf_core.store import count_others, sizes

    sizes_by_folder = sizes(opened)
    for folder, (count, size) in sizes_by_folder.items():
        console.text(f"{folder + ':':<15}{count:>12,} {size:>18,} bytes\n")
    console.text(
        f"{'in all:':<15}{'':>12} {sum(size for _, size in sizes_by_folder.values()):>18,} bytes\n"
    )
    _note_others(console, count_others(opened))


def _describe(console: Console, opened: "ArtifactStore", keys: tuple[str, ...]) -> int:
    from kbnf_core.artifact.read import describe_artifact
    from kbnf_core.store.keys import is_name

    status = Exit.CLEAN
    for key in keys:
        if not is_name(key):
            raise click.UsageError(f"{key!r} is not a key: `ls` lists them")
        path, failure = opened.get(key), opened.failure(key)
        if path is not None:
            console.text(artifact_text(describe_artifact(path)))
        elif failure is not None:
            console.text(f"{key} {failure.kind}: {visible(failure.message)}\n")
        else:
            console.error(f"{opened.backend.name} has nothing for {key}")
            status = Exit.FINDINGS
    return status


def _verify(console: Console, opened: "ArtifactStore", remove: bool) -> int:
    from kbnf_core.store import damage

    count = sum(1 for _ in opened.known_keys())
    result = 0
    with console.busy("reading everything"):
        for error in damage(opened, remove):
            result += 1
            console.error(str(error))
    done = "removed" if remove else "damaged"
    console.note(f"{count:,} artifacts, {result:,} {done}")
    return Exit.FINDINGS if result else Exit.CLEAN


def _collect(console: Console, opened: "ArtifactStore", age: float) -> int:
    from kbnf_core.store import collect

    with console.busy("looking for what nothing refers to"):
        removed = collect(opened, 3600 * age)
    console.note(f"removed {removed:,}")
    return Exit.CLEAN
