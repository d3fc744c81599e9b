import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.bench import rq6_models, rq6_page
from puzzlemark.corpora.base import open_corpus
from puzzlemark.corpora.writing import write_records
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.run import embed
from puzzlemark.errors import UsageError
from puzzlemark.models.base import ChoiceRequest, Failure, Request
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


def test_a_thief_trains_on_what_he_made_of_the_same_functions(folder: Path) -> None:
    cell = folder / "python-0"
    owner, thief = cell / f"{MARK.name}-a", cell / f"{MARK.name}-a-canonicalise"
    facts = json.loads((thief / "marks.json").read_text())
    assert facts["attack"] == "canonicalise"
    assert facts["marked"] == json.loads((owner / "marks.json").read_text())["marked"]
    seen, changed = (list(open_corpus(each / "seen.jsonl.gz").entries()) for each in (owner, thief))
    assert [each.id for each in seen] == [each.id for each in changed]
    others = sum(before.code != after.code for before, after in zip(seen, changed, strict=True))
    assert others == facts["changed"]
    record = json.loads((thief / "epoch-1" / "model" / "training.json").read_text())
    assert record["corpus"]["digest"] == open_corpus(thief / "seen.jsonl.gz").digest()
    found = json.loads((thief / "epoch-2" / "verdicts.json").read_text())
    roles = {(each["role"], each["mark"]) for each in found}
    own, twin = f"{MARK.name}-a", f"{MARK.name}-b"
    assert roles == {("own", own), ("unseen", own), ("twin", twin)}


def test_what_the_thief_trains_on_is_attacked_once(tmp_path: Path) -> None:
    code = "def f(a):\n    {0} = a + 1\n    return {0}\n"
    names = ("result", "result", "res")
    records = [
        {"id": str(n), "language": "python", "code": code.format(name)}
        for n, name in enumerate(names)
    ]
    job = rq6_models.Job(
        *(tmp_path, TINY, tmp_path, "m-a-canonicalise", ("m-a", "m-b"), 0, tmp_path),
        attack="canonicalise",
    )
    write_records(records, tmp_path / "m-a" / "seen.jsonl.gz")
    (tmp_path / "m-a" / "marks.json").write_text('{"marked": 1}')
    corpus = tmp_path / job.model / "seen.jsonl.gz"
    rq6_models._attack(job, corpus)
    codes = [entry.code for entry in open_corpus(corpus).entries()]
    assert codes == [code.format("result")] * 3
    facts = json.loads((corpus.parent / "marks.json").read_text())
    assert facts == {"marked": 1, "attack": "canonicalise", "changed": 1}
    corpus.unlink()
    rq6_models._attack(job, corpus)
    assert not corpus.exists()  # it was there when its facts were written


def test_the_two_models_have_two_keys(folder: Path) -> None:
    places = [folder / "python-0" / f"{MARK.name}-{key}" for key in rq6_models.KEYS]
    headers = [load_manifest(place / "manifest.jsonl.gz").header for place in places]
    assert headers[0].key_fingerprint != headers[1].key_fingerprint
    assert headers[0].input == headers[1].input


def test_a_sample_is_made_of_so_many_that_could_carry(
    tmp_path: Path, stdlib_functions: list[tuple[str, str]]
) -> None:
    pool = [
        {"id": id_, "repo": "r", "language": "python", "code": code}
        for id_, code in stdlib_functions[:200]
    ]
    budget = dataclasses.replace(TINY, functions=40, eligible=0.25)
    chosen = rq6_models._enrich(tmp_path, pool, budget)
    assert len(chosen) == 40
    assert [each for each in pool if each in chosen] == chosen  # in their order
    assert not list(tmp_path.iterdir())  # nothing of the pool is left behind
    ids = {each["id"] for each in chosen}
    write_records(pool, tmp_path / "pool.jsonl")
    secret = tmp_path / "secret"
    secret.write_text("any other key sees the same carriers")
    secret.chmod(0o600)
    outputs = tmp_path / "marked.jsonl", tmp_path / "manifest.jsonl"
    kwargs: dict[str, Any] = {"watermark": MARK.watermark, "policy": "safe", "max_rate": 1.0}
    embed(tmp_path / "pool.jsonl", *outputs, secret_file=secret, **kwargs)
    able = {each.id for each in load_manifest(outputs[1])}
    assert len(ids & able) == 10


def test_samples_are_asked_for_after_some_exposures_only(folder: Path) -> None:
    probes = load_probes(folder / "python-0" / f"{MARK.name}-a" / "trained.probes.jsonl")
    budget = dataclasses.replace(TINY, samples=(1, 5), sampled=(3,))
    ways = {n: [way for way, _ in rq6_models._ways(probes, budget, 0, n)] for n in (2, 3)}
    assert ways == {
        2: ["log-probabilities"],
        3: ["5 samples", "1 samples", "log-probabilities"],
    }


def test_a_model_that_remembers_is_asked_once() -> None:
    class Counting:
        name, batch_size, asked = "m", 4, 0

        def complete(self, requests: Sequence[Request]) -> list[str]:
            self.asked += len(requests)
            return [request.prompt.upper() for request in requests]

    inner = Counting()
    model = rq6_models.Remembering(inner)
    requests = [Request(prompt, 3, 0.0, 0) for prompt in "abc"]
    assert model.complete(requests[:2]) == ["A", "B"]
    assert model.complete(requests[::-1]) == ["C", "B", "A"]
    assert model.complete(requests) == ["A", "B", "C"]
    assert inner.asked == 3


def test_a_model_that_remembers_is_scored_once() -> None:
    class Counting:
        name, batch_size, scored = "m", 4, 0

        def score(self, requests: Sequence[ChoiceRequest]) -> list[Failure]:
            self.scored += len(requests)
            return [Failure(request.prompt) for request in requests]

    inner = Counting()
    model = rq6_models.Remembering(inner)
    requests = [ChoiceRequest(prompt, ("x", "y")) for prompt in "abc"]
    assert model.score(requests[:2]) == [Failure("a"), Failure("b")]
    assert model.score(requests[::-1]) == [Failure("c"), Failure("b"), Failure("a")]
    assert inner.scored == 3
    model.score([ChoiceRequest("a", ("x", "z"))])  # other names are another question
    assert inner.scored == 4


def test_one_model_of_a_budget_can_be_done_alone(folder: Path) -> None:
    planned = rq6_models.plan_jobs(folder.parent, ["python", "java"], folder, TINY)
    assert [job.name for job in planned if job.is_done] == [
        f"python-0/{MARK.name}-a",
        f"python-0/{MARK.name}-b",
        "python-0/bare",
        f"python-0/{MARK.name}-a-canonicalise",
    ]
    assert [job.name for job in planned if not job.is_done][-2] == "java-0/bare"
    with pytest.raises(UsageError, match="no job python-0/magic; known: python-0/synonyms"):
        rq6_models.run(folder.parent, {"python": folder}, folder, TINY, jobs=["python-0/magic"])


def test_a_folder_belongs_to_one_budget(folder: Path) -> None:
    other = dataclasses.replace(TINY, functions=41)
    with pytest.raises(UsageError, match="another budget"):
        rq6_models.run(folder.parent, {}, folder, other)


def test_the_page_shows_own_unseen_and_twin(folder: Path, tmp_path: Path) -> None:
    rq6_page.collect(folder, tmp_path / "records" / "tiny")
    text = rq6_page.page(tmp_path / "records")
    shown, harm = text.split("### Harm")
    rows = [line for line in shown.splitlines() if line.startswith("| python-0 ")]
    # two keys, an attack and two exposures; each asked for samples, and for log-probabilities
    assert len(rows) == 3 * 2 * (len(TINY.samples) + 1)
    assert harm.count(f"| python-0 | {MARK.name}-a |") == 2  # held against the bare one twice
    kept = {path.name for path in (tmp_path / "records").rglob("*") if path.is_file()}
    assert kept == {"budget.json", "marks.json", "verdicts.json", "quality.json"}
