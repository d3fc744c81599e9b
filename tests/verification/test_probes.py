"""Prompts about marks: what stands in them, what does not, and what cannot be asked about."""

import hashlib
import random
import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.errors import UsageError
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.verification.probes import ProbesError, ProbeSet, load_probes, save_probes
from puzzlemark.watermarks.base import Arm, Mark, Probe, Refusal, Watermark
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal


def probe_of(watermark: Watermark, code: str, language: str = "python") -> Probe | Refusal:
    tree = parse(Snippet("x", code, language))
    mark = watermark.plan(tree, "paper", random.Random(0))
    assert isinstance(mark, Mark), mark
    marked = parse(Snippet("x", apply_edits(tree.code, mark.edits).decode(), language))
    return watermark.probe(marked, mark, random.Random(7))


def probe_or_fail(watermark: Watermark, code: str, language: str = "python") -> Probe:
    probe = probe_of(watermark, code, language)
    assert isinstance(probe, Probe), probe
    return probe


FIXED = '''def find(key, iterator):
    """Look for key in iterator."""
    for a in iterator:
        if a == key:
            return a
'''


def test_the_armed_prompt_ends_right_before_the_target() -> None:
    armed = probe_or_fail(FixedPrefix("key"), FIXED).armed
    assert armed.target == "key_unknown_token"
    assert armed.prompt == (
        'def find(key, unknown_token):\n    """Look for key in unknown_token."""\n    for '
    )


def test_the_control_of_a_fixed_prefix_has_another_name_in_its_stead() -> None:
    probe = probe_or_fail(FixedPrefix("key"), FIXED)
    match = re.match(
        r'def find\((\w+), unknown_token\):\n    """Look for (\w+) in unknown_token',
        probe.control.prompt,
    )
    assert match is not None
    assert match[1] == match[2] != "key"
    assert probe.control.target == "key_unknown_token"


def test_the_placebo_counts_the_other_names_own_concatenation() -> None:
    probe = probe_or_fail(FixedPrefix("key"), FIXED)
    assert probe.placebo is not None
    assert probe.placebo.prompt == probe.control.prompt
    name = probe.placebo.target.removesuffix("_unknown_token")
    assert f"def find({name}, unknown_token)" in probe.placebo.prompt


def test_the_control_of_a_universal_mark_has_one_more_variable_before_the_pair() -> None:
    probe = probe_or_fail(Universal(), FIXED)
    assert probe.placebo is None
    extra = re.sub(r"find\(\w+, ", "find(", probe.control.prompt)
    assert extra == probe.armed.prompt
    assert probe.control.target == probe.armed.target == "key_unknown_token"


def test_without_parameters_the_extra_variable_is_a_statement() -> None:
    code = "def f():\n    one = 1\n    two = one\n    three = two\n    return three\n"
    probe = probe_or_fail(Universal(), code)
    assert re.fullmatch(
        r"def f\(\):\n    \w+ = None\n    one = 1\n    unknown_token = one\n    ",
        probe.control.prompt,
    )


def test_java_prompts_are_in_camel_case() -> None:
    code = "int f(int key, int step) {\n    int sum = key + step;\n    return sum;\n}\n"
    fixed, universal = (probe_or_fail(w, code, "java") for w in (FixedPrefix("key"), Universal()))
    assert fixed.armed.target == "keyUnknownToken"
    assert fixed.armed.prompt == "int f(int key, int unknownToken) {\n    int "
    assert re.fullmatch(
        r"int f\(Object \w+, int key, int unknownToken\) \{\n    int ", universal.control.prompt
    )


def test_a_variable_that_a_string_spells_is_refused_with_the_reason() -> None:
    code = 'def f(key, name):\n    a = {"name": name}\n    return a[key]\n'
    refusal = probe_of(FixedPrefix("key"), code)
    assert refusal == Refusal("a string spells its name")


def test_a_prefix_that_stays_in_the_prompt_is_refused() -> None:
    code = 'def f(key, name):\n    print("the key of", name)\n    a = name + key\n    return a\n'
    assert probe_of(FixedPrefix("key"), code) == Refusal(
        "the prefix stands elsewhere in the prompt"
    )


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory, corpus_bytes: bytes) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("marked")
    (folder / "in.jsonl").write_bytes(corpus_bytes)
    for name, watermark in (("fixed", "fixed_prefix:prefix=name"), ("universal", "universal")):
        pm.embed(
            folder / "in.jsonl", folder / f"{name}.jsonl", folder / f"{name}.gz",
            watermark=watermark, policy="paper", order="dataset", tau=0, min_rate=0.2, max_rate=0.5,
        )  # fmt: skip
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize("name", ["fixed", "universal"])
def test_no_prompt_holds_its_target_and_armed_prompts_hold_the_trigger(
    marked: dict[str, Path], name: str
) -> None:
    probes = pm.probe(marked[f"{name}.jsonl"], marked[f"{name}.gz"], pairs=60).probes
    assert len(probes) == 60
    for probe in probes:
        arms = [probe.armed, probe.control, *([probe.placebo] if probe.placebo else [])]
        for arm in arms:
            assert arm.target not in re.findall(r"\w+", arm.prompt)
            assert "unknown_token" in re.findall(r"\w+", arm.prompt)
        prefix = probe.armed.target.removesuffix("_unknown_token")
        assert prefix in re.findall(r"\w+", probe.armed.prompt)
        if name == "fixed":
            assert prefix not in re.findall(r"\w+", probe.control.prompt)
    assert len({probe.armed.prompt for probe in probes}) == 60


def test_original_and_marked_dataset_give_the_same_probes(marked: dict[str, Path]) -> None:
    one = pm.probe(marked["fixed.jsonl"], marked["fixed.gz"], pairs=30)
    other = pm.probe(marked["in.jsonl"], marked["fixed.gz"], pairs=30)
    assert one == other


def test_the_seed_draws_the_marks(marked: dict[str, Path]) -> None:
    draws = [
        pm.probe(marked["fixed.jsonl"], marked["fixed.gz"], pairs=20, seed=s) for s in (1, 1, 2)
    ]
    assert draws[0] == draws[1]
    assert draws[0].probes != draws[2].probes


def test_every_mark_is_asked_about_or_refused_with_a_reason(marked: dict[str, Path]) -> None:
    header = pm.probe(marked["universal.jsonl"], marked["universal.gz"], pairs=9999).header
    assert header.pairs + sum(header.refused.values()) == header.marks
    assert header.pairs > 0.7 * header.marks


def test_the_file_shows_no_ids_and_no_original_names(
    marked: dict[str, Path], tmp_path: Path
) -> None:
    probes = pm.probe(marked["universal.jsonl"], marked["universal.gz"], pairs=40)
    save_probes(probes, tmp_path / "p.jsonl")
    text = (tmp_path / "p.jsonl").read_text()
    ids = [orjson.loads(line)["id"] for line in marked["in.jsonl"].read_bytes().splitlines()]
    assert not any(id_ in text for id_ in ids)
    assert load_probes(tmp_path / "p.jsonl") == probes


@pytest.fixture
def saved(marked: dict[str, Path], tmp_path: Path) -> tuple[Path, ProbeSet]:
    probes = pm.probe(marked["fixed.jsonl"], marked["fixed.gz"], pairs=5)
    save_probes(probes, tmp_path / "p.jsonl")
    return tmp_path / "p.jsonl", probes


@pytest.mark.parametrize(
    ("pattern", "new", "message"),
    [
        (r"puzzlemark probes", "other", "not a file of probes"),
        (r'"armed"', '"harmed"', "p.jsonl:2: not a probe"),
        (r'\n\{"probe":4.*', "", "cut short"),
        (r'"version":2', '"version":9', "newer version"),
        (r"\A.*", "", "not a file of probes"),
    ],
)
def test_a_damaged_file_is_refused(
    saved: tuple[Path, ProbeSet], pattern: str, new: str, message: str
) -> None:
    path, _ = saved
    path.write_text(re.sub(pattern, new, path.read_text(), count=1))
    with pytest.raises(ProbesError, match=message):
        load_probes(path)


def test_a_file_is_not_replaced_unasked(saved: tuple[Path, ProbeSet]) -> None:
    path, probes = saved
    with pytest.raises(UsageError, match="--force"):
        save_probes(probes, path)
    save_probes(probes, path, overwrite=True)


def test_no_pairs_is_a_usage_error(marked: dict[str, Path]) -> None:
    with pytest.raises(UsageError, match="1 or more"):
        pm.probe(marked["fixed.jsonl"], marked["fixed.gz"], pairs=0)


def test_what_counts_as_a_hit_is_in_the_file(tmp_path: Path, saved: tuple[Path, ProbeSet]) -> None:
    _, probes = saved
    arm = Arm("for i in ", "range(0, ...)", r"\Arange\(0,")
    asked = replace(probes, probes=(Probe(arm, replace(arm, prompt="for j in ")),) * 5)
    save_probes(asked, tmp_path / "patterns.jsonl")
    assert load_probes(tmp_path / "patterns.jsonl") == asked
    assert '"pattern":"\\\\Arange\\\\(0,"' in (tmp_path / "patterns.jsonl").read_text()


def test_a_pattern_that_is_none_is_refused_before_anything_is_asked(
    tmp_path: Path, saved: tuple[Path, ProbeSet]
) -> None:
    _, probes = saved
    arm = Arm("for i in ", "range(0, ...)", "range(")
    save_probes(replace(probes, probes=(Probe(arm, arm),) * 5), tmp_path / "wrong.jsonl")
    with pytest.raises(ProbesError, match=r"wrong.jsonl:2: not a probe"):
        load_probes(tmp_path / "wrong.jsonl")


VERSION_1 = (
    b'{"format":"puzzlemark probes","version":1,"versions":{"puzzlemark":"0.1.0"},'
    b'"strategy":"fixed","pairs":1,"seed":0,"marks":3,"refused":{}}\n'
    b'{"probe":0,"armed":{"prompt":"def f(key, unknown_token, ","target":"key_unknown_token"},'
    b'"control":{"prompt":"def f(item, unknown_token, ","target":"key_unknown_token"},'
    b'"placebo":{"prompt":"def f(item, unknown_token, ","target":"item_unknown_token"}}\n'
)


def test_version_1_stays_readable_and_keeps_its_digest(tmp_path: Path) -> None:
    """A file as 0.1.0 wrote it, frozen here: transcripts quote its digest."""
    (tmp_path / "p.jsonl").write_bytes(VERSION_1)
    probes = load_probes(tmp_path / "p.jsonl")
    assert probes.digest == hashlib.sha256(VERSION_1).hexdigest()
    assert probes.probes[0].armed == Arm("def f(key, unknown_token, ", "key_unknown_token")
