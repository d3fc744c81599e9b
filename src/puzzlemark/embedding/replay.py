"""A manifest as a patch: put its marks into its dataset again, or take them all out."""

from pathlib import Path
from typing import Literal

from puzzlemark.corpora.base import Rewritten, open_corpus
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.summary import Summary, counting, summarise
from puzzlemark.errors import ManifestError
from puzzlemark.files import keep_apart
from puzzlemark.progress import Progress, no_progress


def apply(
    path: Path | str,
    manifest: Path | str,
    output: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Replay a manifest on the dataset it was made for; any other dataset is refused."""
    return _replay("apply", path, Path(manifest), Path(output), overwrite, progress)


def revert(
    path: Path | str,
    manifest: Path | str,
    output: Path | str,
    *,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Summary:
    """Take every mark out of a marked dataset again: each code cell gets its exact bytes back."""
    return _replay("revert", path, Path(manifest), Path(output), overwrite, progress)


def _replay(
    action: Literal["apply", "revert"],
    path: Path | str,
    manifest_path: Path,
    output: Path,
    overwrite: bool,
    progress: Progress,
) -> Summary:
    manifest = load_manifest(manifest_path)
    header = manifest.header
    before, after = header.input, header.output
    if action == "revert":
        before, after = after, before
    corpus = open_corpus(
        path,
        code_column=header.columns["code"],
        id_column=header.columns["id"],
        language_column=header.columns["language"],
        language=header.language,
    )

    def compare(written: Rewritten) -> None:
        if written.input_digest != before.digest:
            raise ManifestError(
                f"{path}: not the dataset that {manifest_path} was made for, or changed since: "
                f"digest {written.input_digest}, expected {before.digest}"
            )
        assert written.output_digest == after.digest, "the replay differs from the plan"

    keep_apart({"--output": output}, {"INPUT": corpus.paths, "--manifest": manifest_path})
    written = corpus.rewrite(
        output,
        manifest.edits(undo=action == "revert"),
        header.derived,
        overwrite=overwrite,
        progress=counting(progress),
        check=compare,
        digests=True,
    )
    return summarise(action, corpus, output, manifest_path, header, written)
