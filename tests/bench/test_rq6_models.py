import dataclasses
import json
from pathlib import Path

import pytest

from puzzlemark.bench import rq6_models, rq6_page
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.errors import UsageError
from puzzlemark.verification.probes import load_probes

MARK = rq6_models.Marking("synonyms:share=1,entropy=0,inside_line=false", 1.0)
TINY = dataclasses.replace(
    rq6_models.BUDGETS["tiny"],
    markings=(MARK,),
    functions=30,
    longest=400,  # the tiny tokenizer needs many tokens
    held_out=4,
    answer=3,
    recipe={"recipe": "cpu", "layers": 1, "max_tokens": 64},
)


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory, stdlib_functions: list[tuple[str, str]]
) -> Path:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from tests.servers.tiny import make_model

    made = tmp_path_factory.mktemp("rq6")
    records = [
        {"id": id_, "repo": f"{n % 12}", "language": "python", "code": code}
        for n, (id_, code) in enumerate(stdlib_functions)
    ]
    write_records(records, made / "functions.jsonl.gz")
    make_model(made / "base", positions=2048)
    corpora = {"python": made / "functions.jsonl.gz"}
    said: list[str] = []
    rq6_models.run(made, corpora, made / "base", TINY, side_by_side=1, say=said.append)
    assert any("own 1 samples" in line and "twin 2 samples" in line for line in said)
    return made / "tiny"


def test_two_models_are_asked_under_both_keys_and_a_bare_one_under_none(folder: Path) -> None:
    cell = folder / "python-0"
    for key, other in (("a", "b"), ("b", "a")):
        for epoch in (1, 2):
            path = cell / f"{MARK.name}-{key}" / f"epoch-{epoch}" / "verdicts.json"
            found = json.loads(path.read_text())
            roles = {(each["role"], each["mark"][-1]) for each in found}
            assert roles == {("own", key), ("unseen", key), ("twin", other)}
            assert (path.parent / "quality.json").exists()
    assert json.loads((cell / "bare" / "epoch-1" / "verdicts.json").read_text()) == []


def test_carriers_that_are_left_out_are_not_in_the_training(folder: Path) -> None:
    place = folder / "python-0" / f"{MARK.name}-a"
    facts = json.loads((place / "marks.json").read_text())
    assert 0 < facts["unseen"] < facts["marked"]
    marked = list(open_corpus(place / "marked.jsonl.gz").entries())
    seen = {entry.id for entry in open_corpus(place / "seen.jsonl.gz").entries()}
    kinds = {
        kind: {marked[row].id for row in load_manifest(place / f"{kind}.manifest.jsonl.gz").lines}
        for kind in ("trained", "unseen")
    }
    assert kinds["trained"] <= seen
    assert not kinds["unseen"] & seen
    assert len(seen) == len(marked) - facts["unseen"]
    prompts = [load_probes(place / f"{kind}.probes.jsonl").probes for kind in kinds]
    assert not {p.armed.prompt for p in prompts[0]} & {p.armed.prompt for p in prompts[1]}


def test_the_two_models_have_two_keys(folder: Path) -> None:
    places = [folder / "python-0" / f"{MARK.name}-{key}" for key in rq6_models.KEYS]
    headers = [load_manifest(place / "manifest.jsonl.gz").header for place in places]
    assert headers[0].key_fingerprint != headers[1].key_fingerprint
    assert headers[0].input == headers[1].input


def test_a_folder_belongs_to_one_budget(folder: Path) -> None:
    other = dataclasses.replace(TINY, functions=41)
    with pytest.raises(UsageError, match="another budget"):
        rq6_models.run(folder.parent, {}, folder, other)


def test_the_page_shows_own_unseen_and_twin(folder: Path, tmp_path: Path) -> None:
    rq6_page.collect(folder, tmp_path / "records" / "tiny")
    text = rq6_page.page(tmp_path / "records")
    rows = [line for line in text.splitlines() if line.startswith("| python-0 ")]
    # two keys and two exposures; each asked for samples, and for log-probabilities
    assert len(rows) == 2 * 2 * (len(TINY.samples) + 1)
    kept = {path.name for path in (tmp_path / "records").rglob("*") if path.is_file()}
    assert kept == {"budget.json", "marks.json", "verdicts.json", "quality.json"}
