"""Whether faults in lists of tools are named: ``python -m benchmarks.target_tools [--seed N]``.

Each list has five tools; one has a member whose schema is a probe (``benchmarks.probes``), the
others are plain. Every engine that is installed is asked about the probe alone, and about the list
as `kbnf check --target` asks. A list is *named right* where the engine's findings in it are about
that tool, at the member, and of the faults that the probe has by itself.
"""

import json
from random import Random
from typing import Any

import click

from benchmarks.probes import PROBES, SECONDS
from kbnf_core.languages import TOOL_LIST
from kbnf_core.targets.check import CODES, Panel, check_targets
from kbnf_core.targets.engines import ENGINES
from kbnf_core.targets.exam import Exam, Fault, examine
from kbnf_core.targets.judges import pointer_to
from kbnf_core.targets.process import Asked, installed, version_of
from kbnf_core.text.source import Source

TOOLS = 5


def tool(name: str, member: Any) -> dict[str, Any]:
    """Return a tool of OpenAI's form with one member."""
    schema = {
        "type": "object",
        "properties": {"x": member},
        "required": ["x"],
        "additionalProperties": False,
    }
    if isinstance(member, dict) and "$defs" in member:
        schema["$defs"] = member["$defs"]
    return {"type": "function", "function": {"name": name, "parameters": schema}}


@click.command()
@click.option("--seed", default=1, help="Random seed of the tool that has the probe.")
@click.option("--sample", default=40, help="Probes to draw.")
@click.option("--engine", "engines", multiple=True, type=click.Choice(list(ENGINES)))
def main(seed: int, sample: int, engines: tuple[str, ...]) -> None:
    """Ask about lists of tools with one fault each."""
    random = Random(seed)  # noqa: S311 - the seed is said
    probes = random.sample(sorted(PROBES.items()), min(sample, len(PROBES)))
    print(f"seed {seed}, {len(probes)} lists of {TOOLS} tools")
    print("| engine | lists with a fault | named right | lists without | quiet |")
    print("|---|---|---|---|---|")
    missed = []
    for name in engines or installed():
        alone, panel = Asked(name), Panel([name])
        counts = [0, 0, 0, 0]
        for construct, schema in probes:
            faults = examine(Exam(schema), alone, SECONDS).findings
            expected = {CODES[each.fault] for each in faults if each.fault is not Fault.COST}
            place = random.randrange(TOOLS)
            tools = [
                tool(f"t{number}", schema if number == place else {"type": "boolean"})
                for number in range(TOOLS)
            ]
            source = Source(json.dumps(tools), "tools.json", is_json=True)
            found = [each for each in check_targets(source, TOOL_LIST, panel).findings
                     if each.code in CODES.values() and each.code != CODES[Fault.COST]]  # fmt: skip
            member = pointer_to(place, "function", "parameters", "properties", "x")
            details = [dict(each.details) for each in found]
            is_right = {each.code for each in found} == expected and all(
                each["tool"] == f"t{place}" and each["pointer"].startswith(member)
                for each in details
            )
            counts[0 if expected else 2] += 1
            counts[1 if expected else 3] += is_right
            if not is_right:
                said = [(each.code, each_details["pointer"]) for each, each_details
                        in zip(found, details, strict=True)]  # fmt: skip
                missed.append(f"{name}: {construct}: expected {sorted(expected)}, found {said}")
        alone.close()
        panel.close()
        print(f"| {name} {version_of(name)} | {' | '.join(map(str, counts))} |", flush=True)
    print("\n".join(line[:240] for line in missed))


if __name__ == "__main__":
    main()
