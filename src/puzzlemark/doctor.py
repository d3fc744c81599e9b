"""What this installation has and lacks: versions, extras, browser, models, processor, disk, secret.

It looks and never changes anything. Nothing of a secret is read, but who may read its file.
"""

import os
import platform
import shutil
import stat
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Literal

from puzzlemark import plugins
from puzzlemark.embedding.secret import VARIABLE, default_path
from puzzlemark.engines.base import available_cores
from puzzlemark.models.fetching.run import default_folder

State = Literal["ok", "missing", "warning"]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
LEAST_FREE = 2 << 30  # bytes; a model and a checkpoint of it need about as much
NOT_FOR_USERS = ("dev", "docs")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    state: State
    found: str
    remedy: str = ""  # what to type, where something is missing


def diagnose() -> list[Finding]:
    """Look at everything: `[f for f in diagnose() if f.state != "ok"]` is what may need care."""
    return [
        *_versions(),
        *_extras(),
        *_foreign_plugins(),
        _browser(),
        _java(),
        *_models(),
        _accelerator(),
        _disk(),
        _secret(),
    ]


def to_json(findings: list[Finding]) -> dict[str, Any]:
    """Plain values: the content of `puzzlemark doctor --json`."""
    return {"findings": [asdict(finding) for finding in findings]}


def _versions() -> Iterator[Finding]:
    yield Finding("puzzlemark", "ok", version("puzzlemark"))
    yield Finding("Python", "ok", f"{platform.python_version()} on {platform.platform()}")
    yield Finding("cores", "ok", str(available_cores()))


def _extras() -> Iterator[Finding]:
    for extra, packages in sorted(_packages_of_extras().items()):
        if extra in NOT_FOR_USERS:
            continue
        missing = [name for name in packages if _version(name) is None]
        if missing:
            remedy = f"pip install 'puzzlemark[{extra}]'"
            yield Finding(f"extra {extra}", "missing", f"without {', '.join(missing)}", remedy)
        else:
            listed = ", ".join(f"{name} {_version(name)}" for name in packages)
            yield Finding(f"extra {extra}", "ok", listed)


def _packages_of_extras() -> dict[str, list[str]]:
    """What each extra installs, by the package's own metadata."""
    from packaging.requirements import Requirement

    found: dict[str, list[str]] = {}
    for text in requires("puzzlemark") or []:
        needed = Requirement(text)
        marker = str(needed.marker or "")
        if "extra == " in marker:
            extra = marker.partition("extra == ")[2].strip("\"' )")
            found.setdefault(extra, []).append(needed.name)
    return found


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _foreign_plugins() -> Iterator[Finding]:
    for package in plugins.packages():
        for name in plugins.names(package):
            if (owner := plugins.distribution(package, name)) is not None:
                yield Finding(f"plug-in {package}.{name}", "ok", f"from {owner}")


def _browser() -> Finding:
    program = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        remedy = "only the tests of pages need one: install chromium"
        return Finding("browser", "missing", "none of " + ", ".join(BROWSERS), remedy)
    return Finding("browser", "ok", program)


def _java() -> Finding:
    program = shutil.which("javac")
    if program is None:
        remedy = "only the tests of Java programs need it: install a JDK"
        return Finding("javac", "missing", "not found", remedy)
    return Finding("javac", "ok", program)


def _models() -> Iterator[Finding]:
    for name in plugins.names("models.pretrained"):
        folder = default_folder(name)
        if (folder / "config.json").exists():
            yield Finding(f"model {name}", "ok", str(folder))
        else:
            remedy = f"puzzlemark model fetch {name}"
            yield Finding(f"model {name}", "missing", "not fetched", remedy)


def _accelerator() -> Finding:
    if _version("torch") is None:
        return Finding("GPU", "missing", "not looked for: torch is not installed")
    import torch

    if torch.cuda.is_available():
        return Finding("GPU", "ok", torch.cuda.get_device_name(0))
    if sys.platform == "darwin" and torch.backends.mps.is_available():
        return Finding("GPU", "ok", "Apple, by mps")
    return Finding("GPU", "missing", "none: models are trained and asked on the processor")


def _disk() -> Finding:
    place = Path.cwd()
    free = shutil.disk_usage(place).free
    text = f"{free / (1 << 30):.1f} GiB free here"
    if free < LEAST_FREE:
        return Finding("disk", "warning", text, "make room before a training or a large dataset")
    return Finding("disk", "ok", text)


def _secret() -> Finding:
    if os.environ.get(VARIABLE):
        return Finding("secret", "ok", f"in the environment ({VARIABLE})")
    path = default_path()
    if not path.exists():
        return Finding("secret", "missing", f"{path} is made when it is first needed")
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        return Finding("secret", "warning", f"{path}: others may read it", f"chmod 600 {path}")
    return Finding("secret", "ok", str(path))
