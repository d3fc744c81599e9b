"""A repository as it is read: its files, their functions, and the code without any marks."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from puzzlemark.embedding.manifest import Carrier
from puzzlemark.errors import CorpusError, UsageError
from puzzlemark.progress import Progress, no_progress
from puzzlemark.protecting import git
from puzzlemark.protecting.choosing import Chosen, Wanted, choose_files
from puzzlemark.protecting.finding import Sight, find_marks, path_of
from puzzlemark.protecting.planning import same_functions
from puzzlemark.protecting.sources import Placed, SourceFile, read_source


@dataclass(frozen=True, slots=True)
class Repository:
    """A folder, and the work tree of git that it is or lies in."""

    folder: Path
    top: Path | None  # of the work tree; None: a plain folder

    @staticmethod
    def open(path: Path | str) -> "Repository":
        """The repository at a path."""
        folder = Path(path)
        if not folder.is_dir():
            raise CorpusError(f"{folder}: no such folder; pass the folder of a repository")
        return Repository(folder.resolve(), git.top_level(folder))

    @property
    def root(self) -> Path:
        """What must not hold anything private: the whole work tree."""
        return (self.top or self.folder).resolve()

    def refuse_inside(self, name: str, path: Path | None) -> None:
        """Refuse a private file that would be published with the repository."""
        if path is not None and path.resolve().is_relative_to(self.root):
            raise UsageError(
                f"{name} {path} lies inside the repository {self.root}, and could be published "
                "with it; choose a path outside"
            )

    def default_manifest(self) -> Path:
        """Beside the repository: `../NAME.manifest.jsonl.gz`."""
        return self.root.with_name(f"{self.root.name}.manifest.jsonl.gz")


@dataclass(frozen=True, slots=True)
class Reading:
    """What stands in the files, and what the marks of a manifest have become."""

    found: dict[str, SourceFile]  # as the files are
    files: dict[str, SourceFile]  # without the marks that are in them
    chosen: frozenset[str]  # of these, the files that may be changed by new marks
    left_alone: Counter[str]
    others: dict[str, str]  # files that were not read at all, and why
    sights: tuple[Sight, ...] = field(default=())

    @property
    def functions(self) -> tuple[Placed, ...]:
        """All functions without their marks, in the order of paths and lines."""
        return tuple(placed for file in self.files.values() for placed in file.functions)

    def chosen_files(self) -> dict[str, SourceFile]:
        """The files that new marks may go into."""
        return {path: file for path, file in self.files.items() if path in self.chosen}


def read_repository(
    repository: Repository,
    wanted: Wanted,
    carriers: Sequence[Carrier] = (),
    progress: Progress = no_progress,
) -> Reading:
    """Read every file that may carry, or did; find the marks; take them out in memory."""
    chosen = choose_files(repository.folder, wanted, is_work_tree=repository.top is not None)
    left_alone = chosen.left_alone
    found: dict[str, SourceFile] = {}
    for number, path in enumerate(chosen.paths):
        progress("reading", number, len(chosen.paths))
        file = read_source(repository.folder, path)
        if isinstance(file, str):
            left_alone[file] += 1
        else:
            found[path] = file
    may_change = frozenset(found)
    for path in _marked_before(chosen, carriers):
        file = read_source(repository.folder, path)
        if not isinstance(file, str):
            found[path] = file
    found = dict(sorted(found.items()))
    placed = [each for file in found.values() for each in file.functions]
    sights = find_marks(carriers, placed)
    files = {path: _without(file, sights) for path, file in found.items()}
    return Reading(found, files, may_change, left_alone, chosen.others, tuple(sights))


def _marked_before(chosen: Chosen, carriers: Iterable[Carrier]) -> list[str]:
    """Files that carry marks and are left alone now: what stands in them is still the owner's."""
    paths = {path_of(carrier.id) for carrier in carriers}
    return sorted(paths & chosen.others.keys())


def _without(file: SourceFile, sights: Collection[Sight]) -> SourceFile:
    """A file without the marks that stand in it."""
    edits = [
        edit
        for sight in sights
        if sight.is_there and sight.function is not None and sight.function.path == file.path
        for edit in sight.function.at_file(sight.undo)
    ]
    before = file.edited(edits)
    assert same_functions(file.functions, before.functions), "names of variables are no ids"
    return before
