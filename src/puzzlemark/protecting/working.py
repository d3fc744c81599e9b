"""Where a run of `protect` replaces files: in the work tree, or in a copy that becomes --output."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from puzzlemark.errors import CorpusError
from puzzlemark.files import refuse_existing
from puzzlemark.protecting import git
from puzzlemark.protecting.asking import Job
from puzzlemark.protecting.repository import Reading
from puzzlemark.protecting.writing import WorkTree, copy_tree, journalled
from puzzlemark.staging import staged_together


@dataclass(slots=True)
class Work:
    """Where files may be replaced: the work tree itself, or a copy that becomes --output."""

    job: Job
    tree: WorkTree
    save: Callable[[list[str]], None]
    manifest: Path  # where the new manifest is written
    is_copied: Callable[[], None] | None = None

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self.tree.folder

    def begin(self, paths: list[str], reading: Reading) -> None:
        """Save what will be replaced; it must be what was read."""
        if self.job.target.dry_run:
            return
        if self.is_copied is not None:
            self.is_copied()
        self.save(paths)
        for path in paths:
            if self.tree.saved[path].content != reading.found[path].content:
                raise CorpusError(f"{self.folder / path}: changed while it was read; run it again")

    def finish(self, paths: list[str]) -> str | None:
        """Commit, where that was asked for; the work tree is left as the target says."""
        target = self.job.target
        if target.branch is None or target.dry_run:
            return None
        folder = self.job.repository.folder
        made = git.commit(folder, paths, target.branch, target.message)
        if git.current_branch(folder) == target.branch:
            git.refresh(folder)
        else:
            self.tree.roll_back()
        return made


@contextmanager
def undisturbed(job: Job, *, writes_manifest: bool = True) -> Iterator[Work]:
    """A place to work, for one run at a time; whatever fails leaves everything as it was."""
    output = job.target.output
    if job.target.dry_run:
        yield Work(job, WorkTree(job.repository.folder), _nothing, job.manifest)
    elif output is None:
        with journalled(job.repository.folder, job.manifest) as journal:
            yield Work(job, journal.tree, journal.save, job.manifest)
    else:
        refuse_existing(output, overwrite=False, may_be_folder=True)
        places = (job.manifest, output) if writes_manifest else (output,)
        with staged_together(places, overwrite=True) as staged:
            copy = staged[-1]
            tree = WorkTree(copy)
            yield Work(job, tree, tree.save, staged[0], lambda: _copy(job, copy))


def _nothing(_paths: list[str]) -> None:
    pass


def _copy(job: Job, place: Path) -> None:
    repository = job.repository
    paths = None
    if repository.top is not None:
        paths = [each.path for each in git.tracked(repository.folder)]
        paths += git.untracked(repository.folder)
    copy_tree(repository.folder, place, paths)


def require_tests(job: Job, folder: Path, *, before: bool) -> None:
    """Raise when the project's own tests fail."""
    if job.tests is None or job.tests.pass_in(folder):
        return
    when = "before any mark was touched" if before else "afterwards; everything was put back"
    raise CorpusError(f"{job.tests.command}: fails {when}; see {job.tests.log}")
