"""The data of other projects: every file has its origin and licence, and is as it was there."""

import csv
import re
from hashlib import sha256

from kbnf_testing.data import DATA

WITH_ORIGIN = ("abnf", "bnf", "gbnf", "json-schema-test-suite", "kbnf", "lark", "vocab")
WRITTEN_HERE = "written for this set"


def rows() -> dict[str, dict[str, str]]:
    with (DATA / "MANIFEST.tsv").open(encoding="utf-8", newline="") as file:
        found = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {row["path"]: row for row in found}


def test_every_file_is_listed_and_unchanged() -> None:
    found = {
        path.relative_to(DATA).as_posix(): sha256(path.read_bytes()).hexdigest()
        for folder in WITH_ORIGIN
        for path in (DATA / folder).rglob("*")
        if path.is_file()
    }
    assert found == {path: row["sha256"] for path, row in rows().items()}


def test_every_project_is_named_with_its_licence() -> None:
    named = (DATA / "README.md").read_text(encoding="utf-8")
    for row in rows().values():
        if row["licence"] == WRITTEN_HERE:
            continue
        licence = row["licence"].split(" (")[0]
        project = re.compile(rf"[| ] ?{re.escape(row['source_repo'])}[ ,]")
        (line,) = [each for each in named.splitlines() if project.search(each)]
        assert f"| {licence} |" in line
