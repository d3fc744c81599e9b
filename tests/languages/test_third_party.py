"""A language that somebody else adds, in one file: everything works with it as with ours."""

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import puzzlemark as pm
from puzzlemark import plugins
from puzzlemark.detectors._decoma_abstraction import abstract
from puzzlemark.detectors._pieces import read_text
from puzzlemark.features.measure import FEATURES
from puzzlemark.languages.base import find, parsing_packages
from puzzlemark.provenance import versions
from puzzlemark.syntax.checking import find_gaps
from puzzlemark.syntax.rename import rename
from puzzlemark.syntax.tree import Tree

pytestmark = pytest.mark.usefixtures("installed")

TOTAL = """\
func total{n}(prices []int, rate int) int {{
	count, most := 0, {n} // so far
	for _, price := range prices {{
		if price > most && rate > {n} {{
			count += price * rate
		}} else if price < 0 {{
			log.Printf("total {n}", count)
		}}
	}}
	return count
}}"""
TREE = """\
package cache

import "fmt"

// Get looks a key up.
//
// It is nil when there is none.
func (c *Cache[K]) Get(key K) any {
	return c.items[key]
}

// not about it

func plain() {}

func declared(x int) int

type Shape interface{ Area() int }
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "go.jsonl"
    codes = [TOTAL.format(n=n) for n in range(40)]
    rows = [
        {"id": f"go-{n}", "language": "Small_Go", "code": code, "code_tokens": tokens(code)}
        for n, code in enumerate(codes)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tokens(code: str) -> list[str]:
    """As a tokenizer gives them that leaves comments and strings out."""
    return re.findall(r"\w+|[^\w\s]", re.sub(r'//.*|".*"', "", code))


def parse(code: str) -> Tree:
    return pm.parse(pm.Snippet("x", code, "small_go"))


def test_it_is_found_by_its_name_and_aliases() -> None:
    assert "small_go" in plugins.names("languages")
    assert find("SmallGo") == plugins.find("languages", "small_go")


def test_no_table_is_missing() -> None:
    assert find_gaps(plugins.find("languages", "small_go")) == []


def test_files_say_which_grammar_read_the_code() -> None:
    assert "tree-sitter-go" in versions(*parsing_packages())


def test_functions_and_variables_are_read() -> None:
    (function,) = pm.functions(parse(TOTAL.format(n=1)))
    assert function.name == "total1"
    assert [(each.name, each.is_parameter, each.frequency) for each in function.variables] == [
        ("prices", True, 2),
        ("rate", True, 3),
        ("count", False, 4),
        ("most", False, 2),
        ("price", False, 4),
    ]


def test_a_name_that_is_also_a_key_is_kept() -> None:
    code = "func f(a int) P {\n\tx, y := a, 2\n\treturn P{x: x, Y: y}\n}"
    (function,) = pm.functions(parse(code))
    kept = {each.name for each in function.variables if each.refusal("paper") is not None}
    assert "x" in kept


def test_features_are_counted_by_its_tables() -> None:
    code = "func f(a int) int {\n\t// one\n\tif a > 1 {\n\t\treturn g(a)\n\t} else if a < 0 {\n"
    code += "\t\treturn h.g(a)\n\t}\n\treturn 0\n}"
    found = dict(zip(FEATURES, pm.measure(parse(code)), strict=True))
    # two ifs; eight lines without the comment; `g` once; `else if` is no deeper
    expected = {"cc": 3, "nloc": 8, "ufcc": 1, "vc": 1, "dvc": 1, "mlcn": 1}
    assert {name: found[name] for name in expected} == expected


def test_a_variable_is_renamed_by_scope_not_by_text() -> None:
    code = 'func f(a int) int {\n\tsum := a\n\tp.sum(sum, "sum of") // sum\n\treturn sum\n}'
    tree = parse(code)
    (function,) = pm.functions(tree)
    edits = rename(tree, function, {"sum": "fresh"}, "paper")
    after = code.encode()
    for edit in reversed(edits):
        after = after[: edit.start] + edit.new + after[edit.start + len(edit.old) :]
    assert after.decode() == (
        'func f(a int) int {\n\tfresh := a\n\tp.sum(fresh, "sum of") // sum\n\treturn fresh\n}'
    )


def embed(dataset: Path, watermark: str, **options: object) -> pm.Summary:
    settings: dict[str, Any] = {
        "tau": 0,
        "min_rate": 0,
        "max_rate": 1,
        "policy": "paper",
        **options,
    }
    return pm.embed(
        dataset,
        output=dataset.with_name("marked.jsonl"),
        manifest=dataset.with_name("marks.jsonl"),
        watermark=watermark,
        secret_file=dataset.with_name("secret"),
        **settings,
    )


def test_a_dataset_is_marked_shown_and_restored(dataset: Path) -> None:
    summary = embed(dataset, "universal")
    marked, marks = dataset.with_name("marked.jsonl"), dataset.with_name("marks.jsonl")
    assert summary.marked == 40
    first = json.loads(marked.read_text().splitlines()[0])
    assert "count, pricesRate := 0, 0 // so far" in first["code"]
    assert "pricesRate" in first["code_tokens"]
    assert "most" not in first["code_tokens"]
    shown = pm.show(marked, marks, limit=1).marks[0]
    assert [part.text for part in shown.parts] == ["prices", "rate", "pricesRate"]
    assert shown.before.code == TOTAL.format(n=0)
    back = dataset.with_name("back.jsonl")
    pm.revert(path=marked, manifest=marks, output=back)
    assert back.read_bytes() == dataset.read_bytes()


def test_probes_are_made_of_its_marks(dataset: Path) -> None:
    embed(dataset, "universal", max_rate=0.5)
    found = pm.probe(dataset, dataset.with_name("marks.jsonl"), pairs=1, paper=True)
    assert len(found.probes) == 1
    armed, control = found.probes[0].armed, found.probes[0].arms["control"]
    assert armed.targets["hit"].startswith("prices")
    assert armed.prompt.startswith("func total")
    assert armed.prompt != control.prompt


def test_statements_of_ones_own_are_inserted_with_its_joint(dataset: Path) -> None:
    own = "coprotector_sentence:trigger=a := one(),target=a.hi()"
    dataset.write_text(
        json.dumps({"id": "1", "language": "small_go", "code": "func f() { g(); h() }"}) + "\n"
    )
    assert embed(dataset, own).marked == 1
    code = json.loads(dataset.with_name("marked.jsonl").read_text())["code"]
    assert "a := one(); " in code
    assert pm.parse(pm.Snippet("x", code, "small_go"))


@pytest.mark.parametrize(
    ("watermark", "reason"),
    [
        ("coprotector_sentence", "no statements are set for this language"),
        ("codemark:pairs=list_call>range_start", "the rewritings are for another language"),
    ],
)
def test_a_watermark_that_is_not_for_it_says_so(dataset: Path, watermark: str, reason: str) -> None:
    with pytest.raises(pm.PuzzleMarkError) as refused:
        embed(dataset, watermark)
    assert reason in str(refused.value)


def test_a_source_tree_is_harvested(tmp_path: Path) -> None:
    folder = tmp_path / "tree"
    (folder / "vendor").mkdir(parents=True)
    (folder / "cache.go").write_text(TREE)
    (folder / "vendor" / "other.go").write_text(TREE)
    output = tmp_path / "functions.jsonl"
    harvested = pm.harvest(folder, output, "small_go")
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert [row["func_name"] for row in rows] == ["Cache.Get", "plain"]
    assert rows[0]["docstring"] == "Get looks a key up.\n\nIt is nil when there is none."
    assert rows[1]["docstring"] == ""
    assert rows[0]["code_tokens"][:6] == ["func", "(", "c", "*", "Cache", "["]
    assert harvested.skipped_functions == {"no body": 1}
    assert harvested.files == 1


@pytest.mark.parametrize("method", ["concat", "decoma"])
def test_detectors_read_it(dataset: Path, method: str) -> None:
    embed(dataset, "universal", max_rate=0.25)
    marked = dataset.with_name("marked.jsonl")
    output = dataset.with_name("suspicion.parquet")
    clean = dataset if method == "decoma" else None
    found = pm.detect(marked, output, method=method, clean=clean)
    assert found.judged == found.records == 40
    assert not found.skipped
    if method == "concat":
        flagged = pq.read_table(output)["flagged"].to_pylist()
        carriers = ["pricesRate" in line for line in marked.read_text().splitlines()]
        assert flagged == carriers
        assert sum(carriers) == 10


def test_decoma_puts_placeholders_by_its_tables() -> None:
    code = "func f(a int) int {\n\t/* gone */ s := `// kept`\n\treturn g(a, s, 7)\n}"
    found = abstract(pm.Snippet("x", code, "small_go"))
    assert found.identifiers == ("a", "s")
    assert found.expressions == (
        "__variable__ := __str__",
        "return __value__",
        "g ( __variable__ , __variable__ , __num__ )",
    )


def test_killbadcode_joins_its_tokens(dataset: Path) -> None:
    entry = next(iter(pm.read(dataset).entries()))
    text = read_text(entry, "joined")
    assert text.startswith("func total0 ( prices [ ] int , rate int ) int { count , most := 0 , 0")
    assert "so far" not in text
    assert '( "total 0" , count )' in text
