"""Where vocabulary files are: in a folder, or in the local cache of Hugging Face's libraries.

Models are found in that cache by name; nothing is ever downloaded. It applies
``models--OWNER--NAME/snapshots/COMMIT/FILES``, and in ``refs/main`` the commit of the branch
(``huggingface_hub``, "Understand caching").
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from kbnf_core.text.errors import VocabularyError
from kbnf_core.text.files import read_up_to

_USUAL_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model")

FILES_BESIDE = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json")
"""The files that are read along with a ``tokenizer.json``."""


def file_of(path: Path) -> Path:
    """Return the vocabulary file in a folder, or ``path`` itself where that is none."""
    if not path.is_dir():
        return path
    for name in _USUAL_NAMES:
        if (path / name).is_file():
            return path / name
    raise VocabularyError(f"{path} is a folder without {', '.join(_USUAL_NAMES)}")


# Compiled where they are used: nearly always a vocabulary is a file.
_NAME = r"(?a)[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)?"
_FOLDER = "models--"
_COMMIT = "[0-9a-f]{1,64}"


def hub_folder() -> Path:
    """Return where the cache is, whether it is there or not."""
    for variable, below in (
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
    ):
        value = os.environ.get(variable)
        if value:
            return Path(value).expanduser() / below
    return Path("~/.cache/huggingface/hub").expanduser()


def cached_models() -> list[str]:
    """Return the names of the models in the cache that have a tokenizer, sorted."""
    try:
        folders = [each.name for each in hub_folder().iterdir()]
    except OSError:
        return []
    names = (each.removeprefix(_FOLDER).replace("--", "/", 1) for each in sorted(folders))
    return [name for name in names if cached_vocabulary(name) is not None]


def cached_vocabulary(name: str) -> Path | None:
    """Return the vocabulary's file of a model, that of its branch first; None if there is none."""
    if re.fullmatch(_NAME, name) is None:
        return None
    model = hub_folder() / f"{_FOLDER}{name.replace('/', '--')}"
    for snapshot in _snapshots(model):
        try:
            return file_of(snapshot)
        except VocabularyError:
            continue
    return None


def _snapshots(model: Path) -> Iterator[Path]:
    folder = model / "snapshots"
    try:
        main = read_up_to(model / "refs" / "main", 100).decode("ascii").strip()
        if re.fullmatch(_COMMIT, main) and (folder / main).is_dir():
            yield folder / main
    except (OSError, ValueError):
        pass
    try:
        others = sorted(folder.iterdir(), key=lambda each: (-each.stat().st_mtime, each.name))
    except OSError:
        return
    yield from (each for each in others if each.is_dir())
