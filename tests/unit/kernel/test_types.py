"""The types of the compiled modules name what these have, all of it and nothing else."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

from kbnf_core import kernel

LEFT_TO_ENGINE = {"_position_after", "_mask_here", "_last_row", "_row_of"}
"""Methods that ``EngineCore`` calls and ``Engine`` has."""


def own(value: object, module: str) -> dict[str, object]:
    """Return the public attributes of a module or a class that are not imported."""
    modules = {module, None}
    return {
        name: each
        for name, each in vars(value).items()
        if not name.startswith("_") and getattr(each, "__module__", None) in modules
        if type(each).__name__ not in ("module", "ABCMeta")
    }


@pytest.mark.parametrize("module", ["_engine", "_trees"])
def test_every_class_and_function_is_there_with_its_methods(module: str) -> None:
    types = Path(str(kernel.__file__)).with_name(f"{module}.pyi").read_text(encoding="utf-8")
    stub = ast.parse(types)
    qualified = f"kbnf_core.kernel.{module}"
    compiled = import_module(qualified)
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    functions = {node.name for node in stub.body if isinstance(node, ast.FunctionDef)}
    constants = {
        node.target.id
        for node in stub.body
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    assert classes.keys() | functions | constants == own(compiled, qualified).keys()
    for name, node in classes.items():
        kind = getattr(compiled, name)
        methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
        assert all(hasattr(kind, each) for each in methods - LEFT_TO_ENGINE), name
        attributes = {
            each.target.id
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        } | {
            target.id
            for each in node.body
            if isinstance(each, ast.Assign)
            for target in each.targets
            if isinstance(target, ast.Name)
        }
        assert own(kind, qualified).keys() <= methods | attributes, name
        assert all(hasattr(kind, each) for each in attributes), name
