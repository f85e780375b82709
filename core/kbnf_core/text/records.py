"""Data classes that are quick to make: ``dataclass`` is that of the standard library, but for time.

A fresh process makes a hundred of them before its first mask. The library writes a text for each
method of each class and compiles it, six for a class that is frozen, and reads the signature of a
class without a docstring: up to 0.5 ms each, a fifth of such a start. Here ``__init__`` alone is
compiled; the other methods are closures over the names of the fields, and do the same.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, eq=True, slots=False, **shown):
        """Return what ``dataclasses.dataclass`` makes of a class, or the decorator for it."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen, eq=eq, slots=slots, **shown)
        return _made(cls, frozen, eq, slots, **shown)


__all__ = ["dataclass"]


_Methods = dict[str, Any]


def _made(cls: type, frozen: bool, eq: bool, slots: bool, **shown: bool) -> type:
    own = set(vars(cls))
    if cls.__doc__ is None:
        # Else the library asks for the signature.
        cls.__doc__ = cls.__name__
    made: Any = dataclasses.dataclass(init=not frozen, repr=False, eq=False, slots=slots)(cls)
    fields = dataclasses.fields(made)
    methods: _Methods = {}
    if shown.get("repr", True):
        methods |= _representation([field.name for field in fields if field.repr])
    if eq:
        methods |= _comparison([field.name for field in fields if field.compare], frozen)
    if frozen:
        methods |= {"__setattr__": _refuse_change, "__delattr__": _refuse_change}
        methods |= _state([field.name for field in fields]) if slots else {}
        methods["__init__"] = _initialisation(made, fields)
    for name, method in methods.items():
        if name not in own:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _representation(names: list[str]) -> _Methods:
    @recursive_repr("...")
    def shown(self: object) -> str:
        parts = ", ".join([f"{name}={getattr(self, name)!r}" for name in names])
        return f"{self.__class__.__qualname__}({parts})"

    return {"__repr__": shown}


def _comparison(names: list[str], frozen: bool) -> _Methods:
    values: Callable[[object], tuple[Any, ...]]
    if len(names) > 1:
        values = attrgetter(*names)
    else:

        def values(self: object) -> tuple[Any, ...]:
            return tuple([getattr(self, name) for name in names])

    def is_equal(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": is_equal, "__hash__": hashed if frozen else None}


def _refuse_change(_: object, name: str, *value: object) -> NoReturn:
    change = "assign to" if value else "delete"
    raise dataclasses.FrozenInstanceError(f"cannot {change} field {name!r}")


def _state(names: list[str]) -> _Methods:
    """Return the methods of copies; what is frozen is not set as others are."""

    def state(self: object) -> list[Any]:
        return [getattr(self, name) for name in names]

    def restore(self: object, values: list[Any]) -> None:
        for name, value in zip(names, values, strict=True):
            object.__setattr__(self, name, value)

    return {"__getstate__": state, "__setstate__": restore}


def _initialisation(
    made: type, fields: tuple["dataclasses.Field[Any]", ...]
) -> Callable[..., None]:
    """Return ``__init__`` of a class that is frozen, which is compiled: it is called often."""
    missing = dataclasses.MISSING
    scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": missing}
    parameters, lines = ["self"], []
    for field in fields:
        name = value = field.name
        default = ""
        if field.default_factory is not missing:
            scope[f"_new_{name}"], default = field.default_factory, "=_missing"
            value = f"_new_{name}() if {name} is _missing else {name}"
        elif field.default is not missing:
            scope[f"_default_{name}"], default = field.default, f"=_default_{name}"
        if field.kw_only and "*" not in parameters:
            parameters.append("*")
        parameters.append(name + default)
        lines.append(f" _set(self, {name!r}, {value})")
    if hasattr(made, "__post_init__"):
        lines.append(" self.__post_init__()")
    body = "\n".join(lines or [" pass"])
    exec(f"def __init__({', '.join(parameters)}):\n{body}", scope)  # noqa: S102 - names of fields
    found: Callable[..., None] = scope["__init__"]
    found.__qualname__ = f"{made.__qualname__}.__init__"
    return found
