"""``kbnf store``: looks after a store of artifacts."""

from typing import TYPE_CHECKING

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.options import common_options, examples
from kbnf_core.errors import KbnfError

if TYPE_CHECKING:
    from kbnf_core.store.artifact_store import ArtifactStore


@click.command(
    "store",
    epilog=examples(
        "kbnf compile --store s3://grammars/production --vocab tekken.json schemas/",
        "kbnf store info s3://grammars/production",
        "kbnf store verify s3://grammars/production",
        "kbnf store gc /srv/grammars",
    ),
)
@click.argument("action", type=click.Choice(("ls", "info", "verify", "gc")))
@click.argument("url")
@click.argument("keys", nargs=-1)
@click.option("--remove", is_flag=True, help="Remove what `verify` finds damaged.")
@click.option(
    "--age",
    metavar="HOURS",
    type=click.FloatRange(min=0),
    default=24.0,
    help="What `gc` leaves alone because it is younger.  [default: 24]",
)
@common_options
@click.pass_obj
def store(
    console: Console, action: str, url: str, keys: tuple[str, ...], remove: bool, age: float
) -> int:
    """Look after a store of artifacts, which `kbnf compile --store` fills.

    `ls` lists the keys, each with the digest of its artifact, and the sources that were refused;
    `info` counts what is in the store, or describes the artifacts of KEYS; `verify` reads
    everything and exits with 1 if something is damaged; `gc` removes what nothing refers to. URL
    is a folder or what fsspec knows; a password in it is never printed.
    """
    from kbnf_core.store.artifact_store import open_store

    if keys and action != "info":
        raise click.UsageError(f"`{action}` is for a whole store")
    if remove and action != "verify":
        raise click.UsageError("--remove goes with `verify`")
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
    from kbnf_core.store.artifact_store import FAILURES

    for key in opened.known_keys():
        console.text(f"{key} {_digest(opened, key)}\n")
    for name in opened.backend.keys(FAILURES):
        key = name.removeprefix(FAILURES)
        failure = opened.failure(key)
        if failure is not None:
            first, *_ = failure.message.splitlines() or [""]
            console.text(f"{key} {failure.kind}: {first}\n")


def _count(console: Console, opened: "ArtifactStore") -> None:
    from kbnf_core.store.artifact_store import sizes

    found = sizes(opened)
    for folder, (count, size) in found.items():
        console.text(f"{folder + ':':<15}{count:>12,} {size:>18,} bytes\n")
    console.text(f"{'in all:':<15}{'':>12} {sum(size for _, size in found.values()):>18,} bytes\n")


def _describe(console: Console, opened: "ArtifactStore", keys: tuple[str, ...]) -> int:
    from kbnf_cli.compile import description_text
    from kbnf_core.artifact.read import describe_artifact
    from kbnf_core.store.keys import is_name

    status = Exit.CLEAN
    for key in keys:
        if not is_name(key):
            raise click.UsageError(f"{key!r} is no key: `ls` lists them")
        path, failure = opened.get(key), opened.failure(key)
        if path is not None:
            console.text(description_text(describe_artifact(path)))
        elif failure is not None:
            console.text(f"{key} {failure.kind}: {failure.message}\n")
        else:
            console.error(f"{opened.backend.name} has nothing for {key}")
            status = Exit.FINDINGS
    return status


def _verify(console: Console, opened: "ArtifactStore", remove: bool) -> int:
    from kbnf_core.store.artifact_store import damage

    count = sum(1 for _ in opened.known_keys())
    found = 0
    with console.busy("reading everything"):
        for error in damage(opened, remove):
            found += 1
            console.error(str(error))
    done = "removed" if remove else "damaged"
    console.note(f"{count:,} artifacts, {found:,} {done}")
    return Exit.FINDINGS if found else Exit.CLEAN


def _collect(console: Console, opened: "ArtifactStore", age: float) -> int:
    from kbnf_core.store.artifact_store import collect

    with console.busy("looking for what nothing refers to"):
        removed = collect(opened, 3600 * age)
    console.note(f"removed {removed:,}")
    return Exit.CLEAN


def _digest(opened: "ArtifactStore", key: str) -> str:
    try:
        return opened.digest(key) or "-"
    except KbnfError as error:
        return f"damaged: {error}"
