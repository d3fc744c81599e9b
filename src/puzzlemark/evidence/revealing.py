"""Opening a commitment: some carriers with their paths, the header, and the keys that a test needs.

What is not opened stays hidden: every leaf, the header and each key have a salt of their own.
"""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt, ValidationError

from puzzlemark.embedding.manifest import Carrier, Manifest
from puzzlemark.embedding.secret import Secret
from puzzlemark.errors import UsageError
from puzzlemark.evidence.archive import BundleError
from puzzlemark.evidence.commitment import Content, keys_of, leaves_of, salt_of
from puzzlemark.evidence.merkle import MerkleTree, hash_leaf, root_from
from puzzlemark.verification.framing import drawn_rows
from puzzlemark.verification.probes import ProbeSet
from puzzlemark.watermarks.base import Framing, from_settings

OPENED, CARRIERS = "reveal/opened.json", "reveal/carriers.jsonl"
FORMAT: Literal["puzzlemark opening"] = "puzzlemark opening"
LONGEST_PATH = 64  # a tree with more levels does not fit into any machine
# one way to spell a number: what can be spelled in two ways can be changed unnoticed
Hex = Annotated[str, Field(pattern=r"^([0-9a-f]{2})*$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class SealedText(_Part):
    """A text, and the salt that its hash was made with; both in the commitment's own bytes."""

    salt: Hex
    line: str

    @property
    def hash(self) -> str:
        """As the commitment has it."""
        return hashlib.sha256(bytes.fromhex(self.salt) + self.line.encode()).hexdigest()


class SealedKey(_Part):
    """A key, and its salt."""

    salt: Hex
    key: Hex

    @property
    def hash(self) -> str:
        """As the commitment has it."""
        return hashlib.sha256(bytes.fromhex(self.salt) + bytes.fromhex(self.key)).hexdigest()


class Leaf(_Part):
    """One carrier: its line of the manifest, its salt, its place in the tree and the way up."""

    index: NonNegativeInt
    salt: Hex
    line: str
    path: tuple[Hex, ...]

    def leads_to(self, leaves: int, root: str) -> bool:
        """Whether it is the leaf at its place of the tree with this root."""
        if len(self.path) > LONGEST_PATH:
            return False
        leaf = hash_leaf(bytes.fromhex(self.salt) + self.line.encode())
        found = root_from(leaf, self.index, leaves, [bytes.fromhex(each) for each in self.path])
        return found is not None and found.hex() == root


class Opened(_Part):
    """The content of `reveal/opened.json`."""

    format: Literal["puzzlemark opening"]
    version: Literal[1]
    header: SealedText | None
    keys: dict[str, SealedKey]


class OpenedSecret(Secret):
    """What is left of a secret when only some of its keys are known: it derives those, no other.

    It stands for the owner's secret where a verdict is computed again, or probes are made again.
    """

    __slots__ = ("_fingerprint", "_keys")

    def __init__(self, keys: Mapping[str, bytes], fingerprint: str | None) -> None:
        super().__init__(b"not the secret: opened keys only")
        self._keys = dict(keys)
        self._fingerprint = fingerprint

    def derive(self, purpose: str) -> bytes:
        """A key that was opened; those of a watermark all go by that name."""
        name = purpose.partition(":")[0]
        if name not in self._keys:
            raise BundleError(f"the key {name!r} was not opened, and it is needed")
        return self._keys[name]

    def licensed(self, licensee: str | None) -> "OpenedSecret":  # noqa: ARG002
        """Itself: what was opened are the keys of the copy at hand."""
        return self

    @property
    def fingerprint(self) -> str:
        """That of the whole secret, as the manifest has it."""
        return self._fingerprint or ""


def choose(reveal: str, manifest: Manifest, runs: Sequence[ProbeSet]) -> list[int]:
    """The rows to open: `all`, `probed`, or so many of those that are asked about first."""
    if reveal == "all":
        return list(manifest.lines)
    asked = list(dict.fromkeys(row for probes in runs for row in asked_rows(manifest, probes)))
    if reveal == "probed":
        return asked
    if not reveal.isdecimal():
        raise UsageError(f"--reveal {reveal}: pass all, probed, or a number of carriers")
    return asked[: int(reveal)]


def asked_rows(manifest: Manifest, probes: ProbeSet) -> list[int]:
    """The carriers that probes were made of, or were tried, in the order in which they are drawn.

    How many that are follows from the file: every mark was asked about or refused.
    """
    header, scheme = probes.header, manifest.header.watermark
    if isinstance(from_settings(scheme.scheme, scheme.settings), Framing):
        drawn = drawn_rows(manifest.header.input.records, header.seed)
        return [row for row in drawn if row in manifest.lines]
    rows = list(manifest.lines)
    random.Random(header.seed).shuffle(rows)
    marks, found = header.pairs + sum(header.refused.values()), []
    for row in rows:
        if marks <= 0:
            break
        marks -= len(Carrier.from_line(manifest.lines[row]).marks)
        found.append(row)
    return found


def open_commitment(
    manifest: Manifest, secret: Secret, rows: Sequence[int], keys: Sequence[str]
) -> dict[str, bytes]:
    """The files that open these carriers, the header and these keys, by their names."""
    scheme = manifest.header.watermark
    known = dict(keys_of(from_settings(scheme.scheme, scheme.settings), secret))
    opened = Opened(
        format=FORMAT,
        version=1,
        header=SealedText(
            salt=salt_of(manifest, secret, "header").hex(),
            line=manifest.header.to_line().decode(),
        ),
        keys={
            name: SealedKey(
                salt=salt_of(manifest, secret, f"key:{name}").hex(), key=known[name].hex()
            )
            for name in keys
        },
    )
    lines = (_spell(each) for each in _leaves(manifest, secret, rows))
    return {OPENED: _spell(opened), CARRIERS: b"".join(lines)}


def nothing_opened() -> dict[str, bytes]:
    """The same files where nothing is opened."""
    opened = Opened(format=FORMAT, version=1, header=None, keys={})
    return {OPENED: _spell(opened), CARRIERS: b""}


def _leaves(manifest: Manifest, secret: Secret, rows: Sequence[int]) -> Iterator[Leaf]:
    tree = MerkleTree(leaves_of(manifest, secret))
    wanted = set(rows)
    for index, (row, line) in enumerate(manifest.lines.items()):
        if row in wanted:
            salt = salt_of(manifest, secret, f"row:{row}").hex()
            path = tuple(each.hex() for each in tree.path(index))
            yield Leaf(index=index, salt=salt, line=line.decode(), path=path)


def _spell(part: BaseModel) -> bytes:
    text = json.dumps(part.model_dump(mode="json"), separators=(",", ":"), ensure_ascii=False)
    return text.encode() + b"\n"


def read_opened(files: Mapping[str, bytes]) -> tuple[Opened, list[Leaf]]:
    """What a bundle opens; a BundleError where it is not written as we write it."""
    try:
        opened = Opened.model_validate_json(files[OPENED])
        leaves = [Leaf.model_validate_json(line) for line in files[CARRIERS].splitlines()]
        for leaf in leaves:
            Carrier.from_line(leaf.line.encode())
    except (KeyError, ValidationError, ValueError, RecursionError) as exc:
        raise BundleError("what it opens of the commitment cannot be read") from exc
    if files[OPENED] != _spell(opened) or files[CARRIERS] != b"".join(map(_spell, leaves)):
        raise BundleError("what it opens of the commitment is not spelled as we spell it")
    return opened, leaves


def wrong_openings(opened: Opened, content: Content) -> list[str]:
    """What is not as it was committed to: `header`, or the names of keys."""
    wrong = []
    if opened.header is not None and opened.header.hash != content.header:
        wrong.append("header")
    wrong += (name for name, key in opened.keys.items() if key.hash != content.keys.get(name))
    return wrong
