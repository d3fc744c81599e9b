"""`puzzlemark.toml`: options that are always the same, so that nobody types them.

    language = "python"          # of every command that has the option
    secret-file = "keys/secret"  # paths are relative to the file

    [embed]                      # of this command
    mark = "U1"

    [study.make]
    seed = 7

What is typed comes first. A key that no command has is an error: it would be ignored.
"""

import difflib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from puzzlemark.cli.base import Place
from puzzlemark.errors import UsageError

NAME = "puzzlemark.toml"
SECRETS = frozenset("secret key api_key password token access_token private_key".split())
TYPED = frozenset({"force", "config", "version", "help"})  # only where somebody types them

Table: TypeAlias = Mapping[str, Any]


def find_config(start: Path) -> Path | None:
    """The nearest file upwards: as far as the home folder or the root of the repository."""
    home = Path.home()
    for folder in (start, *start.parents):
        if (folder / NAME).is_file():
            return folder / NAME
        if folder == home or (folder / ".git").exists():
            return None
    return None


def read_config(path: Path) -> Table:
    """What the file says, with underscores in the names; secrets are refused."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise UsageError(f"{path}: {exc.strerror}; check --config") from exc
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
        raise UsageError(f"{path}: not TOML ({exc})") from exc
    return _plain(found, path)


def _plain(table: Table, path: Path) -> Table:
    plain: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name.lower() in SECRETS:
            raise UsageError(
                f"{path}: {key}: no secrets in this file; name the file of one (secret-file), or "
                "set the variable that the command reads"
            )
        if name in TYPED:
            raise UsageError(f"{path}: {key}: must be typed each time; remove it")
        if name in plain:
            raise UsageError(f"{path}: {key} stands there twice")
        plain[name] = _plain(value, path) if isinstance(value, dict) else value
    return plain


def defaults_for(
    config: Table,
    path: Path,
    command: Any,
    commands: Iterable[str],
    every_command: Callable[[], Any],
) -> dict[str, Any]:
    """The defaults of the command that was called, or of the commands of a group.

    `commands` are the names of all; `every_command` loads them, to tell an option of another
    command from a mistake.
    """
    tables = {key: value for key, value in config.items() if isinstance(value, Mapping)}
    names = {each.replace("-", "_"): each for each in commands}
    for key in tables:
        if key not in names:
            raise UsageError(f"{path}: no command [{key}]{_nearest(key, names)}")
    common = {key: value for key, value in config.items() if key not in tables}
    own = tables.get(command.name.replace("-", "_"), {})
    if unknown := common.keys() - _options_within(command).keys():
        everywhere = _options_within(every_command())
        for key in sorted(unknown - everywhere.keys()):
            raise UsageError(f"{path}: no command has the option {key}{_nearest(key, everywhere)}")
    return _defaults(command, common, own, path)


def _defaults(command: Any, common: Table, own: Table, path: Path) -> dict[str, Any]:
    inner = getattr(command, "commands", {})
    options = _options(command)
    found: dict[str, Any] = {}
    for key in own:
        is_command = key in {name.replace("-", "_") for name in inner}
        if not is_command and key not in options:
            near = _nearest(key, [*options, *inner])
            raise UsageError(f"{path}: [{command.name}] has no option {key}{near}")
    for key, value in {**common, **own}.items():
        if key in options:
            found[options[key].name] = _value(options[key], value, key, path)
    for name, each in inner.items():
        table = own.get(name.replace("-", "_"), {})
        found[name] = _defaults(each, common, table if isinstance(table, Mapping) else {}, path)
    return found


def _options(command: Any) -> dict[str, Any]:
    """The options of a command, by each name that is typed; arguments are none."""
    return {
        spelled.lstrip("-").replace("-", "_"): option
        for option in command.params
        if option.param_type_name == "option" and option.name not in TYPED
        for spelled in (*option.opts, *option.secondary_opts)
        if spelled.startswith("--")
    }


def _options_within(command: Any) -> dict[str, Any]:
    found = _options(command)
    for each in getattr(command, "commands", {}).values():
        found |= _options_within(each)
    return found


def _value(option: Any, value: Any, key: str, path: Path) -> Any:
    if isinstance(value, Mapping):
        raise UsageError(f"{path}: {key} is an option, not a table")
    if option.is_flag != isinstance(value, bool):
        what = "true or false" if option.is_flag else "a value"
        raise UsageError(f"{path}: {key} is {what}, not {str(value).lower()}")
    if isinstance(value, list):
        return [_value(option, each, key, path) for each in value]
    # Paths are relative to the file: it is found from any folder below
    if isinstance(value, str) and _takes_path(option) and "://" not in value:
        return str(path.parent / Path(value).expanduser())
    return value


def _takes_path(option: Any) -> bool:
    kind = option.type_descriptor.annotation
    return kind is Place or (isinstance(kind, type) and issubclass(kind, Path))


def _nearest(key: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(known), n=1)
    return f"; did you mean {near[0]}?" if near else ""
