"""A third party asks with nothing but the probes; the owner reveals his secret and judges."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.embedding.secret import find_secret, watermark_key
from puzzlemark.errors import SecretError, UsageError
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.probes import KeyOf
from puzzlemark.verification.run import key_of, query
from puzzlemark.watermarks.synonyms import Synonyms
from tests.verification import drawn_names

SCHEME = "synonyms:share=1,entropy=0.3,inside_line=false"


def invoke(*words: object) -> Result:
    return CliRunner().invoke(application(), [str(word) for word in words])


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> Path:
    folder = tmp_path_factory.mktemp("owner")
    (folder / "secret").touch(0o600)
    (folder / "secret").write_text("a secret for the tests only")
    (folder / "in.jsonl").write_bytes(corpus_bytes)
    pm.embed(
        folder / "in.jsonl",
        folder / "marked.jsonl",
        folder / "marks.gz",
        watermark=SCHEME,
        max_rate=1,
        secret_file=folder / "secret",
    )
    return folder


def memory(path: Path) -> Callable[[Any], str]:
    """A model that remembers a dataset: it goes on as the first text does that begins alike."""
    codes = [json.loads(line)["code"] for line in path.read_text().splitlines()]

    def go_on(request: Any) -> str:
        texts = (code for code in codes if code.startswith(request.prompt))
        return next((text[len(request.prompt) :][:30] for text in texts), "nothing = 1")

    return go_on


def test_asked_without_the_key_and_judged_with_it(protected: Path, tmp_path: Path) -> None:
    probes = tmp_path / "probes.jsonl"
    # no secret is anywhere on this machine: the manifest is enough
    for source in ("marked", "in"):
        made = invoke(
            *("probe", protected / f"{source}.jsonl", "--manifest", protected / "marks.gz"),
            *("-o", tmp_path / f"{source}-probes.jsonl"),
        )
        assert made.exit_code == 0, made.output
    both = [(tmp_path / f"{source}-probes.jsonl").read_bytes() for source in ("marked", "in")]
    assert both[0] == both[1], "the original and the marked dataset give the same prompts"
    probes.write_bytes(both[0])
    words: dict[str, str] = {}
    for suspect, source in (("trained", "marked.jsonl"), ("innocent", "in.jsonl")):
        asked = pm.load_probes(probes)
        model = Scripted(suspect, memory(protected / source))
        query(asked, model, tmp_path / suspect)  # the third party's machine
        refused = invoke("verify", "--test-only", "-o", tmp_path / suspect)
        assert refused.exit_code != 0
        assert "--secret-file" in refused.output
        judged = invoke(
            *("verify", "--test-only", "-o", tmp_path / suspect, "--json"),
            *("--secret-file", protected / "secret"),
        )
        assert judged.exit_code == 0, judged.output
        words[suspect] = json.loads(judged.stdout)["verdict"]["word"]
    # the innocent one has seen the originals themselves, and answers with the names by nature
    assert words == {"trained": "detected", "innocent": "not detected"}
    run = pm.load_run(tmp_path / "trained", secret_file=protected / "secret")
    page = tmp_path / "page.html"
    pm.report(tmp_path / "trained", page, secret_file=protected / "secret")
    assert "depend on the key" in page.read_text()
    assert run.terms.samples == 5


def test_the_probes_do_not_tell_what_was_drawn(protected: Path) -> None:
    manifest = pm.load_manifest(protected / "marks.gz")
    probes = pm.probe(protected / "marked.jsonl", protected / "marks.gz", pairs=1000)
    key = find_secret(protected / "secret").derive("watermark:synonyms")
    scheme = Synonyms(share=1.0, entropy=0.3, inside_line=False, beacon="f" * 64)
    pm.embed(
        protected / "in.jsonl",
        protected / "other.jsonl",
        watermark=scheme,
        max_rate=1,
        secret_file=protected / "secret",
        overwrite=True,
    )
    other = pm.probe(
        protected / "other.jsonl", protected / "other.jsonl.manifest.jsonl.gz", pairs=1000
    )
    # another draw for the same carriers: the same prompts, targets and weights
    assert [p.arms for p in probes.probes] == [p.arms for p in other.probes]
    assert [p.draw.weights for p in probes.probes if p.draw] == [
        p.draw.weights for p in other.probes if p.draw
    ]
    text = probes.to_bytes()
    assert key.hex().encode() not in text
    assert all(carrier.id.encode() not in text for carrier in manifest)
    names = [p.draw.symbol(key) for p in probes.probes if p.draw]
    assert len(set(names)) > 5


def test_a_secret_that_did_not_draw_is_refused(protected: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.touch(0o600)
    wrong.write_text("another secret altogether")
    made = invoke(
        *("probe", protected / "marked.jsonl", "--manifest", protected / "marks.gz"),
        *("-o", tmp_path / "p.jsonl", "--secret-file", wrong),
    )
    assert made.exit_code != 0
    assert "another secret" in made.output


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("synonyms, try 7", "a watermark not known here"),
        ("prefixes", "whose design is prefixes, not synonyms"),
        ("universal", "whose design is universal, not synonyms"),
    ],
)
def test_a_key_of_a_made_up_watermark_is_refused(name: str, reason: str) -> None:
    """One secret gives a key for every name: whoever could choose the name could choose the key."""
    probes = drawn_names.probe_set(20)
    key = KeyOf(watermark=name, fingerprint=watermark_key(drawn_names.SECRET, name)[1])
    forged = replace(probes, header=probes.header.model_copy(update={"key": key}))
    with pytest.raises(SecretError, match=reason):
        key_of(forged, drawn_names.SECRET)
    assert key_of(probes, drawn_names.SECRET) == drawn_names.KEY


def test_ordinary_requests_that_would_list_the_carriers_are_refused(protected: Path) -> None:
    with pytest.raises(UsageError, match="together they would list the carriers"):
        pm.probe(protected / "marked.jsonl", protected / "marks.gz", ordinary=5)
