"""The commitment: marks, keys, dataset and plan in one hash, which the owner publishes.

`commitment.json` names the marks by the root of a Merkle tree and the keys by salted hashes, so it
tells nothing of either. Its salts follow from the secret: there is nothing else to keep, and the
same commitment can be made again. Its text is canonical (RFC 8785), so that the hash is that of the
file, which any tool computes.
"""

import hashlib
import hmac
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, NonNegativeInt, ValidationError

from puzzlemark.corpora.base import Corpus
from puzzlemark.embedding.manifest import Dataset, Manifest, load_manifest, manifest_digest
from puzzlemark.embedding.redrawing import draws_anything, redraw
from puzzlemark.embedding.run import revert
from puzzlemark.embedding.secret import (
    Secret,
    bind_key,
    find_secret,
    secret_path,
    watermark_key,
)
from puzzlemark.embedding.survey import reopen
from puzzlemark.errors import ManifestError, PuzzleMarkError, SecretError, UsageError
from puzzlemark.evidence.merkle import MerkleTree, hash_leaf
from puzzlemark.evidence.plan import (
    Plan,
    PlanError,
    default_plan,
    plan_from,
    planned_probes,
    read_plan,
)
from puzzlemark.files import keep_apart
from puzzlemark.languages.base import parsing_packages
from puzzlemark.provenance import versions
from puzzlemark.staging import staged
from puzzlemark.stores import Location, opened
from puzzlemark.watermarks.base import Watermark, designs, from_settings

FORMAT: Literal["puzzlemark commitment"] = "puzzlemark commitment"
# 1 fixed neither the manifest as a whole nor the questions; 2 not which key judges them
VERSION: Literal[3] = 3
FILE, PLAN, REQUEST, READ_ME = "commitment.json", "plan.toml", "request.tsq", "README.txt"
TOKENS = "tokens"  # the folder of timestamps
RUNS = "runs.jsonl"  # the list of runs: see `puzzlemark.evidence.ledger`
KEYS = ("order", "draw", "probes")  # what the choice of carriers and of all names follows from


class CommitmentError(PuzzleMarkError):
    """A commitment cannot be made, read or stamped as asked."""


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Marks(_Strict):
    """All carriers of the manifest, by the root of their tree."""

    leaves: NonNegativeInt
    root: str


class Published(_Strict):
    """The dataset as others get it."""

    records: NonNegativeInt
    digest: str  # over the id and code of every record, in order; see docs/manifest.md
    files: dict[str, str]  # SHA-256 by name


class Content(_Strict):
    """What `commitment.json` says."""

    format: Literal["puzzlemark commitment"]
    version: Literal[1, 2, 3]
    versions: dict[str, str]
    dataset: Published
    marks: Marks
    header: str  # salted hash of the manifest's first line: scheme, settings, counts
    keys: dict[str, str]  # salted hashes, by what a key is for
    plan: dict[str, Any]
    manifest: str | None = None  # salted hash of the digest of the whole manifest
    questions: str | None = None  # of the probes that follow from the plan: `ProbeSet.questions`
    judge: str | None = None  # which key judges them: `ProbeSet.judge`


@dataclass(frozen=True, slots=True)
class Commitment:
    """A commitment, as its folder has it."""

    folder: Path
    content: Content
    plan: Plan

    @property
    def hash(self) -> str:
        """The one hash to publish: SHA-256 of `commitment.json`."""
        return hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """The file's canonical text."""
        fields = self.content.model_dump(mode="json")
        for name in ("manifest", "questions", "judge"):  # earlier versions had none
            if fields[name] is None:
                del fields[name]
        return canonical(fields)


def canonical(value: object) -> bytes:
    """JSON as RFC 8785 spells it: one text for one value."""
    try:
        import rfc8785
    except ImportError as exc:
        raise CommitmentError("rfc8785 is missing: pip install 'puzzlemark[evidence]'") from exc
    try:
        return rfc8785.dumps(value)  # type: ignore[arg-type]
    except rfc8785.CanonicalizationError as exc:  # a number that not every program reads alike
        raise CommitmentError(f"cannot be committed to: {exc}; choose another value") from exc


def commit(
    manifest: Path | str,
    dataset: Path | str,
    output: Path | str,
    *,
    plan: Path | None = None,
    secret_file: Path | None = None,
    overwrite: bool = False,
) -> Commitment:
    """Fix marks, keys, plan and published files in one hash, and write what is needed to stamp it.

    The same input and secret give the same bytes.
    """
    from puzzlemark.evidence.stamping import make_request

    marks = load_manifest(manifest)
    header = marks.header
    corpus = reopen(dataset, header)
    keep_apart(
        {"--output": output},
        {
            "--dataset": corpus.paths,
            "--manifest": manifest,
            "--plan": plan,
            "--secret-file" if secret_file else "the secret": secret_path(secret_file),
        },
    )
    _refuse_used(Path(output))
    secret = owner_of(marks, manifest, secret_file)
    watermark = from_settings(header.watermark.scheme, header.watermark.settings)
    _refuse_other_draws(marks, manifest, watermark, secret)
    fixed = default_plan(watermark.design) if plan is None else read_plan(plan, watermark.design)
    canonical(fixed.to_json())  # whatever cannot be committed to, no probe is made in vain
    published = _published(corpus, header.marked, manifest)
    _refuse_other_frequencies(marks, manifest, dataset)
    planned = planned_probes(dataset, manifest, fixed, secret)
    made = Commitment(
        Path(output),
        Content(
            format=FORMAT,
            version=VERSION,
            versions=versions(*parsing_packages()),
            dataset=published,
            **hidden(marks, manifest, secret),
            keys={
                name: _salted(salt_of(marks, secret, f"key:{name}"), key)
                for name, key in keys_of(watermark, secret)
            },
            plan=fixed.to_json(),
            questions=planned.questions,
            judge=planned.judge,
        ),
        fixed,
    )
    with staged(Path(output), overwrite=overwrite) as place:
        place.mkdir()
        (place / FILE).write_bytes(made.to_bytes())
        (place / PLAN).write_text(fixed.to_toml(), encoding="utf-8")
        (place / REQUEST).write_bytes(make_request(made.to_bytes()))
        (place / READ_ME).write_text(_instructions(made), encoding="utf-8")
    return made


def hidden(marks: Manifest, path: Path | str, secret: Secret) -> dict[str, Any]:
    """What is committed to of a manifest: it tells nothing, and can be opened piece by piece."""
    salt = salt_of(marks, secret, "manifest")
    return {
        "marks": _tree(marks, secret),
        "header": _salted(salt_of(marks, secret, "header"), marks.header.to_line()),
        "manifest": _salted(salt, manifest_digest(path).encode()),
    }


def _refuse_used(output: Path) -> None:
    """A timestamp cannot be had again, nor a run undone: what they are about is never replaced."""
    if any((output / TOKENS).glob("*.tsr")):
        raise CommitmentError(f"{output}: has been stamped; choose another --output")
    if (output / RUNS).exists():
        raise CommitmentError(f"{output}: models were asked under it; choose another --output")


def owner_of(marks: Manifest, path: Path | str, secret_file: Path | None) -> Secret:
    """The secret, which must be that of the marks where they were made with one.

    Of a licensee's copy it is the secret for that licensee.
    """
    made_with = marks.header.secret_fingerprint
    secret = find_secret(secret_file, make=made_with is None)
    if made_with not in (None, secret.fingerprint):
        raise SecretError(
            f"{path} was made with another secret; pass the file of that one (--secret-file)"
        )
    return secret.licensed(marks.header.licensee)


def _refuse_other_draws(
    marks: Manifest, path: Path | str, watermark: Watermark, secret: Secret
) -> None:
    """Raise when a name that is said to be drawn does not follow from the key."""
    key = watermark_key(secret, watermark.name)[0]
    for carrier in marks:
        for mark in carrier.marks:
            if mark.draw is not None and mark.draw.symbol(key) != mark.of("target").text:
                raise ManifestError(
                    f"{path}: row {carrier.row}: its name is not the one that the key draws; the "
                    "manifest was changed, or made with another secret"
                )


def _refuse_other_frequencies(marks: Manifest, path: Path | str, dataset: Path | str) -> None:
    """Raise when what names were drawn among does not follow from the dataset, as `check` would.

    Where other marks stand in it as well (`embed --profile owner`) it cannot be told from this one.
    """
    header = marks.header
    if not draws_anything(header) or header.published is not None:
        return
    with tempfile.TemporaryDirectory(prefix="puzzlemark-") as place:
        original = Path(place, Path(dataset).name)
        revert(dataset, original, path)
        again = redraw(marks, original)
    if not again.same:
        raise ManifestError(
            f"{path}: classes or frequencies of {len(again.differing):,} of {again.draws:,} marks "
            "do not follow from the dataset; the manifest was changed, or made by another version: "
            "mark the dataset again"
        )


def _published(corpus: Corpus, marked: Dataset, manifest: Path | str) -> Published:
    """The dataset at hand, file by file; its records must be those that were marked."""
    digest = corpus.digest()
    if digest != marked.digest:
        raise ManifestError(
            f"{corpus.path}: not the marked dataset of {manifest}, or changed since: digest "
            f"{digest}, expected {marked.digest}"
        )
    files = {shard.name: _digest_of(shard.path) for shard in corpus.shards}
    return Published(records=marked.records, digest=digest, files=files)


def _digest_of(path: Location) -> str:
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def salt_of(marks: Manifest, secret: Secret, what: str) -> bytes:
    """The salt of one thing that is hidden; to open one tells nothing of the others."""
    base = secret.derive(f"commitment:{hashlib.sha256(marks.header.to_line()).hexdigest()}")
    return hmac.digest(base, what.encode(), hashlib.sha256)


def _salted(salt: bytes, content: bytes) -> str:
    return hashlib.sha256(salt + content).hexdigest()


def leaves_of(marks: Manifest, secret: Secret) -> Iterator[bytes]:
    """The carriers' leaves, in the order of the manifest: a salt, and the line."""
    for row, line in marks.lines.items():
        yield hash_leaf(salt_of(marks, secret, f"row:{row}") + line)


def _tree(marks: Manifest, secret: Secret) -> Marks:
    tree = MerkleTree(leaves_of(marks, secret))
    return Marks(leaves=len(tree), root=tree.root.hex())


def keys_of(watermark: Watermark, secret: Secret) -> Iterator[tuple[str, bytes]]:
    """Every key that the marks follow from: any of them can be shown without the secret."""
    for name in KEYS:
        yield name, secret.derive(name)
    if bind_key(watermark, secret)[1] is not None:
        yield "watermark", watermark_key(secret, watermark.name)[0]


def load_commitment(folder: Path | str) -> Commitment:
    """Read a commitment, and refuse one that is not what `commit` writes."""
    folder = Path(folder)
    path = folder / FILE
    try:
        raw = path.read_bytes()
        content = Content.model_validate_json(raw)
    except OSError as exc:
        raise CommitmentError(f"{path}: cannot be read: {exc.strerror}") from exc
    except ValidationError as exc:
        raise CommitmentError(f"{path}: not a commitment made by `puzzlemark commit`") from exc
    design = designs().get(str(content.plan.get("design")))
    if design is None:
        raise CommitmentError(
            f"{path}: the design of its plan is not known here; install the package of its "
            "watermark"
        )
    try:
        found = Commitment(folder, content, plan_from(dict(content.plan), design))
        spelled = found.to_bytes()
    except (PlanError, UsageError, CommitmentError) as exc:
        raise CommitmentError(f"{path}: {exc}") from exc
    if spelled != raw:
        raise CommitmentError(f"{path}: not in canonical form, so its hash is not its own")
    return found


def _instructions(made: Commitment) -> str:
    return f"""The hash to publish:

    {made.hash}

It is the SHA-256 of {FILE}. Whoever has that file can check it: sha256sum {FILE}

1. Have it stamped before you publish the dataset. Send {REQUEST} to a timestamp authority
   (RFC 3161) that the other side will accept, such as one of a qualified trust service:

       curl --data-binary @{REQUEST} -H 'Content-Type: application/timestamp-query' \\
            URL-OF-THE-AUTHORITY > token.tsr
       puzzlemark commit stamp {made.folder.name} --token token.tsr --roots root.pem

   Two authorities are better than one. What is sent is the hash alone.
2. Publish the hash where it can be found again, if you like: beside the dataset, say. It tells
   nothing of the marks.
3. Keep this folder, the manifest and the secret. The salts follow from the secret: without it
   nothing that is committed here can ever be opened.
4. When a model is judged, follow {PLAN}. A verdict that does not is exploratory.
"""
