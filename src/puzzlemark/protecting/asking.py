"""What a run of `protect` was asked for: by options, or by the manifest of the run before it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from puzzlemark.embedding.manifest import Manifest, load_manifest
from puzzlemark.embedding.manifest import Repository as Asked
from puzzlemark.embedding.run import Choice, choose
from puzzlemark.embedding.secret import Secret, find_secret, secret_path
from puzzlemark.errors import ManifestError, SecretError, UsageError
from puzzlemark.files import keep_apart
from puzzlemark.languages.base import find
from puzzlemark.progress import Progress
from puzzlemark.protecting import git
from puzzlemark.protecting.planning import Keys
from puzzlemark.protecting.repository import Repository
from puzzlemark.protecting.testing import Suite
from puzzlemark.protecting.writing import recover
from puzzlemark.watermarks.base import Counting, Watermark, from_settings, to_settings

MESSAGE = "Rename local variables"
OWN_JOINING = {"universal", "fixed_prefix"}  # watermarks that can follow a file's own spelling


@dataclass(frozen=True, slots=True)
class Target:
    """Where the marks go: just one of three, or nowhere."""

    branch: str | None = None
    in_place: bool = False
    output: Path | None = None
    dry_run: bool = False
    message: str = MESSAGE

    def __post_init__(self) -> None:
        ways = [self.branch is not None, self.in_place, self.output is not None]
        if sum(ways) > 1:
            raise UsageError("pass one of --branch, --in-place and --output, not several")
        if not any(ways) and not self.dry_run:
            raise UsageError(
                "where shall the marks go? pass --branch NAME, --in-place or --output DIR; "
                "--dry-run only looks"
            )


@dataclass(frozen=True, slots=True)
class Job:
    """All that one run is about."""

    repository: Repository
    manifest: Path
    target: Target
    tests: Suite | None
    classpath: str
    progress: Progress


@dataclass(frozen=True, slots=True)
class Marking:
    """How the functions are marked."""

    choice: Choice
    rate: float
    asked: Asked
    secret: Secret

    @property
    def keys(self) -> Keys:
        """What the secret decides."""
        return Keys(self.secret.derive("order"), self.secret.derive("draw"))


def open_job(
    path: Path | str,
    manifest: Path | str | None,
    target: Target,
    test: str | None,
    timeout: float | None,
    classpath: str,
    progress: Progress,
) -> Job:
    """The repository, the manifest and where to write; refuses what cannot go together."""
    repository = Repository.open(path)
    place = Path(manifest) if manifest is not None else repository.default_manifest()
    repository.refuse_inside("--manifest", place)
    keep_apart({"--output": target.output, "--manifest": place}, {"REPO": repository.folder})
    if place.is_dir():
        raise UsageError(f"{place}: is a folder; name a file for the manifest")
    if not target.dry_run:
        recover(place)
    if target.branch is not None:
        _refuse_branch(repository)
    tests = None
    if test is not None:
        tests = Suite(test, place.with_name(f"{place.name}.test.log"), timeout)
    elif timeout is not None:
        raise UsageError("--test-timeout has no effect without --test; leave it out")
    return Job(repository, place, target, tests, classpath, progress)


def _refuse_branch(repository: Repository) -> None:
    if repository.top is None:
        raise UsageError(f"{repository.folder}: not a git work tree; pass --in-place or --output")
    if changed := git.changed(repository.top):
        raise UsageError(
            f"{repository.folder}: {changed[0]} is changed and not committed; commit or stash it "
            "before --branch"
        )


def earlier_manifest(path: Path, *, update: bool) -> Manifest | None:
    """The manifest of the run before, for an update; else there must be none."""
    if update:
        old = load_manifest(path)
        asked_before(old, path)
        return old
    if path.exists():
        raise UsageError(
            f"{path}: there is a manifest already; pass --update to keep its marks up, or another "
            "--manifest"
        )
    return None


def asked_before(manifest: Manifest, path: Path) -> Asked:
    """What the run before was asked for."""
    asked = manifest.header.repository
    if asked is None:
        raise ManifestError(f"{path}: the manifest of a dataset; pass that of a repository")
    return asked


def choose_watermark(
    mark: str | None, watermark: str | Watermark | None, old: Manifest | None
) -> Choice:
    """The watermark; ours join names as their file spells them, unless told otherwise."""
    if old is not None:
        said = old.header.watermark
        before = Choice(from_settings(said.scheme, said.settings), said.name)
        if mark is None and watermark is None:
            return before
        choice = _with_own_joining(choose(mark, watermark), watermark)
        if choice.watermark != before.watermark:
            raise UsageError(
                f"the marks were made with {said.name or said.scheme}; one repository has one "
                "watermark: leave --mark and --watermark out, or --revert first"
            )
        return before
    choice = _with_own_joining(choose(mark, watermark), watermark)
    if isinstance(choice.watermark, Counting):
        raise UsageError(
            f"{choice.watermark.name} draws by counts over the whole dataset, which every commit "
            "would change; choose universal, fixed_prefix or prefixes"
        )
    return choice


def _with_own_joining(choice: Choice, given: str | Watermark | None) -> Choice:
    watermark = choice.watermark
    if watermark.name not in OWN_JOINING or (isinstance(given, str) and "joining=" in given):
        return choice
    if not isinstance(given, str | None):
        return choice  # an object says all by itself
    settings = {**to_settings(watermark), "joining": "own"}
    return replace(choice, watermark=from_settings(watermark.name, settings))


def choose_asked(
    old: Manifest | None,
    languages: Sequence[str] | None,
    include: Sequence[str] | None,
    exclude: Sequence[str] | None,
    max_line_length: int | None,
) -> Asked:
    """What was passed now, else what was asked for before."""
    before = old.header.repository if old is not None else None
    if before is None:
        before = Asked(languages=(), include=(), exclude=(), max_line_length=None, refused={})
    names: list[str] = []
    for each in languages or ():
        language = find(each)
        if language is None:
            raise UsageError(f"no grammar for the language {each!r}; see: puzzlemark list")
        names.append(language.name)
    return Asked(
        languages=before.languages if languages is None else tuple(names),
        include=before.include if include is None else tuple(include),
        exclude=before.exclude if exclude is None else tuple(exclude),
        max_line_length=before.max_line_length if max_line_length is None else max_line_length,
        refused=before.refused,
    )


def choose_rate(rate: float | None, old: Manifest | None) -> float:
    """The most that may carry, as a share of the functions."""
    if rate is None:
        return 1.0 if old is None else old.header.max_rate
    if not 0 < rate <= 1:
        raise UsageError(f"--rate is a share of the functions, above 0 and at most 1, not {rate:g}")
    return rate


def choose_secret(path: Path | None, old: Manifest | None, manifest: Path, *, make: bool) -> Secret:
    """The secret: of an update, the one that the marks were made with."""
    if old is None:
        where = secret_path(path)
        if not make and where is not None and not where.exists():
            return Secret(bytes(32))  # only to look: how many can carry depends on no secret
        return find_secret(path)
    secret = find_secret(path, make=False)
    if secret.fingerprint != old.header.secret_fingerprint:
        raise SecretError(
            f"{manifest}: its marks were made with another secret; pass the file of that one "
            "(--secret-file)"
        )
    return secret
