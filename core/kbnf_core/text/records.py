"""Records: classes of named values, written as those of ``dataclasses``, frozen and with slots.

A process that reads one grammar defines a hundred of them, and ``dataclass`` takes up to half a
millisecond for each, since it compiles up to six functions, and 6 ms for what it imports. Here
what depends on the names is compiled at once, all else is shared. Type checkers know the form
(PEP 681), and so do the functions of ``dataclasses``.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, NoReturn, TypeVar, dataclass_transform, overload

C = TypeVar("C", bound=type)
R = TypeVar("R")

_ABSENT: Any = object()


class _Field(NamedTuple):
    """What is known of a field: its default, or what makes one, if any."""

    default: Any = _ABSENT
    factory: Callable[[], Any] | None = None
    shown: bool = True
    kw_only: bool = False


def field(
    *,
    default_factory: Callable[[], Any] | None = None,
    shown: bool = True,
    kw_only: bool = False,
) -> Any:
    """Say of a field what makes its default, whether it is shown, and whether given by name."""
    return _Field(factory=default_factory, shown=shown, kw_only=kw_only)


@overload
def record(cls: C, /) -> C: ...


@overload
def record(*, frozen: bool = True, eq: bool = True, caching: bool = False) -> Callable[[C], C]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(
    cls: Any = None, /, *, frozen: bool = True, eq: bool = True, caching: bool = False
) -> Any:
    """Make a class one with slots for its annotated names, and a constructor.

    Instances are frozen unless that is false. With ``eq`` they are equal where their values are;
    with ``caching`` they have room for cached properties.
    """
    more = ("__dict__", "__weakref__") if caching else ()
    if cls is None:
        return lambda given: _record(given, frozen, eq, more)
    return _record(cls, frozen, eq, more)


def names_of(kind: type) -> tuple[str, ...]:
    """Return the names of a record's fields, in order."""
    names: tuple[str, ...] = kind.__match_args__  # type: ignore[attr-defined]
    return names


def replace(instance: R, /, **changes: Any) -> R:
    """Return a record with some values changed."""
    kept = {name: getattr(instance, name) for name in names_of(type(instance))}
    return type(instance)(**kept | changes)


def _record(cls: Any, frozen: bool, eq: bool, more: tuple[str, ...]) -> Any:
    fields: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields |= vars(base).get("_record_fields", {})
    inherited = set(fields)
    body = {key: each for key, each in vars(cls).items() if key not in _MADE_ANEW}
    for name, kind in body.get("__annotations__", {}).items():
        if not str(kind).startswith(("ClassVar", "typing.ClassVar")):
            default = body.pop(name, _ABSENT)
            fields[name] = default if isinstance(default, _Field) else _Field(default)
    names = tuple(fields)
    compiled = _compiled(fields, frozen, eq, hasattr(cls, "__post_init__"))
    compiled["__init__"].__annotations__ = {name: _kinds(cls)[name] for name in names}
    shared = _SHARED | _FROZEN if frozen else _SHARED
    own = {
        "__slots__": (*(name for name in names if name not in inherited), *more),
        "__match_args__": names,
        "__qualname__": cls.__qualname__,
        "_record_fields": fields,
    }
    made = type(cls)(cls.__name__, cls.__bases__, {**shared, **compiled, **body, **own})
    if frozen:
        setters = {f"_set_{name}": getattr(made, name).__set__ for name in names}
        compiled["__init__"].__globals__.update(setters)
    return made


_MADE_ANEW = frozenset(("__dict__", "__weakref__"))

_EQUAL = """\
def __eq__(self, other):
 return ({0}) == ({1}) if other.__class__ is self.__class__ else NotImplemented
"""

_HASH = """\
def __hash__(self):
 return hash(({0}))
"""


def _compiled(fields: Mapping[str, _Field], frozen: bool, eq: bool, has_more: bool) -> Any:
    """Return the functions that depend on the names; those of frozen ones lack ``_set_name``."""
    known: dict[str, Any] = {"_absent": _ABSENT}
    parameters: list[str] = []
    lines: list[str] = []
    for name, each in fields.items():
        value = name
        if each.kw_only and "*" not in parameters:
            parameters.append("*")
        if each.factory is not None:
            known[f"_make_{name}"] = each.factory
            parameters.append(f"{name}=_absent")
            value = f"_make_{name}() if {name} is _absent else {name}"
        elif each.default is not _ABSENT:
            known[f"_default_{name}"] = each.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        lines.append(f" _set_{name}(self, {value})" if frozen else f" self.{name} = {value}")
    if has_more:
        lines.append(" self.__post_init__()")
    text = "\n".join([f"def __init__(self, {', '.join(parameters)}):", *lines, " pass\n"])
    made = {"__init__"}
    if eq:
        ours, others = ("".join(f"{it}.{name}, " for name in fields) for it in ("self", "other"))
        text += _EQUAL.format(ours, others) + (_HASH.format(ours) if frozen else "__hash__ = None")
        made |= {"__eq__", "__hash__"}
    exec(text, known)  # noqa: S102 - names are those of the class
    return {name: known[name] for name in made}


def _kinds(cls: Any) -> dict[str, Any]:
    kinds: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        kinds |= vars(base).get("__annotations__", {})
    return kinds


def _repr(self: Any) -> str:
    names = (name for name, each in self._record_fields.items() if each.shown)
    inner = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
    return f"{type(self).__qualname__}({inner})"


def _refuse(_: object, name: str, *__: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__match_args__]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)


class _Standard:
    """What the functions of ``dataclasses`` look for, made when they do."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: Any) -> Any:
        import dataclasses

        kinds, made = _kinds(owner), []
        for name, each in owner._record_fields.items():
            default: dict[str, Any] = {"repr": each.shown, "kw_only": each.kw_only}
            if each.factory is not None:
                default["default_factory"] = each.factory
            elif each.default is not _ABSENT:
                default["default"] = each.default
            made.append((name, kinds[name], dataclasses.field(**default)))
        frozen = owner.__setattr__ is _refuse
        return vars(dataclasses.make_dataclass(owner.__name__, made, frozen=frozen))[self._name]


_SHARED = {
    "__repr__": _repr,
    "__dataclass_fields__": _Standard("__dataclass_fields__"),
    "__dataclass_params__": _Standard("__dataclass_params__"),
}

_FROZEN = {
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _state,
    "__setstate__": _set_state,
}
