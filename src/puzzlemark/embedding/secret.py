"""The owner's secret: it decides the order in which carriers are walked, and nothing shows it."""

import hashlib
import hmac
import os
import secrets
import stat
import unicodedata
from pathlib import Path

from puzzlemark.errors import SecretError, UsageError
from puzzlemark.watermarks.base import Keyed, Watermark

VARIABLE = "PUZZLEMARK_SECRET"
SHORTEST = 16  # bytes
LONGEST_NAME = 200  # characters of a licensee's name
_OF_WATERMARKS = "watermark:"  # purposes whose keys differ between licensees


class Secret:
    """Bytes that print as nothing: `Secret(***)`."""

    __slots__ = ("_licensee", "_value")

    def __init__(self, value: bytes, licensee: str | None = None) -> None:
        if len(value) < SHORTEST:
            raise SecretError(f"the secret is too short; use at least {SHORTEST} bytes")
        self._value = value
        self._licensee = licensee

    def __repr__(self) -> str:
        return "Secret(***)"

    def derive(self, purpose: str) -> bytes:
        """A key of 32 bytes for one purpose, from which neither secret nor other keys follow."""
        key = hmac.digest(self._value, purpose.encode(), hashlib.sha256)
        if self._licensee is None or not purpose.startswith(_OF_WATERMARKS):
            return key
        return hmac.digest(key, f"licensee:{self._licensee}".encode(), hashlib.sha256)

    def licensed(self, licensee: str | None) -> "Secret":
        """The same secret for one licensee's copy; None: for everybody's.

        Only the keys of watermarks differ. Which records carry, and in which order they are walked,
        is the same in all copies: one file of probes asks about all of them.
        """
        return self if licensee is None else Secret(self._value, spell_licensee(licensee))

    @property
    def fingerprint(self) -> str:
        """Tells two secrets apart without giving either away; stands in the manifest."""
        return self.derive("fingerprint").hex()[:16]


def bind_key(watermark: Watermark, secret: Secret) -> tuple[Watermark, str | None]:
    """A watermark with its key, if it takes one, and the key's fingerprint for the manifest."""
    if not isinstance(watermark, Keyed):
        return watermark, None
    key, fingerprint = watermark_key(secret, watermark.name)
    return watermark.with_key(key), fingerprint


def watermark_key(secret: Secret, scheme: str) -> tuple[bytes, str]:
    """The key of a watermark, and its fingerprint, which may be written."""
    key = secret.derive(f"{_OF_WATERMARKS}{scheme}")
    return key, Secret(key).fingerprint


def spell_licensee(name: str) -> str:
    """A licensee's name as keys are derived from it: composed (NFC), without blanks around it."""
    spelled = unicodedata.normalize("NFC", name).strip()
    if not spelled or not spelled.isprintable() or len(spelled) > LONGEST_NAME:
        raise UsageError(
            f"a licensee's name is 1 to {LONGEST_NAME} characters that can be printed, on one line"
        )
    return spelled


def default_path() -> Path:
    """Where the secret lives when nothing else is said: the user's configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "puzzlemark" / "secret"


def secret_path(path: Path | None = None) -> Path | None:
    """The file that `find_secret` would read or make; None: the environment has the secret."""
    if path is None and os.environ.get(VARIABLE):
        return None
    return path or default_path()


def find_secret(path: Path | None = None, *, make: bool = True) -> Secret:
    """The secret of a file, else of the environment, else of the default file.

    A file that is not there is made, with mode 0600 and fresh random content, or with `make=False`
    is an error: a new secret is of no use where an old one is needed.
    """
    if path is None and (text := os.environ.get(VARIABLE)):
        return Secret(text.strip().encode())
    path = path or default_path()
    if not path.exists():
        if not make:
            raise SecretError(f"{path}: no secret here; pass --secret-file")
        return _generate(path)
    try:
        content = path.read_bytes().strip()
    except OSError as exc:
        raise SecretError(f"{path}: cannot read the secret: {exc.strerror}") from exc
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise SecretError(f"{path}: others may read the secret; run: chmod 600 {path}")
    return Secret(content)


def _generate(path: Path) -> Secret:
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as exc:
        raise SecretError(
            f"{path}: cannot write a new secret: {exc.strerror}; pass --secret-file"
        ) from exc
    with os.fdopen(handle, "w") as file:
        text = secrets.token_hex(32)
        file.write(text + "\n")
    return Secret(text.encode())
