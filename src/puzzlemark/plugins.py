"""Plug-ins: one file per variant, found by its file name, with settings that its class types.

`load("languages", "python")` imports `puzzlemark.languages.python`. A third party adds a variant
with an entry point in the group `puzzlemark.<package>`, whose value names a module of the same
shape. A file called `base`, or with a leading underscore, is shared by the variants and is none
itself. A folder in a package is no variant either, but a package: `names("models.pretrained")`.

A module offers its variant as `PLUGIN`: a class whose fields are its settings, or an object that
has none. Where a variant is nothing but functions, the module itself is the plug-in. Which of these
a package wants stands in its `__init__` as `SHAPE`; see docs/extend/README.md.
"""

import dataclasses
import importlib
import inspect
import multiprocessing
import pkgutil
import re
import types
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Annotated, Any, Generic, Literal, Protocol, Union, get_args, get_origin
from typing import get_type_hints as hints_of

from puzzlemark.errors import PluginError, PuzzleMarkWarning, UsageError, suggest

NAME = re.compile(r"[A-Za-z][\w-]*")
SEVERAL = (tuple, list, set, frozenset, Sequence)  # types whose text is split at commas


@dataclass(frozen=True, slots=True)
class Shape:
    """What each module of a package offers: `Shape("a watermark", "class", "Watermark")`."""

    about: str
    offers: Literal["class", "object", "module"]
    type: str  # the protocol or class: a name in the package's `base`, or "module:name"
    is_private: bool = False  # a setting may be secret: no message shows its value


# Which plug-ins there are


@cache
def names(package: str) -> tuple[str, ...]:
    """The variants of a package, sorted: `names("languages") -> ("java", "python")`."""
    theirs = set()
    for name, points in _third_party(package).items():
        if name in _own(package):
            warn(f"{_owner(points)} offers {package} {name!r}, but that is PuzzleMark's own")
        elif not NAME.fullmatch(name) or name == "base":
            warn(f"{_owner(points)} offers {package} {name!r}, which is no name for a plug-in")
        else:
            theirs.add(name)
    return tuple(sorted(theirs | _own(package)))


@cache
def subpackages(package: str) -> tuple[str, ...]:
    """The packages in a package, sorted: `subpackages("carriers") -> ("projections",)`."""
    inner = (m.name for m in pkgutil.iter_modules(_import(package).__path__) if m.ispkg)
    return tuple(sorted(name for name in inner if not name.startswith("_")))


@cache
def packages(inside: str = "") -> tuple[str, ...]:
    """Every package that takes plug-ins, sorted: `("auditing.checks", ..., "watermarks")`."""
    dot = f"{inside}." if inside else ""
    found = [f"{dot}{name}" for name in subpackages(inside)]
    return tuple(sorted(each for package in found for each in _with_inner(package)))


def _with_inner(package: str) -> tuple[str, ...]:
    own = (package,) if shape_of(package) is not None else ()
    return own + packages(package)


def shape_of(package: str) -> Shape | None:
    """What the package's `__init__` asks of its modules; None: it takes no plug-ins."""
    return getattr(_import(package), "SHAPE", None)


def distribution(package: str, name: str) -> str | None:
    """The distribution package that a third party's variant comes with; None: it is our own."""
    points = _third_party(package).get(name, ())
    return _owner(points) if points and name not in _own(package) else None


# One plug-in


@cache
def load(package: str, name: str) -> ModuleType:
    """Import one variant; an unknown name is an error that lists the known ones."""
    if name not in names(package):
        raise UsageError(f"no {name!r} among {package}{suggest(name, names(package))}")
    if name in _own(package):
        return _import(f"{package}.{name}")
    points = _third_party(package)[name]
    if len(points) > 1:
        message = f"{package} {name!r} is offered by {_owner(points)}; uninstall all but one"
        raise PluginError(message)
    return _load_third_party(package, points[0])


def find(package: str, name: str) -> Any:
    """The plug-in: the module's `PLUGIN`, or the module itself where it is made of functions."""
    module, shape = load(package, name), shape_of(package)
    return module if shape is None else _offered(package, shape, module)


def _offered(package: str, shape: Shape, module: ModuleType) -> Any:
    plugin = getattr(module, "PLUGIN", None)
    return plugin if shape.offers != "module" or _has_own(package, shape, module) else module


@cache
def _has_own(package: str, shape: Shape, module: ModuleType) -> bool:
    """Whether a module of functions has a `PLUGIN` of this kind in their stead.

    A module may be of two kinds: the scopes of a language can stand beside its tables.
    """
    plugin = getattr(module, "PLUGIN", None)
    wanted = _members(_resolve(package, shape.type))
    is_of_this_kind = plugin is not None and not wanted - _members(plugin)
    return is_of_this_kind or (plugin is not None and not wanted & _members(module))


def every(package: str, only: str | None = None) -> Iterator[tuple[str, Any]]:
    """Each plug-in with its name, or `only` one of them; a stranger's broken one is a warning."""
    for name in names(package):
        if only not in (None, name):
            continue
        try:
            yield name, find(package, name)
        except PluginError as exc:
            warn(str(exc))


def why_misshapen(package: str, name: str, module: object) -> str | None:
    """What a module lacks to be a plug-in of a package, in words; None: nothing."""
    shape = shape_of(package)
    if not isinstance(module, ModuleType):
        return "its entry point does not name a module"
    if shape is None:
        return None
    wanted = _resolve(package, shape.type)
    plugin = _offered(package, shape, module)
    if plugin is None:
        return f"its module has no PLUGIN, which must be {shape.about}"
    if shape.offers == "object" and not isinstance(plugin, wanted):
        return f"its PLUGIN is not {shape.about} (an object of {wanted.__name__})"
    if shape.offers == "class" and not isinstance(plugin, type):
        return f"its PLUGIN is not a class; it must be {shape.about}"
    if shape.offers != "object" and (missing := sorted(_members(wanted) - _members(plugin))):
        return f"it lacks {', '.join(missing)} to be {shape.about}"
    own = getattr(plugin, "name", name)
    if isinstance(own, str) and own != name:
        return f"its name is {own!r}, but its entry point calls it {name!r}"
    return None


# Settings


def configure(package: str, spec: str, settings: Mapping[str, Any] | None = None) -> Any:
    """A plug-in with its settings: `configure("detectors", "decoma:z=2.5") -> DeCoMa(z=2.5)`.

    Settings come as text in the spec, by name from Python, or both.
    """
    name, given = parse_spec(spec)
    if twice := sorted(set(given) & set(settings or {})):
        raise UsageError(f"{name}: {', '.join(twice)} is given twice")
    return build(package, name, {**given, **(settings or {})})


def build(package: str, name: str, settings: Mapping[str, Any]) -> Any:
    """A plug-in with settings by name; each becomes what its field is: `"64"` a number, say."""
    kind = find(package, name)
    if not isinstance(kind, type):
        _refuse_wrong_names(name, kind, {}, settings)
        return kind
    shape = shape_of(package)
    given = typed(name, kind, settings, is_private=shape is not None and shape.is_private)
    _refuse_missing(name, kind, given)
    if hasattr(kind, "model_fields"):
        # a class of pydantic reads what was given by itself: a text of JSON, say
        known = fields(kind)
        given = {each: _read(known[each], value) for each, value in settings.items()}
    return kind(**given)


def _refuse_wrong_names(
    name: str, kind: Any, known: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    refused: Mapping[str, str] = getattr(kind, "refused", {})
    for each in sorted(set(refused) & set(settings)):
        raise UsageError(f"{name}: {each}: {refused[each]}")
    if unknown := sorted(set(settings) - set(known)):
        takes = ", ".join(known) or "no settings"
        raise UsageError(f"{name} has no setting {', '.join(map(repr, unknown))}; it takes {takes}")
    instead: Mapping[str, str] = getattr(kind, "instead", {})
    for each, other in instead.items():
        if {each, other} <= settings.keys():
            raise UsageError(f"{name}: {each} takes the place of {other}; leave one of them out")


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """`"fixed_prefix:prefix=key" -> ("fixed_prefix", {"prefix": "key"})`."""
    name, _, text = spec.partition(":")
    return name.strip(), parse_settings(text, name.strip())


def parse_settings(text: str, owner: str) -> dict[str, str]:
    r"""`"model=m,base_url=http://a/?b=c" -> {"model": "m", "base_url": "http://a/?b=c"}`.

    A value may hold `=`. One that holds a comma stands in double quotes, where `\"` is a quote
    and `\\` a backslash: `model=m,body="{\"top_k\": 0, \"min_p\": 0}"`.
    """
    settings: dict[str, str] = {}
    rest = text.strip()
    while rest:
        name, equals, rest = rest.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise UsageError(f"{owner}: expected name=value at {name[:40]!r}")
        if name in settings:
            raise UsageError(f"{owner}: {name} is given twice")
        settings[name], rest = _take_value(owner, name, rest.lstrip())
    return settings


def _take_value(owner: str, name: str, text: str) -> tuple[str, str]:
    if not text.startswith('"'):
        value, _, rest = text.partition(",")
        return value.strip(), rest.lstrip()
    value, at = "", 1
    while at < len(text) and text[at] != '"':
        at += text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\")
        value += text[at]
        at += 1
    rest = text[at + 1 :].lstrip()
    if at >= len(text) or (rest and not rest.startswith(",")):
        raise UsageError(f"{owner}: the quoted value of {name} does not end as it should")
    return value, rest[1:].lstrip()


def fields(kind: Any) -> dict[str, Any]:
    """The settings of a class and their types; a module or an object has none."""
    if not isinstance(kind, type):
        return {}
    if hasattr(kind, "model_fields"):  # of pydantic
        return {
            name: Annotated[field.annotation, field] for name, field in kind.model_fields.items()
        }
    if dataclasses.is_dataclass(kind):
        hints = hints_of(kind, include_extras=True)
        # a field that is not shown (`repr=False`) holds a key, and is no setting
        shown = (each for each in dataclasses.fields(kind) if each.init and each.repr)
        return {each.name: hints[each.name] for each in shown}
    hints = hints_of(vars(kind).get("__init__", kind), include_extras=True)
    return {name: hints.get(name, Any) for name in inspect.signature(kind).parameters}


def typed(
    name: str, kind: type, settings: Mapping[str, Any], *, is_private: bool = False
) -> dict[str, Any]:
    """Settings as the fields of a class want them: `{"words": "64"} -> {"words": 64}`."""
    from pydantic import TypeAdapter, ValidationError

    known = fields(kind)
    _refuse_wrong_names(name, kind, known, settings)
    read: dict[str, Any] = {}
    for field, value in settings.items():
        try:
            read[field] = TypeAdapter(known[field]).validate_python(_read(known[field], value))
        except ValidationError as exc:
            shown = "" if is_private else f"={value!r}"
            message = exc.errors(include_input=False, include_url=False)[0]["msg"]
            raise UsageError(f"{name}: {field}{shown}: {message}") from None
    return read


def _refuse_missing(name: str, kind: type, given: Mapping[str, Any]) -> None:
    parameters = inspect.signature(kind).parameters.values()
    needed = {each.name for each in parameters if each.default is each.empty}
    if missing := sorted(needed - set(given)):
        spelled = ",".join(f"{each}=..." for each in missing)
        raise UsageError(f"{name} needs {', '.join(missing)}: {name}:{spelled}")


def _read(hint: Any, value: Any) -> Any:
    """What pydantic does not make of a text: `"none"` where None may be, and several values."""
    choices = _alternatives(hint)
    if not isinstance(value, str) or str in choices:
        return value
    if value.lower() == "none" and type(None) in choices:
        return None
    if any((get_origin(each) or each) in SEVERAL for each in choices):
        return [part.strip() for part in value.split(",")] if value.strip() else []
    return value


def _alternatives(hint: Any) -> tuple[Any, ...]:
    if get_origin(hint) is Annotated:
        return _alternatives(get_args(hint)[0])
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(inner for each in get_args(hint) for inner in _alternatives(each))
    return (hint,)


# Ours and theirs


def refresh() -> None:
    """Look again which plug-ins are installed: for a process that has just installed one."""
    for known in (names, subpackages, packages, load, _has_own, _own, _third_party):
        known.cache_clear()
    _warned.clear()


@cache
def _own(package: str) -> frozenset[str]:
    modules = pkgutil.iter_modules(_import(package).__path__)
    own = (module.name for module in modules if not module.ispkg)
    return frozenset(name for name in own if name != "base" and not name.startswith("_"))


@cache
def _third_party(package: str) -> dict[str, tuple[EntryPoint, ...]]:
    found: dict[str, tuple[EntryPoint, ...]] = {}
    points = entry_points(group=f"puzzlemark.{package}")
    for point in sorted(points, key=lambda each: (each.name, _owner([each]))):
        found[point.name] = (*found.get(point.name, ()), point)
    return found


def _load_third_party(package: str, point: EntryPoint) -> ModuleType:
    what = f"{package} {point.name!r} of {_owner([point])} cannot be used"
    try:
        module = point.load()
        reason = why_misshapen(package, point.name, module)
    except Exception as exc:  # whatever a stranger's module raises, we name whose it is
        message = f"{what}: {type(exc).__name__}: {exc}; upgrade or uninstall it"
        raise PluginError(message) from exc
    if reason is not None:
        raise PluginError(f"{what}: {reason}; upgrade or uninstall it")
    assert isinstance(module, ModuleType)
    return module


def _owner(points: Sequence[EntryPoint]) -> str:
    """`the package puzzlemark-parrot 1.0`."""
    dists = [point.dist for point in points]
    named = sorted({f"{dist.name} {dist.version}" if dist else "of no name" for dist in dists})
    return f"the package{'s' * (len(named) > 1)} {' and '.join(named)}"


_warned: set[str] = set()


def warn(message: str) -> None:
    """Say once what is wrong with a plug-in; not again in each worker process."""
    if message not in _warned and multiprocessing.parent_process() is None:
        _warned.add(message)
        warnings.warn(message, PuzzleMarkWarning, stacklevel=3)


def _import(package: str) -> ModuleType:
    return importlib.import_module(f"puzzlemark.{package}".rstrip("."))


def _resolve(package: str, name: str) -> type:
    module, _, inner = name.rpartition(":")
    found: type = getattr(_import(module or f"{package}.base"), inner)
    return found


def _members(kind: Any) -> set[str]:
    """The public names that a protocol asks for, or that a class or module has."""
    own = set(dir(kind)) if not _is_protocol(kind) else set()
    for each in getattr(kind, "__mro__", ()):
        if each not in (object, Protocol, Generic):
            own |= set(vars(each)) | set(getattr(each, "__annotations__", ()))
    return {name for name in own if not name.startswith("_")}


def _is_protocol(kind: Any) -> bool:
    return bool(getattr(kind, "_is_protocol", False))
