"""Probes are made again from dataset and manifest, and what was drawn among is found again."""

import gzip
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.errors import ManifestError
from puzzlemark.evidence.commitment import commit
from puzzlemark.evidence.comparing import compare
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.probes import load_probes, save_probes
from puzzlemark.verification.run import query


@pytest.fixture(scope="module")
def quiet(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    """`in.jsonl`, `marked.jsonl`, `marks.gz` and `probes.jsonl` of synonyms."""
    folder = tmp_path_factory.mktemp("quiet")
    lines = corpus_bytes.splitlines(keepends=True)
    (folder / "in.jsonl").write_bytes(b"".join(lines[:200]))
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("a secret for these tests only, of some length\n")
    pm.embed(
        folder / "in.jsonl", folder / "marked.jsonl", folder / "marks.gz",
        watermark="synonyms:share=1,inside_line=false,entropy=0.1", policy="paper", max_rate=1,
        secret_file=folder / "secret",
    )  # fmt: skip
    save_probes(pm.probe(folder / "marked.jsonl", folder / "marks.gz"), folder / "probes.jsonl")
    return folder


@pytest.mark.parametrize("dataset", ["marked.jsonl", "in.jsonl"])
def test_honest_probes_come_out_the_same_without_the_secret(quiet: Path, dataset: str) -> None:
    found = compare(quiet / "probes.jsonl", quiet / dataset, quiet / "marks.gz")
    assert found.same
    assert found.redrawn is not None
    assert found.redrawn.draws == len(pm.load_manifest(quiet / "marks.gz"))
    assert "follow from the dataset" in found.sentence


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r'(.*?"unit":")[0-9a-f]{8}', r"\g<1>01234567"),  # one
        (r'"beacon":null', '"beacon":"' + "a" * 64 + '"'),  # all
    ],
)
def test_a_ground_class_or_beacon_in_the_probes_is_found(
    quiet: Path, tmp_path: Path, old: str, new: str
) -> None:
    text = (quiet / "probes.jsonl").read_text()
    changed = re.sub(old, new, text, count=1 if "unit" in old else 0, flags=re.DOTALL)
    assert changed != text
    (tmp_path / "p.jsonl").write_text(changed)
    words = ["compare", tmp_path / "p.jsonl", quiet / "in.jsonl", "--manifest",
             quiet / "marks.gz"]  # fmt: skip
    done = CliRunner().invoke(application(), [str(word) for word in words])
    assert done.exit_code == 1
    assert "not the same" in done.output
    assert "the first of them number 0" in " ".join(done.output.split())


def test_another_key_in_the_first_line_of_the_probes_is_found(quiet: Path, tmp_path: Path) -> None:
    """The questions stay the same; which key judges them stands in the first line alone."""
    text = (quiet / "probes.jsonl").read_text()
    changed = re.sub(r'"fingerprint":"[0-9a-f]{16}"', '"fingerprint":"' + "0" * 16 + '"', text)
    assert changed != text
    (tmp_path / "p.jsonl").write_text(changed)
    found = compare(tmp_path / "p.jsonl", quiet / "in.jsonl", quiet / "marks.gz")
    assert (found.differing, found.same_key, found.same) == ((), False, False)
    assert "another key than the one that the marks were made with" in found.sentence
    assert not found.to_json()["same"]


def test_frequencies_that_were_changed_in_manifest_and_probes_alike_are_found(
    quiet: Path, tmp_path: Path
) -> None:
    header, first, *rest = gzip.decompress((quiet / "marks.gz").read_bytes()).splitlines()
    line = json.loads(first)
    weights = line["marks"][0]["draw"]["weights"]
    weights[0][1] += 1
    manifest = tmp_path / "marks.jsonl"
    manifest.write_bytes(b"\n".join([header, json.dumps(line).encode(), *rest]) + b"\n")
    forged = pm.probe(quiet / "marked.jsonl", manifest)  # whoever forges one forges both
    save_probes(forged, tmp_path / "p.jsonl")
    found = compare(tmp_path / "p.jsonl", quiet / "marked.jsonl", manifest)
    assert found.differing == ()
    assert found.redrawn is not None
    assert found.redrawn.differing == (line["row"],)
    assert not found.same
    fields = json.loads(header)
    fields["priors"] = "0" * 64
    manifest.write_bytes(b"\n".join([json.dumps(fields).encode(), first, *rest]) + b"\n")
    again = compare(quiet / "probes.jsonl", quiet / "marked.jsonl", manifest).redrawn
    assert again is not None
    assert (again.same_priors, again.differing) == (False, ())


def test_the_result_stands_in_the_runs_folder_and_its_standing_tells_it(
    quiet: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    query(load_probes(quiet / "probes.jsonl"), Scripted("boring", lambda _: "pass"), run)
    found = compare(run, quiet / "marked.jsonl", quiet / "marks.gz")
    assert json.loads((run / "comparison.json").read_text()) == found.to_json()
    done = CliRunner().invoke(
        application(),
        ["verify", "--test-only", "-o", str(run), "--secret-file", str(quiet / "secret"), "--json"],
    )
    standing = json.loads(done.output)["standing"]
    assert standing["comparison"] == found.to_json()
    assert any(found.sentence in note for note in standing["notes"])


def test_probe_and_compare_refuse_another_dataset_and_say_what_was_expected(
    quiet: Path, tmp_path: Path
) -> None:
    lines = (quiet / "marked.jsonl").read_text().splitlines(keepends=True)
    other = tmp_path / "other.jsonl"
    other.write_text("".join([*lines[:-1], lines[-1].replace('"code":"', '"code":" ')]))
    header = pm.load_manifest(quiet / "marks.gz").header
    expected = rf"expected the marked one.*{header.output.digest}.*found {len(lines)} with"
    for what in (lambda: pm.probe(other, quiet / "marks.gz"),
                 lambda: compare(quiet / "probes.jsonl", other, quiet / "marks.gz")):  # fmt: skip
        with pytest.raises(ManifestError, match=expected):
            what()


def test_the_quiet_channel_of_the_owners_profile_can_be_committed_and_probed(
    quiet: Path, tmp_path: Path
) -> None:
    pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")
    both = pm.embed_owner(
        quiet / "in.jsonl", tmp_path / "out.jsonl", policy="paper", loud_rate=0.05,
        quiet="synonyms:share=1,inside_line=false,entropy=0.1",
        secret_file=quiet / "secret",
    )  # fmt: skip
    published = pm.load_manifest(both.loud.manifest).header.output.digest
    hashes = set()
    for channel in (both.quiet, both.loud):
        folder = tmp_path / Path(channel.manifest).name.split(".")[2]
        made = commit(
            channel.manifest, tmp_path / "out.jsonl", folder, secret_file=quiet / "secret"
        )
        assert made.content.dataset.digest == published
        hashes.add(made.hash)
        probes = pm.probe(tmp_path / "out.jsonl", channel.manifest, pairs=200)
        assert probes.header.source is not None
        assert probes.header.source.dataset == published
    assert len(hashes) == 2
    # its frequencies are those of the code before either channel: with the other marks in it,
    # nothing is claimed of them
    save_probes(pm.probe(tmp_path / "out.jsonl", both.quiet.manifest), tmp_path / "p.jsonl")
    found = compare(tmp_path / "p.jsonl", tmp_path / "out.jsonl", both.quiet.manifest)
    assert found.needs_original
    assert "take those out" in found.sentence
    assert (
        compare(tmp_path / "p.jsonl", quiet / "in.jsonl", both.quiet.manifest).redrawn is not None
    )
