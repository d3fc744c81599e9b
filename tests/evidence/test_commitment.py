"""A commitment fixes everything that matters, tells nothing of it, and can be opened again."""

import hashlib
import json
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import puzzlemark as pm
from puzzlemark.embedding.manifest import Carrier
from puzzlemark.embedding.secret import find_secret, watermark_key
from puzzlemark.errors import ManifestError, SecretError, UsageError
from puzzlemark.evidence.commitment import (
    Commitment,
    CommitmentError,
    commit,
    load_commitment,
    salt_of,
)
from puzzlemark.evidence.merkle import MerkleTree, hash_leaf, root_from
from puzzlemark.evidence.plan import PlanError, default_plan, plan_from
from puzzlemark.verification.terms import usual_terms
from puzzlemark.watermarks.base import designs
from puzzlemark.watermarks.synonyms import Synonyms

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")


def made(marked: Path, output: Path, **options: Path | None) -> Commitment:
    chosen = {"secret_file": marked / "secret", **options}
    return commit(marked / "marks.jsonl.gz", marked / "marked.jsonl", output, **chosen)  # type: ignore[arg-type]


def test_the_hash_is_that_of_the_file_and_the_same_each_time(marked: Path, tmp_path: Path) -> None:
    first, second = (made(marked, tmp_path / name) for name in "ab")
    for name in ("commitment.json", "plan.toml", "request.tsq"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    file = (tmp_path / "a" / "commitment.json").read_bytes()
    assert first.hash == second.hash == hashlib.sha256(file).hexdigest()
    assert first.hash in (tmp_path / "a" / "README.txt").read_text()
    assert load_commitment(tmp_path / "a").hash == first.hash


def test_nothing_in_the_folder_tells_a_mark_the_scheme_or_the_secret(
    marked: Path, tmp_path: Path
) -> None:
    made(marked, tmp_path / "c")
    manifest = pm.load_manifest(marked / "marks.jsonl.gz")
    hidden = [part.text for carrier in manifest for part in carrier.marks[0].parts]
    hidden += [carrier.id for carrier in manifest if len(carrier.id) > 1]
    secret = find_secret(marked / "secret")
    hidden += [secret.fingerprint, secret.derive("order").hex(), "fixed_prefix"]
    hidden += ["a secret for these tests"]
    for path in (tmp_path / "c").iterdir():
        words = path.read_bytes().decode("latin-1")
        if path.name == "commitment.json":  # ids are small numbers, which stand in hashes as well
            fields = json.loads(words)
            assert set(fields) == {
                "dataset", "format", "header", "keys", "manifest", "marks", "plan", "questions",
                "version", "versions",
            }  # fmt: skip
            assert set(fields["marks"]) == {"leaves", "root"}
        for text in hidden:
            assert f'"{text}"' not in words
            assert len(text) < 8 or text not in words


def test_one_mark_can_be_shown_and_the_others_stay_hidden(marked: Path, tmp_path: Path) -> None:
    content = made(marked, tmp_path / "c").content
    manifest, secret = pm.load_manifest(marked / "marks.jsonl.gz"), find_secret(marked / "secret")
    salted = {
        row: salt_of(manifest, secret, f"row:{row}") + line for row, line in manifest.lines.items()
    }
    tree = MerkleTree(map(hash_leaf, salted.values()))
    index = 3
    shown = list(salted.values())[index]  # what a court gets, with the path
    root = root_from(hash_leaf(shown), index, content.marks.leaves, tree.path(index))
    assert root is not None
    assert root.hex() == content.marks.root
    assert len({text[:32] for text in salted.values()}) == len(salted)  # each has its own salt


def test_a_key_opens_its_own_hash_only(marked: Path, tmp_path: Path) -> None:
    keys = made(marked, tmp_path / "c").content.keys
    manifest, secret = pm.load_manifest(marked / "marks.jsonl.gz"), find_secret(marked / "secret")
    for name in ("order", "draw"):
        salt = salt_of(manifest, secret, f"key:{name}")
        assert hashlib.sha256(salt + secret.derive(name)).hexdigest() == keys[name]
    assert keys["order"] != keys["draw"]


def test_every_published_byte_counts(marked: Path, tmp_path: Path) -> None:
    before = made(marked, tmp_path / "before")
    changed = tmp_path / "marked.jsonl"
    text = (marked / "marked.jsonl").read_text()
    changed.write_text(text.replace('{"id"', '{ "id"', 1))  # the same records, other bytes
    after = commit(
        marked / "marks.jsonl.gz", changed, tmp_path / "after", secret_file=marked / "secret"
    )
    assert after.hash != before.hash
    assert (
        after.content.dataset.digest == load_commitment(tmp_path / "before").content.dataset.digest
    )


def test_another_dataset_is_refused(marked: Path, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="not the marked dataset"):
        commit(
            marked / "marks.jsonl.gz",
            marked / "bare.jsonl",
            tmp_path / "c",
            secret_file=marked / "secret",
        )
    assert not (tmp_path / "c").exists()


def test_another_secret_is_refused_and_none_is_made(marked: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    with pytest.raises(SecretError, match="no secret here"):
        made(marked, tmp_path / "c", secret_file=other)
    other.write_text("x" * 40)
    other.chmod(0o600)
    with pytest.raises(SecretError, match="another secret"):
        made(marked, tmp_path / "c", secret_file=other)


def test_the_folder_keeps_apart_from_what_is_read(marked: Path) -> None:
    with pytest.raises(UsageError, match="is the same as --manifest"):
        made(marked, marked / "marks.jsonl.gz")


def test_a_plan_is_part_of_the_hash(marked: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    usual = made(marked, tmp_path / "usual")
    plan.write_text((tmp_path / "usual" / "plan.toml").read_text())
    assert made(marked, tmp_path / "same", plan=plan).hash == usual.hash
    plan.write_text("pairs = 300\n[terms]\nalpha = 0.001\n")
    strict = made(marked, tmp_path / "strict", plan=plan)
    assert strict.hash != usual.hash
    assert (strict.plan.pairs, strict.plan.terms.alpha) == (300, 0.001)
    assert load_commitment(tmp_path / "strict").plan == strict.plan


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alpha = 0.01\n", "unknown: alpha"),
        ("[terms]\nalfa = 0.01\n", "unknown: alfa"),
        ("[terms]\nalpha = 2.0\n", "between 0 and 1"),
        ('pairs = "many"\n', "of another kind"),
        ("pairs = true\n", "of another kind"),
        ("pairs = 0\n", "at least one pair"),
        ('design = "universal"\n', "the marks have 'fixed'"),
        ("pairs =\n", "cannot be read as TOML"),
        ("[terms]\ntemperature = inf\n", "temperature is inf"),
        ("[terms]\nmax_tokens = 0\n", "max_tokens is 0"),
    ],
)
def test_a_wrong_plan_is_an_error_and_nothing_is_written(
    marked: Path, tmp_path: Path, text: str, message: str
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    with pytest.raises(PlanError, match=message):
        made(marked, tmp_path / "c", plan=plan)
    assert not (tmp_path / "c").exists()


def test_a_commitment_that_was_changed_is_another_or_none(marked: Path, tmp_path: Path) -> None:
    original = made(marked, tmp_path / "c").hash
    path = tmp_path / "c" / "commitment.json"
    raw = path.read_bytes()
    for at in range(0, len(raw), 7):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
        try:
            found = load_commitment(tmp_path / "c")
        except (CommitmentError, PlanError, UsageError):
            continue
        assert found.hash != original


def test_what_was_stamped_is_never_replaced(marked: Path, tmp_path: Path) -> None:
    made(marked, tmp_path / "c")
    tokens = tmp_path / "c" / "tokens"
    tokens.mkdir()
    (tokens / "20260101T000000Z-00000000.tsr").write_bytes(b"cannot be had again")
    with pytest.raises(CommitmentError, match="has been stamped"):
        commit(
            marked / "marks.jsonl.gz",
            marked / "marked.jsonl",
            tmp_path / "c",
            secret_file=marked / "secret",
            overwrite=True,
        )
    assert list(tokens.iterdir())


@pytest.mark.parametrize("name", sorted(designs()))
def test_the_usual_plan_is_what_verify_does_by_itself(name: str) -> None:
    design = designs()[name]
    plan = default_plan(design)
    assert plan.terms == usual_terms(design).fixed(design)
    assert plan.pairs == design.pairs
    assert plan_from({"design": name}, design) == plan
    assert plan_from(tomllib.loads(plan.to_toml()), design) == plan


def test_a_name_that_the_key_does_not_draw_is_refused(marked: Path, tmp_path: Path) -> None:
    """Whoever may write draws into a manifest could commit to those that a model likes."""
    manifest = tmp_path / "marks.jsonl"
    records = (json.loads(line) for line in (marked / "bare.jsonl").read_text().splitlines())
    names = ("item", "entry", "element")
    source = tmp_path / "bare.jsonl"
    with source.open("w") as file:
        for number, record in enumerate(records):
            code = record["code"].replace("item", names[number % 3])
            file.write(json.dumps({**record, "code": code}) + "\n")
    pm.embed(
        source,
        tmp_path / "marked.jsonl",
        manifest,
        watermark=Synonyms(inside_line=False, share=1.0, entropy=0.1),
        max_rate=1,
        secret_file=marked / "secret",
    )
    secret = marked / "secret"
    commit(manifest, tmp_path / "marked.jsonl", tmp_path / "c", secret_file=secret)
    header, line, *rest = manifest.read_text().splitlines()
    changed = json.loads(line)
    key = watermark_key(find_secret(secret), "synonyms")[0]
    for number in range(50):  # until another name would be drawn
        changed["marks"][0]["draw"]["unit"] = f"{number:032x}"
        line = json.dumps(changed)
        (mark,) = Carrier.from_line(line.encode()).marks
        assert mark.draw is not None
        if mark.draw.symbol(key) != mark.of("target").text:
            break
    manifest.write_text("\n".join([header, line, *rest]) + "\n")
    with pytest.raises(ManifestError, match="not the one that the key draws"):
        commit(manifest, tmp_path / "marked.jsonl", tmp_path / "d", secret_file=secret)


@pytest.mark.parametrize("text", [f"pairs = {10**30}\n", f"[terms]\nseed = {10**20}\n"])
def test_a_number_that_json_cannot_hold_is_an_error_in_words(
    marked: Path, tmp_path: Path, text: str
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    with pytest.raises(CommitmentError, match="cannot be committed to"):
        made(marked, tmp_path / "c", plan=plan)
    assert not (tmp_path / "c").exists()


def test_such_a_number_in_a_strangers_commitment_is_one_too(marked: Path, tmp_path: Path) -> None:
    made(marked, tmp_path / "c")
    path = tmp_path / "c" / "commitment.json"
    path.write_text(path.read_text().replace('"pairs":500', f'"pairs":{10**30}'))
    with pytest.raises(CommitmentError, match=r"commitment.json: cannot be committed to"):
        load_commitment(tmp_path / "c")


def test_the_plan_that_is_written_can_be_read_again(marked: Path, tmp_path: Path) -> None:
    odd = 'a "quoted" \\ text\nof two lines\t\x7f\x01 \u00e9 \U0001f600'
    plan = tmp_path / "plan.toml"
    plan.write_text(replace(default_plan(designs()["fixed"]), exclusions=odd).to_toml(), "utf-8")
    first = made(marked, tmp_path / "a", plan=plan)
    assert first.plan.exclusions == odd
    assert made(marked, tmp_path / "b", plan=tmp_path / "a" / "plan.toml").hash == first.hash
