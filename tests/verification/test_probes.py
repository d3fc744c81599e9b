"""Prompts about marks: what stands in them, what does not, and what cannot be asked about."""

import hashlib
import random
import re
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.embedding.manifest import load_manifest
from puzzlemark.embedding.marking import first_mark
from puzzlemark.embedding.secret import Secret, find_secret
from puzzlemark.errors import SecretError, UsageError
from puzzlemark.snippet import Snippet, apply_edits
from puzzlemark.syntax.tree import parse
from puzzlemark.verification.checking import (
    LARGEST_FILE,
    LONGEST_PROMPT,
    MOST_PROBES,
    ProbesError,
    distinctive_words,
    near_duplicates,
)
from puzzlemark.verification.making import COPY
from puzzlemark.verification.probes import (
    FORMAT,
    Header,
    ProbeSet,
    check,
    load_probes,
    save_probes,
)
from puzzlemark.watermarks._names import ProbeNames
from puzzlemark.watermarks.base import Arm, Mark, Probe, Refusal, Watermark
from puzzlemark.watermarks.fixed_prefix import FixedPrefix
from puzzlemark.watermarks.universal import Universal
from tests.verification.outcomes import made_of


def probe_of(watermark: Watermark, code: str, language: str = "python") -> Probe | Refusal:
    tree = parse(Snippet("x", code, language))
    mark = first_mark(watermark, tree, "paper", random.Random(0))
    assert isinstance(mark, Mark), mark
    marked = parse(Snippet("x", apply_edits(tree.code, mark.edits).decode(), language))
    return watermark.probe(marked, mark, ProbeNames(random.Random(7)))


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
        probe.arms["control"].prompt,
    )
    assert match is not None
    assert match[1] == match[2] != "key"
    assert probe.arms["control"].target == "key_unknown_token"


def test_the_placebo_counts_the_other_names_own_concatenation() -> None:
    probe = probe_or_fail(FixedPrefix("key"), FIXED)
    assert probe.arms["placebo"].prompt == probe.arms["control"].prompt
    name = probe.arms["placebo"].targets["hit"].removesuffix("_unknown_token")
    assert f"def find({name}, unknown_token)" in probe.arms["placebo"].prompt


def test_both_prompts_of_a_universal_mark_have_one_more_variable() -> None:
    probe = probe_or_fail(Universal(), FIXED)
    assert set(probe.arms) == {"armed", "control"}
    armed = re.fullmatch(r"def find\(key, unknown_token, (\w+)\):\n(.*)", *prompt_of(probe.armed))
    control = re.fullmatch(
        r"def find\((\w+), key, unknown_token\):\n(.*)", *prompt_of(probe.arms["control"])
    )
    assert armed is not None
    assert control is not None
    assert armed.groups() == control.groups()
    assert probe.arms["control"].target == probe.armed.target == "key_unknown_token"


def prompt_of(arm: Arm) -> tuple[str, re.RegexFlag]:
    return arm.prompt, re.DOTALL


def test_without_parameters_the_extra_variable_is_a_statement() -> None:
    code = "def f():\n    one = 1\n    two = one\n    three = two\n    return three\n"
    probe = probe_or_fail(Universal(), code)
    assert re.fullmatch(
        r"def f\(\):\n    one = 1\n    unknown_token = one\n    \w+ = None\n    ",
        probe.armed.prompt,
    )
    assert re.fullmatch(
        r"def f\(\):\n    \w+ = None\n    one = 1\n    unknown_token = one\n    ",
        probe.arms["control"].prompt,
    )


def test_where_nothing_may_follow_the_suffix_the_extra_variable_stands_before_the_third() -> None:
    code = "def f(one, **two):\n    g()\n    three = two\n    return three\n"
    probe = probe_or_fail(Universal(), code)
    assert re.fullmatch(
        r"def f\(one, \*\*unknown_token\):\n    g\(\)\n    \w+ = None\n    ", probe.armed.prompt
    )


def test_a_pair_that_nothing_can_follow_is_refused_with_the_reason() -> None:
    code = "def f(one):\n    two, three = one\n    return two\n"
    assert probe_of(Universal(), code) == Refusal(
        "no variable can be declared right after the trigger"
    )


def test_the_resolver_sees_the_pair_first_or_second_and_the_same_names(
    stdlib_functions: list[tuple[str, str]],
) -> None:
    """The fairness of a universal mark: the same variables, one of them at another place."""
    asked = 0
    for _, code in stdlib_functions[::4]:
        tree = parse(Snippet("x", code, "python"))
        mark = first_mark(Universal(), tree, "paper", random.Random(0))
        if isinstance(mark, Refusal):
            continue
        marked = parse(Snippet("x", apply_edits(tree.code, mark.edits).decode(), "python"))
        probe = Universal().probe(marked, mark, ProbeNames(random.Random(7)))
        if isinstance(probe, Refusal):
            continue
        asked += 1
        prefix = mark.of("prefix").text
        words = [re.findall(r"\w+", arm.prompt) for arm in (probe.armed, probe.arms["control"])]
        armed, control = ([w for w in each if w != "None"] for each in words)
        assert sorted(armed) == sorted(control)
        (extra,) = {
            word
            for word in set(armed)
            if [w for w in armed if w != word] == [w for w in control if w != word]
        }
        pair = [prefix, "unknown_token"]
        first = [w for w in dict.fromkeys(armed) if w in (extra, *pair)]
        assert first[-1] == extra
        assert control.index(extra) < control.index("unknown_token")
    assert asked > 30


def test_java_prompts_are_in_camel_case() -> None:
    code = "int f(int key, int step) {\n    int sum = key + step;\n    return sum;\n}\n"
    fixed, universal = (probe_or_fail(w, code, "java") for w in (FixedPrefix("key"), Universal()))
    assert fixed.armed.target == "keyUnknownToken"
    assert fixed.armed.prompt == "int f(int key, int unknownToken) {\n    int "
    assert re.fullmatch(
        r"int f\(int key, int unknownToken, Object \w+\) \{\n    int ", universal.armed.prompt
    )
    assert re.fullmatch(
        r"int f\(Object \w+, int key, int unknownToken\) \{\n    int ",
        universal.arms["control"].prompt,
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
@pytest.mark.parametrize("paper", [True, False])
def test_every_probe_that_is_built_passes_the_checks(
    marked: dict[str, Path], name: str, paper: bool
) -> None:
    made = pm.probe(marked[f"{name}.jsonl"], marked[f"{name}.gz"], pairs=60, paper=paper)
    assert len(made.probes) == 60
    check(made)
    assert near_duplicates(made.probes) == frozenset()
    prefixes = {"name"} if name == "fixed" else {p.armed.target for p in made.probes}
    for probe in made.probes:
        words = words_in(probe.armed)
        assert any(prefix in words for prefix in prefixes) or name == "universal"
        if name == "fixed":
            assert "name" not in words_in(probe.arms["control"])


def words_in(arm: Arm) -> set[str]:
    return set(re.findall(r"\w+", arm.prompt))


def test_drawn_names_differ_from_probe_to_probe_and_the_papers_do_not(
    marked: dict[str, Path],
) -> None:
    paths = marked["fixed.jsonl"], marked["fixed.gz"]
    drawn, paper = (pm.probe(*paths, pairs=60, paper=paper) for paper in (False, True))
    assert (drawn.header.names, paper.header.names) == ("drawn", "paper")
    assert {probe.armed.target for probe in paper.probes} == {"name_unknown_token"}
    assert len({probe.armed.target for probe in drawn.probes}) > 40
    assert "unknown_token" not in drawn.to_bytes().decode()
    # no word but the prefix and those of the language is in all prompts
    shared = set.intersection(*(words_in(probe.armed) for probe in drawn.probes))
    assert shared == {"def", "name"}


def test_no_code_of_the_dataset_joins_what_the_probes_join(marked: dict[str, Path]) -> None:
    words = set(re.findall(r"\w+", marked["in.jsonl"].read_text().lower()))
    for name in ("fixed", "universal"):
        made = pm.probe(marked[f"{name}.jsonl"], marked[f"{name}.gz"], pairs=60)
        arms = [p.arms[n] for p in made.probes for n in ("armed", "placebo") if n in p.arms]
        assert not words & {arm.target for arm in arms}


@pytest.fixture
def keyed(marked: dict[str, Path], tmp_path: Path) -> tuple[Path, Path, Path]:
    secret = tmp_path / "secret"
    paths = tmp_path / "keyed.jsonl", tmp_path / "keyed.gz"
    pm.embed(
        marked["in.jsonl"], *paths, watermark="universal", secret_file=secret,
        tau=0, min_rate=0.2, max_rate=0.5,
    )  # fmt: skip
    return *paths, secret


def test_the_secret_draws_the_names_and_stays_out_of_the_file(
    keyed: tuple[Path, Path, Path],
) -> None:
    *paths, secret = keyed
    one, same = (pm.probe(*paths, pairs=20, secret_file=secret) for _ in range(2))
    assert one == same == pm.probe(*paths, pairs=20, secret=find_secret(secret))
    text = one.to_bytes().decode()
    derived = find_secret(secret).derive("probes")
    for hidden in (secret.read_text().strip(), derived.hex(), find_secret(secret).fingerprint):
        assert hidden not in text


def test_other_secrets_draw_other_names_for_the_same_marks(
    marked: dict[str, Path], tmp_path: Path
) -> None:
    sets = [
        pm.probe(
            marked["universal.jsonl"],
            marked["universal.gz"],
            pairs=20,
            secret=Secret(bytes([n] * 32)),
        )
        for n in (1, 2)
    ]
    for one, other in zip(*(each.probes for each in sets), strict=True):
        assert one.armed.target != other.armed.target
        assert distinctive_words(one) == distinctive_words(other)


def test_a_secret_that_did_not_make_the_marks_is_refused(
    keyed: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    *paths, _ = keyed
    with pytest.raises(SecretError, match="made with another secret"):
        pm.probe(*paths, secret=Secret(b"x" * 32))
    with pytest.raises(SecretError, match=r"no secret here.*--secret-file.*--paper"):
        pm.probe(*paths, secret_file=tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    assert pm.probe(*paths, pairs=3, paper=True).header.names == "paper"


def test_what_would_be_ignored_is_refused(keyed: tuple[Path, Path, Path]) -> None:
    *paths, secret = keyed
    with pytest.raises(UsageError, match="not drawn"):
        pm.probe(*paths, paper=True, secret_file=secret)
    with pytest.raises(UsageError, match="either a secret or the file"):
        pm.probe(*paths, secret=find_secret(secret), secret_file=secret)


def test_ordinary_requests_are_cut_from_unmarked_code(marked: dict[str, Path]) -> None:
    paths = marked["universal.jsonl"], marked["universal.gz"]
    made = pm.probe(*paths, pairs=5, ordinary=40)
    assert len(set(made.ordinary)) == made.header.ordinary == 40
    assert made == pm.probe(*paths, pairs=5, ordinary=40)
    assert made.ordinary == pm.probe(marked["in.jsonl"], paths[1], pairs=5, ordinary=40).ordinary
    rows = load_manifest(paths[1]).lines
    lines = marked["in.jsonl"].read_bytes().splitlines()
    bare = [orjson.loads(line)["code"] for row, line in enumerate(lines) if row not in rows]
    for prompt in made.ordinary:
        assert any(code.startswith(prompt) and code != prompt for code in bare)
        assert re.search(r"\n[ \t]+\Z|=\s\Z", prompt)


def test_more_ordinary_requests_than_there_are_snippets_are_told(marked: dict[str, Path]) -> None:
    made = pm.probe(marked["fixed.jsonl"], marked["fixed.gz"], pairs=2, ordinary=5000)
    assert 100 < made.header.ordinary == len(made.ordinary) < 5000


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


def test_of_snippets_that_are_nearly_the_same_one_is_asked_about(tmp_path: Path) -> None:
    codes = [FIXED.replace("find", f"find_{n}") + f"    # {n}\n" for n in range(30)]
    others = [f"def g{n}(depth, width):\n    label = depth\n    return width\n" for n in range(9)]
    lines = [{"id": str(n), "language": "python", "code": c} for n, c in enumerate(codes + others)]
    (tmp_path / "in.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    paths = tmp_path / "out.jsonl", tmp_path / "marks.gz"
    pm.embed(
        tmp_path / "in.jsonl", *paths, watermark="fixed_prefix:prefix=key", order="dataset", tau=0,
        max_rate=1,
    )  # fmt: skip
    for paper in (True, False):
        header = pm.probe(*paths, paper=paper).header
        assert (header.pairs, header.refused) == (1, {COPY.reason: 29})


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
    probes = pm.probe(marked["fixed.jsonl"], marked["fixed.gz"], pairs=5, ordinary=2)
    save_probes(probes, tmp_path / "p.jsonl")
    return tmp_path / "p.jsonl", probes


@pytest.mark.parametrize(
    ("pattern", "new", "message"),
    [
        (r"puzzlemark probes", "other", "not a file of probes"),
        (r'"armed"', '"harmed"', "p.jsonl:2: not a probe"),
        (r'"target":"\w+"', '"target":7', "p.jsonl:2: not a probe: armed.target"),
        (r'"target":"\w+"', '"target":""', "probe 0: armed: the target is empty"),
        (r'\n\{"probe":4.*', "", "cut short"),
        (r'\n\{"ordinary":1.*', "", "cut short"),
        (r'\{"ordinary":1.*', "{}", "p.jsonl:8: not a request"),
        (r'("ordinary":1,"prompt":)".*', r'\1" "}', "ordinary request 1: the prompt is empty"),
        (r'"pairs":5', '"pairs":-1', "not a file of probes"),
        (r'"version":4', '"version":9', "newer version"),
        (r'"seed":\d+', f'"seed":{1 << 64}', "not a file of probes"),
        (r'"marks":\d+', f'"marks":{10**30}', "not a file of probes"),
        (r"\A.*", "", "not a file of probes"),
        (r"\Z", "[" * 100_000, "cut short"),
        (r'\{"probe":2.*', "[" * 100_000, "p.jsonl:4: not a probe"),
    ],
)
def test_a_damaged_file_is_refused(
    saved: tuple[Path, ProbeSet], pattern: str, new: str, message: str
) -> None:
    path, _ = saved
    before = path.read_text()
    path.write_text(re.sub(pattern, new, before, count=1))
    assert path.read_text() != before
    with pytest.raises(ProbesError, match=message):
        load_probes(path)


def test_a_file_is_not_replaced_unasked(saved: tuple[Path, ProbeSet]) -> None:
    path, probes = saved
    with pytest.raises(UsageError, match="--force"):
        save_probes(probes, path)
    save_probes(probes, path, overwrite=True)


def test_an_absurdly_large_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "p.jsonl").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)  # a hole: it takes no room
    with pytest.raises(ProbesError, match="larger than"):
        load_probes(tmp_path / "p.jsonl")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pairs": 0}, "pairs must be 1 or more"),
        ({"ordinary": -1}, "0 or more"),
        ({"pairs": MOST_PROBES + 1}, "no more than"),
        ({"ordinary": MOST_PROBES + 1}, "no more than"),
    ],
)
def test_absurd_numbers_are_usage_errors(
    marked: dict[str, Path], options: dict[str, int], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        pm.probe(marked["fixed.jsonl"], marked["fixed.gz"], **options)  # type: ignore[arg-type]


SOUND = made_of(
    Arm("def f(key, depth):\n    ", "key_depth"),
    Arm("def f(item, depth):\n    ", "key_depth"),
    Arm("def f(item, depth):\n    ", "item_depth"),
)
WITHOUT_PLACEBO = made_of(SOUND.armed, SOUND.arms["control"])
OTHER = made_of(
    Arm("def other(key, depth):\n    ", "key_depth"),
    Arm("def other(item, depth):\n    ", "key_depth"),
    Arm("def other(item, depth):\n    ", "item_depth"),
)
MOVED = made_of(
    Arm("def f(key, depth, item=None):\n    ", "key_depth"),
    Arm("def f(item, key, depth):\n    ", "key_depth"),
)
STATEMENT = Arm("void f() { Person I = Person(); ", "I.hi(everyone);", "code")
RANGE = Arm("a = list()\nfor i in ", "range(0, ...)", "range_start")


def probe_set(*probes: Probe, ordinary: tuple[str, ...] = (), strategy: str = "fixed") -> ProbeSet:
    header = Header(
        format=FORMAT, version=3, versions={}, strategy=strategy, pairs=len(probes), seed=0,
        marks=9, refused={}, names="drawn", ordinary=len(ordinary),
    )  # fmt: skip
    return ProbeSet(header, probes, ordinary)


def test_sound_probes_pass() -> None:
    check(probe_set(SOUND, OTHER))
    check(probe_set(MOVED, strategy="universal"))
    statement = made_of(STATEMENT, replace(STATEMENT, prompt="void f() { "))
    check(probe_set(statement, strategy="trigger"))
    earlier = "range(0, 1)\n"
    loop = made_of(
        *(replace(RANGE, prompt=f"{earlier}a = {x}\nfor i in ") for x in ("list()", "[]"))
    )
    check(probe_set(loop, strategy="trigger"))
    check(probe_set(ordinary=("x = ",)))


def changed(arm: str, **fields: str) -> Probe:
    return Probe({**SOUND.arms, arm: replace(SOUND.arms[arm], **fields)})


@pytest.mark.parametrize(
    ("probe", "reason"),
    [
        (changed("armed", prompt="key_depth = "), "armed: the target stands in the prompt"),
        (changed("control", prompt="# key_depth\n"), "control: the target stands in the prompt"),
        (changed("placebo", prompt="item_depth = "), "placebo: the target stands in the prompt"),
        (changed("control", target="item_depth"), "do not count the same target"),
        (changed("control", target="x", form="code"), "do not count the same target"),
        (changed("placebo", target="key_depth"), "the placebo counts the armed target"),
        (changed("control", prompt=SOUND.armed.prompt), "the same as one without the trigger"),
        (changed("placebo", prompt=SOUND.armed.prompt), "the same as one without the trigger"),
        (changed("armed", prompt=" \n"), "armed: the prompt is empty"),
        (changed("armed", prompt="x" * (LONGEST_PROMPT + 1)), "armed: the prompt is longer than"),
        (changed("armed", target="x" * 501), "armed: the target is longer than"),
        (changed("armed", target=" "), "armed: the target is empty"),
        (changed("armed", target="a b"), "armed: the target is not a plain name"),
        (changed("armed", form="(x+x+)+y"), r"nothing is known of hits of the form '\(x"),
        (changed("armed", form="range_start"), r"the target of range_start is 'range\(0, ...\)'"),
        (
            made_of(STATEMENT, replace(STATEMENT, prompt="I.hi( everyone ); ")),
            "control: the target",
        ),
    ],
)
def test_a_probe_whose_hits_would_mean_nothing_is_refused(probe: Probe, reason: str) -> None:
    with pytest.raises(ProbesError, match=f"^probe 1: .*{reason}"):
        check(probe_set(OTHER, probe))


def swapped(probe: Probe, arm: str, old: str, new: str) -> Probe:
    """The same with another text in the prompt of one arm."""
    before = probe.arms[arm]
    return Probe({**probe.arms, arm: replace(before, prompt=before.prompt.replace(old, new))})


@pytest.mark.parametrize(
    ("strategy", "probe", "reason"),
    [
        ("trigger", SOUND, "has a placebo"),
        ("trigger", WITHOUT_PLACEBO, "the strategy is not trigger"),
        ("trigger", MOVED, "the strategy is not trigger"),
        ("universal", SOUND, "has a placebo"),
        ("universal", WITHOUT_PLACEBO, "more than the place of one name"),
        ("fixed", MOVED, "has no placebo"),
        ("fixed", swapped(SOUND, "armed", "depth):", "depth): # join"), "more than the prefix"),
        ("fixed", swapped(SOUND, "armed", "key,", "key, item,"), "more than the prefix"),
        ("fixed", swapped(SOUND, "control", "f(", "g("), "do not have the same prompt"),
        ("fixed", changed("placebo", target="item_x"), "with the same other one"),
        ("universal", swapped(MOVED, "armed", "    ", "    # join them\n    "), "more than"),
        ("universal", swapped(MOVED, "control", "def f", "def g"), "more than the place"),
        ("universal", swapped(MOVED, "armed", ", item=None", ""), "more than the place"),
        (
            "universal",
            made_of(*(replace(arm, target="key_x") for arm in MOVED.arms.values())),
            "not joined from names",
        ),
    ],
)
def test_arms_that_do_not_differ_as_their_strategy_says_are_refused(
    strategy: str, probe: Probe, reason: str
) -> None:
    """Another strategy is a weaker test; a doctored prompt, another question."""
    with pytest.raises(ProbesError, match=f"^probe 0: .*{reason}.*make them again"):
        check(probe_set(probe, strategy=strategy))


def test_a_prompt_that_is_asked_twice_is_refused() -> None:
    other = "def f(node, depth):\n    "
    again = made_of(SOUND.armed, Arm(other, "key_depth"), Arm(other, "node_depth"))
    with pytest.raises(ProbesError, match="probe 1: the armed prompt of probe 0 again"):
        check(probe_set(SOUND, again))


def test_too_many_probes_are_refused() -> None:
    with pytest.raises(ProbesError, match="more than 100,000"):
        check(probe_set(*[SOUND] * (MOST_PROBES + 1)))


def test_a_file_that_is_not_sound_is_not_loaded(tmp_path: Path) -> None:
    unsound = changed("control", prompt="# key_depth\n")
    save_probes(probe_set(unsound), tmp_path / "p.jsonl")
    with pytest.raises(ProbesError, match=r"p.jsonl: probe 0: control: the target stands"):
        load_probes(tmp_path / "p.jsonl")


def test_near_duplicates_are_numbered_and_drawn_names_do_not_hide_them() -> None:
    def probe(function: str, name: str) -> Probe:
        prompt = f'def {function}(key, {name}):\n    """Look for it in the table."""\n    for '
        armed = Arm(prompt, f"key_{name}")
        return made_of(armed, replace(armed, prompt=prompt.replace("key", "item")))

    other = made_of(Arm("def other(key, depth): ", "key_depth"), SOUND.arms["control"])
    made = probe_set(probe("find", "depth"), other, probe("find", "width"), probe("seek", "label"))
    assert near_duplicates(made.probes) == {2, 3}


def test_the_form_of_a_hit_is_in_the_file_and_nothing_that_could_be_run(tmp_path: Path) -> None:
    word = made_of(Arm("def f(key):\n    ", "melon"), Arm("def f(item):\n    ", "melon"))
    loop = made_of(RANGE, replace(RANGE, prompt="a = []\nfor i in "))
    asked = probe_set(loop, word, ordinary=("x = ",), strategy="trigger")
    save_probes(asked, tmp_path / "p.jsonl")
    assert load_probes(tmp_path / "p.jsonl") == asked
    text = (tmp_path / "p.jsonl").read_text()
    assert text.count('"form":"range_start"') == 2
    assert text.count('"form"') == 2


VERSION_1 = (
    b'{"format":"puzzlemark probes","version":1,"versions":{"puzzlemark":"0.1.0"},'
    b'"strategy":"fixed","pairs":1,"seed":0,"marks":3,"refused":{}}\n'
    b'{"probe":0,"armed":{"prompt":"def f(key, unknown_token, ","target":"key_unknown_token"},'
    b'"control":{"prompt":"def f(item, unknown_token, ","target":"key_unknown_token"},'
    b'"placebo":{"prompt":"def f(item, unknown_token, ","target":"item_unknown_token"}}\n'
)


@pytest.mark.parametrize("version", [b"1", b"2"])
def test_older_versions_stay_readable_and_keep_their_digest(tmp_path: Path, version: bytes) -> None:
    """A file as 0.1.0 wrote it, frozen here: transcripts quote its digest."""
    content = VERSION_1.replace(b'"version":1', b'"version":' + version)
    (tmp_path / "p.jsonl").write_bytes(content)
    probes = load_probes(tmp_path / "p.jsonl")
    assert probes.digest == hashlib.sha256(content).hexdigest()
    assert probes.probes[0].armed == Arm("def f(key, unknown_token, ", "key_unknown_token")
    assert (probes.header.names, probes.ordinary) == ("paper", ())


@pytest.mark.parametrize("version", [b"1", b"2", b"3"])
def test_a_regular_expression_of_a_file_is_never_run(tmp_path: Path, version: bytes) -> None:
    """This one would take longer than the universe has existed."""
    content = VERSION_1.replace(b'"version":1', b'"version":' + version)
    content = content.replace(
        b'"target":"key_unknown_token"},"c',
        b'"target":"key_unknown_token","pattern":"(x+x+)+y"},"c',
    )
    assert b"pattern" in content
    (tmp_path / "p.jsonl").write_bytes(content)
    with pytest.raises(ProbesError, match=r"p.jsonl:2: .*make the probes again"):
        load_probes(tmp_path / "p.jsonl")
