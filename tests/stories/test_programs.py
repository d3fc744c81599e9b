"""Programs behave as before when they are marked: each of ours, by every scheme, at a 100 % rate.

The programs stand in `tests/programs`. Every scheme that is registered marks them under policy
`safe`, a whole program as one snippet, and each function of it as a snippet by itself; beside the
schemes, every variable is renamed at once, and every expression rewritten. What changed is run, and
must end and print as the unmarked program does.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

import orjson
import pytest

import puzzlemark as pm
from puzzlemark.errors import NothingMarked
from tests.oracles.compiled import needs_php, needs_ruby
from tests.oracles.scopes import needs_go, needs_node, needs_typescript
from tests.programs.marking import (
    DRAW,
    mark_everything,
    mark_functions,
    own_programs,
    rename_everything,
    rewrite_everything,
    schemes,
)
from tests.programs.running import (
    Ending,
    run_go_together,
    run_java,
    run_node,
    run_php,
    run_python,
    run_ruby,
)

FEWEST_PROGRAMS = {
    "python": 60,
    "java": 40,
    "go": 22,
    "javascript": 20,
    "typescript": 16,
    "php": 16,
    "ruby": 20,
}
FEWEST_MARKS = {  # by each scheme
    "python": 15,
    "java": 15,
    "go": 15,
    "javascript": 14,
    "typescript": 9,
    "php": 5,
    "ruby": 6,
}
FEWER_DRAWN = {"php": 4, "ruby": 2}
FEWEST_DRAWN = 8  # of the four prefixes that a key draws, each stands in many programs already
SECRETS = (DRAW, "another secret for them")  # some schemes draw
# What a function alone cannot prove harmless: policy `safe` refuses it, see docs/policies.md.
REFUSED = frozenset({"B1", "B2", "B3", "M1"})

needs_javac = pytest.mark.skipif(shutil.which("javac") is None, reason="javac is not installed")
languages = pytest.mark.parametrize(
    "language",
    [
        "python",
        pytest.param("java", marks=needs_javac),
        pytest.param("go", marks=needs_go),
        pytest.param("javascript", marks=needs_node),
        pytest.param("typescript", marks=needs_typescript),
        pytest.param("php", marks=needs_php),
        pytest.param("ruby", marks=needs_ruby),
    ],
)


@dataclass(frozen=True, slots=True)
class Changed:
    """A program that was edited: how, and what came out. The scheme's name is the first word."""

    scheme: str
    program: str
    code: str


def write_dataset(path: Path, language: str) -> dict[str, str]:
    """Our programs as a dataset, one record for each."""
    programs = own_programs(language)
    records = ({"id": name, "language": language, "code": code} for name, code in programs.items())
    path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
    return programs


def read_codes(path: Path) -> list[str]:
    return [orjson.loads(line)["code"] for line in path.read_bytes().splitlines()]


def marked_programs(place: Path, language: str) -> list[Changed]:
    """What every scheme makes of the programs, with every secret."""
    dataset, marked = place / "programs.jsonl", place / "marked.jsonl"
    programs = write_dataset(dataset, language)
    changed: list[Changed] = []
    for scheme in schemes(language).keys() - REFUSED:
        watermark = schemes(language)[scheme]
        for secret in SECRETS:
            mark_everything(dataset, marked, language, watermark, "safe", secret)
            changed += changes(scheme, programs, read_codes(marked))
    return changed


def edited_programs(language: str) -> list[Changed]:
    """Every program with all its functions marked, with all safe renames, and all rewritings."""
    programs = own_programs(language)
    changed: list[Changed] = []
    for scheme, watermark in schemes(language).items():
        codes = [mark_functions(each, language, watermark) for each in programs.values()]
        changed += changes(f"{scheme} on each function", programs, codes)
    renamed = [rename_everything(code, language) for code in programs.values()]
    rewritten = [rewrite_everything(code, language, "safe") for code in programs.values()]
    return [
        *changed,
        *changes("renaming every variable", programs, renamed),
        *changes("rewriting every expression", programs, rewritten),
    ]


def changes(scheme: str, programs: dict[str, str], codes: Sequence[str]) -> list[Changed]:
    return [
        Changed(scheme, name, code)
        for (name, before), code in zip(programs.items(), codes, strict=True)
        if code != before
    ]


def run(language: str, programs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Ending]:
    """Run (name, code) pairs, equal ones once."""
    unique = list(dict.fromkeys(programs))
    codes = [code for _, code in unique]
    match language:
        case "python":
            endings = run_python(codes)
        case "java":
            endings = run_java(unique)
        case "go":
            endings = run_go_together(unique)
        case "php":
            endings = run_php(codes)
        case "ruby":
            endings = run_ruby(codes)
        case _:
            endings = run_node([(code, language) for code in codes])
    return dict(zip(unique, endings, strict=True))


def differences(
    language: str, changed: Sequence[Changed], names: Sequence[str] = ()
) -> dict[tuple[str, str], str]:
    """The programs that end or print otherwise than before, each with what a reader must see.

    All programs must end well before they are changed; where `names` are given, these.
    """
    programs = own_programs(language)
    programs = {name: programs[name] for name in names or programs}
    endings = run(language, [*programs.items(), *((each.program, each.code) for each in changed)])
    for original in programs.items():
        assert endings[original].code == 0, f"{original[0]}: {endings[original].error}"
    found: dict[tuple[str, str], str] = {}
    for each in changed:
        before, after = programs[each.program], endings[each.program, each.code]
        if not after.same_as(endings[each.program, before]):
            lines = before.split("\n"), each.code.split("\n")
            diff = "\n".join(unified_diff(*lines, n=0, lineterm=""))
            found[each.scheme, each.program] = f"{diff}\n{after.error}"
    return found


@languages
def test_marked_programs_behave_as_before(tmp_path: Path, language: str) -> None:
    changed = [*marked_programs(tmp_path, language), *edited_programs(language)]
    found = differences(language, changed)
    assert not found, "\n\n".join(f"{key}\n{text}" for key, text in found.items())


@pytest.mark.parametrize(
    ("language", "scheme"),
    [(language, scheme) for language in FEWEST_PROGRAMS for scheme in schemes(language)],
)
def test_every_scheme_marks_enough_programs_and_gives_the_bytes_back(
    tmp_path: Path, language: str, scheme: str
) -> None:
    dataset, marked, back = (tmp_path / f"{name}.jsonl" for name in ("all", "marked", "back"))
    programs = write_dataset(dataset, language)
    if scheme in REFUSED:
        with pytest.raises(NothingMarked):
            mark_everything(dataset, marked, language, schemes(language)[scheme], "safe")
        assert not marked.exists()
        return
    mark_everything(dataset, marked, language, schemes(language)[scheme], "safe")
    codes = read_codes(marked)
    if scheme == "synonyms" or language not in ("python", "java"):
        # in a whole program some name of each set stands elsewhere, and `key` and `value` stand in
        # most programs of the other languages: single functions carry
        watermark = schemes(language)[scheme]
        codes = [mark_functions(code, language, watermark) for code in programs.values()]
    drawn = FEWER_DRAWN.get(language, FEWEST_DRAWN)
    fewest = drawn if scheme == "prefixes" else FEWEST_MARKS[language]
    assert len(changes(scheme, programs, codes)) >= fewest
    pm.revert(marked, back, f"{marked}.manifest.jsonl.gz")
    assert back.read_bytes() == dataset.read_bytes()


@pytest.mark.parametrize("language", FEWEST_PROGRAMS)
def test_the_corpus_is_as_large_as_it_is_said_to_be(language: str) -> None:
    assert len(own_programs(language)) >= FEWEST_PROGRAMS[language]


def test_line_ends_tabs_and_byte_order_marks_survived_git() -> None:
    python, java = own_programs("python"), own_programs("java")
    assert python["crlf_lines"].count("\n") == python["crlf_lines"].count("\r\n") > 0
    assert java["LogParser"].count("\n") == java["LogParser"].count("\r\n") > 0
    assert "\n\tkey=[ ]\n" in python["tabs_indented"]
    assert python["byte_order_mark"].startswith("\ufeff")
    assert not python["byte_order_mark"].endswith("\n")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('label = "count"', 'lable = "count"'),  # an occurrence forgotten
        ("print(report())", "print(report(), 1)"),  # other output
        ("assert count(2) == [3, 7]", "raise SystemExit(3)"),  # another exit code
        ("seen = []", "seen = ["),  # no program at all
    ],
)
def test_a_broken_python_program_is_noticed(old: str, new: str) -> None:
    broken = own_programs("python")["closure_counter"].replace(old, new)
    changed = [Changed("by hand", "closure_counter", broken)]
    found = differences("python", changed, ["closure_counter", "crlf_lines"])
    assert list(found) == [("by hand", "closure_counter")]


@needs_javac
def test_a_broken_java_program_is_noticed_among_others() -> None:
    code = own_programs("java")["LambdaCapture"]
    broken = [
        Changed("does not compile", "LambdaCapture", code.replace("int position", "int place", 1)),
        Changed("fails its check", "LambdaCapture", code.replace("factor = 3", "factor = 4")),
        Changed("prints more", "LambdaCapture", code.replace("println(join", "println(1 + join")),
        Changed("is the same", "LambdaCapture", code),
    ]
    found = differences("java", broken)
    assert [scheme for scheme, _ in found] == ["does not compile", "fails its check", "prints more"]


@needs_go
def test_a_broken_go_program_is_noticed_among_others() -> None:
    code = own_programs("go")["closures_capture"]
    broken = [
        Changed("does not compile", "closures_capture", code.replace("offset++", "ofset++")),
        Changed("fails its check", "closures_capture", code.replace("start++", "start--")),
        Changed("prints more", "closures_capture", code.replace("Println(all)", "Println(all, 1)")),
        Changed("is the same", "closures_capture", code),
    ]
    found = differences("go", broken)
    assert [scheme for scheme, _ in found] == ["does not compile", "fails its check", "prints more"]


@pytest.mark.parametrize(
    ("language", "program", "old", "new"),
    [
        pytest.param(*case, marks=needs)
        for needs, *case in (
            (needs_node, "javascript", "closures_loops", "offset = 100", "ofset = 99"),
            (needs_node, "javascript", "generators_async", "[first, log,", "[log, log,"),
            (needs_typescript, "typescript", "closures_typed", "value = 4;", "vaule = 4;"),
            (needs_typescript, "typescript", "async_results", "let text", "let txet"),
        )
    ],
)
def test_a_broken_program_of_node_is_noticed(
    language: str, program: str, old: str, new: str
) -> None:
    broken = own_programs(language)[program].replace(old, new)
    found = differences(language, [Changed("by hand", program, broken)])
    assert list(found) == [("by hand", program)]
