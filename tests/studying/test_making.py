"""The pages of a study: who sees what, and that nothing but the code can tell."""

import collections
import hashlib
import itertools
import json
import math
import re
import stat
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pytest
from pyarrow import parquet

import puzzlemark as pm
from puzzlemark.errors import UsageError
from puzzlemark.studying import making
from puzzlemark.studying.design import Assignments
from puzzlemark.studying.key import Key, Shown
from tests.studying import studies


def bare_codes(folder: Path) -> list[str]:
    lines = (folder / "functions.jsonl").read_bytes().splitlines()
    return [orjson.loads(line)["code"] for line in lines]


def seen(pages: Path, key: Key) -> list[tuple[str, Shown, str]]:
    """Who is shown which snippet, and its text on the page."""
    found = []
    for who, participant in key.participants.items():
        data = studies.data_of(pages / f"{who}.html")
        found += [
            (who, shown, studies.text_of(data["snippets"][label]))
            for label, shown in participant.shown.items()
        ]
    return found


def test_marked_snippets_are_changed_and_bare_ones_are_as_in_the_dataset(
    folder: Path, pages: Path, key: Key
) -> None:
    codes = bare_codes(folder)
    for _, shown, text in seen(pages, key):
        origin = key.snippets[shown.snippet]
        bare = codes[origin.row]
        assert hashlib.sha256(bare.encode()).hexdigest() == origin.code
        assert (text != bare) == shown.is_marked


def test_each_participant_judges_the_design_in_one_language(pages: Path, key: Key) -> None:
    watermark = key.mark_of()
    assert len(key.marks) == 4
    for who, participant in key.participants.items():
        counts = collections.Counter(
            (watermark[shown.snippet], shown.is_marked) for shown in participant.shown.values()
        )
        own = [name for name, mark in key.marks.items() if mark.language == participant.language]
        assert counts == {(name, form): 1 if form else 3 for name in own for form in (True, False)}
        data = studies.data_of(pages / f"{who}.html")
        assert data["language"] == participant.language
        for each in data["rounds"]:
            assert sorted(each["order"]) == sorted(data["snippets"]) == sorted(participant.shown)
        first, second = data["rounds"]
        assert first["order"] != second["order"]


def test_over_the_participants_each_snippet_is_marked_equally_often(key: Key) -> None:
    counts = collections.Counter(
        shown.snippet
        for participant in key.participants.values()
        for shown in participant.shown.values()
        if shown.is_marked
    )
    # four participants of a language, one of four snippets marked for each
    assert counts == dict.fromkeys(range(len(key.snippets)), 1)


def test_a_bare_function_never_stands_beside_its_marked_copy(folder: Path, key: Key) -> None:
    codes = bare_codes(folder)
    for participant in key.participants.values():
        origins = [key.snippets[shown.snippet] for shown in participant.shown.values()]
        texts = {"".join(codes[origin.row].split()) for origin in origins}
        assert len(texts) == len(origins)


def test_copies_of_a_function_in_a_dataset_are_shown_once(tmp_path: Path) -> None:
    records = studies.functions(30)
    twice = [*records, *({**each, "id": f"{each['id']}-copy"} for each in records)]
    twice += [{**each, "id": f"{each['id']}-b", "code": each["code"] + "\n"} for each in records]
    content = b"".join(orjson.dumps(each) + b"\n" for each in twice)
    (tmp_path / "functions.jsonl").write_bytes(content)
    studies.write_secret(tmp_path)
    _, key = studies.make(tmp_path)
    codes = bare_codes(tmp_path)
    texts = ["".join(codes[origin.row].split()) for origin in key.snippets]
    assert len(set(texts)) == len(texts)


# A hostile reader of the source: everything but the code itself is the same whatever is marked.


def without_code(page: str) -> str:
    found = re.search(r'"snippets":(\{.*?\})\}</script>', page)
    assert found is not None
    snippets = json.loads(found[1])
    return page.replace(found[1], json.dumps(sorted(snippets)))


def test_all_of_a_page_but_the_code_is_the_same_whatever_is_marked(
    folder: Path, pages: Path, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    assign = pm.StudyDesign.assign

    def other(self: pm.StudyDesign, *args: Any, **options: Any) -> Assignments:
        return np.roll(assign(self, *args, **options), 1, axis=1)  # to the next participant

    monkeypatch.setattr(pm.StudyDesign, "assign", other)
    _, others = studies.make(folder, "others")
    different = 0
    for who, participant in key.participants.items():
        assert participant.shown != others.participants[who].shown
        one, two = ((place / f"{who}.html").read_text() for place in (pages, folder / "others"))
        different += one != two
        assert without_code(one) == without_code(two)
    assert different == len(key.participants)


def test_ids_places_and_sizes_do_not_tell_what_is_marked(tmp_path: Path) -> None:
    """By the numbers: over 60 participants, marked snippets stand where the others stand."""
    studies.write_dataset(tmp_path, 60)
    studies.write_secret(tmp_path)
    design = pm.StudyDesign("balanced", 12, 3, 2, 60)
    _, key = studies.make(tmp_path, design=design, marks=["fixed_prefix:prefix=key"])
    tells: dict[str, list[tuple[float, bool]]] = collections.defaultdict(list)
    for who, participant in key.participants.items():
        data = studies.data_of(tmp_path / "pages" / f"{who}.html")
        assert {len(label) for label in data["snippets"]} == {12}
        for label, shown in participant.shown.items():
            features = {
                "id": int(label, 16),
                "first place": data["rounds"][0]["order"].index(label),
                "second place": data["rounds"][1]["order"].index(label),
                "place in the file": list(data["snippets"]).index(label),
                "size of its name": len(json.dumps(label)),
            }
            for name, value in features.items():
                tells[name].append((value, shown.is_marked))
    for name, values in tells.items():
        numbers = np.array([value for value, _ in values], float)
        marked = np.array([form for _, form in values])
        spread = numbers.std() * math.sqrt(1 / marked.sum() + 1 / (~marked).sum())
        apart = abs(numbers[marked].mean() - numbers[~marked].mean())
        assert apart <= 3.5 * spread, name


def test_a_page_names_neither_the_program_nor_a_watermark(pages: Path, key: Key) -> None:
    for path in pages.glob("*.html"):
        page = path.read_text().lower()
        data = studies.data_of(path)
        for word in ("puzzlemark", "universal", "fixed_prefix", "is_marked", "carrier", "manifest"):
            assert word not in page
        assert key.study in page
        assert set(data) == set(
            "format version study participant token language of texts rounds snippets".split()
        )
        assert all(label not in key.participants for label in data["snippets"])


def test_ids_of_one_snippet_differ_between_participants(key: Key) -> None:
    labels = [label for each in key.participants.values() for label in each.shown]
    assert len(set(labels)) == len(labels)
    tokens = {each.token for each in key.participants.values()}
    assert len(tokens) == len(key.participants)


def test_the_same_secret_gives_the_same_bytes_and_another_name_another_study(
    folder: Path, pages: Path, key: Key
) -> None:
    made, again = studies.make(folder, "again")
    assert again == key
    for name in made.pages:
        assert (folder / "again" / name).read_bytes() == (pages / name).read_bytes()
    _, other = studies.make(folder, "other", name="another")
    assert other.study != key.study
    assert other.snippets != key.snippets


def test_the_key_is_private_and_beside_the_pages(folder: Path, pages: Path, key: Key) -> None:
    path = folder / "pages.key.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert studies.SECRET not in path.read_text()
    names = {each.name for each in pages.iterdir()}
    assert names == {"texts.toml", *(f"p{n:02}.html" for n in range(1, 9))}


def test_the_papers_design_marks_the_same_for_everybody(folder: Path) -> None:
    design = pm.StudyDesign("paper", 4, 1, 2, 4)
    marking = pm.StudyMarking(tau=0, min_rate=0.2, max_rate=0.2)
    _, key = studies.make(folder, "papers", design=design, marking=marking)
    for language in ("python", "java"):
        forms = {
            frozenset(
                (shown.snippet, shown.is_marked) for shown in key.participants[who].shown.values()
            )
            for who in key.group(language)
        }
        assert len(forms) == 1
        (only,) = forms
        assert sum(form for _, form in only) == 2  # one of each watermark
        assert len(only) == 8


def test_two_files_keep_the_disclosure_apart(folder: Path) -> None:
    made, _ = studies.make(folder, "twofold", two_files=True)
    assert made.pages[:2] == ("p01-round-1.html", "p01-round-2.html")
    first, second = (studies.data_of(folder / "twofold" / name) for name in made.pages[:2])
    assert [each["number"] for each in first["rounds"]] == [1]
    assert [each["number"] for each in second["rounds"]] == [2]
    assert first["texts"]["consent"]
    assert second["texts"]["consent"] is None
    assert "joined" in json.dumps(second)
    assert "joined" not in (folder / "twofold" / "p01-round-1.html").read_text()


def test_hostile_code_is_inert_in_the_source(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><!--\u2028\u202e&amp;"
    records = studies.functions(20)
    for each in records:
        sign = "#" if each["language"] == "python" else "//"
        each["code"] = each["code"].replace("\n", f"  {sign} {evil}\n".replace("\u2028", " "), 1)
    content = b"".join(orjson.dumps(each) + b"\n" for each in records)
    (tmp_path / "functions.jsonl").write_bytes(content)
    studies.write_secret(tmp_path)
    studies.make(tmp_path)
    page = (tmp_path / "pages" / "p01.html").read_text()
    assert page.count("<script") == page.count("</script>") == 2
    assert "<!--" not in page.partition('id="study"')[2]
    assert not {"\u2028", "\u202e"} & set(page)
    texts = studies.data_of(tmp_path / "pages" / "p01.html")["snippets"].values()
    assert all("</script><script>alert(1)" in studies.text_of(each) for each in texts)


@pytest.mark.parametrize("kind", ["folder", "glob", "parquet"])
def test_a_dataset_may_be_a_folder_a_glob_or_parquet(tmp_path: Path, kind: str) -> None:
    records = studies.functions(8)
    (tmp_path / "data").mkdir()
    if kind == "parquet":
        source = tmp_path / "data" / "f.parquet"
        parquet.write_table(pa.Table.from_pylist(records), source)
    else:
        source = tmp_path / "data" if kind == "folder" else tmp_path / "data" / "*.jsonl"
        for number in (0, 1):
            content = b"".join(orjson.dumps(each) + b"\n" for each in records[number::2])
            (tmp_path / "data" / f"{number}.jsonl").write_bytes(content)
    made = making.make_study(
        [source],
        tmp_path / "pages",
        marks=["universal"],
        design=pm.StudyDesign("balanced", 2, 1, 1, 2),
        marking=studies.MARKING,
        secret_file=studies.write_secret(tmp_path),
    )
    assert made.snippets == {"python": 2, "java": 2}


def test_too_few_carriers_are_an_error_that_says_what_to_do(folder: Path) -> None:
    design = pm.StudyDesign("balanced", 60, 5, 2, 4)
    with pytest.raises(UsageError, match=r"60 are needed .* pass a larger dataset"):
        studies.make(folder, "few", design=design)
    assert not (folder / "few").exists()
    assert not (folder / "few.key.json").exists()


def test_a_watermark_of_a_language_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    records = [each for each in studies.functions(10) if each["language"] == "python"]
    content = b"".join(orjson.dumps(each) + b"\n" for each in records)
    (tmp_path / "functions.jsonl").write_bytes(content)
    studies.write_secret(tmp_path)
    with pytest.raises(UsageError, match="P3 is for Java"):
        studies.make(tmp_path, marks=["P3"])


@pytest.mark.parametrize(
    "options",
    [{"output": "functions.jsonl"}, {"key": "secret"}, {"key": "new/key.json", "output": "new"}],
)
def test_no_output_touches_another_path(folder: Path, options: dict[str, str]) -> None:
    before = (folder / "functions.jsonl").read_bytes()
    paths: dict[str, Any] = {
        name: value if name == "output" else folder / value for name, value in options.items()
    }
    with pytest.raises(UsageError, match=r"is the same as|lies inside|contains"):
        studies.make(folder, overwrite=True, **paths)
    assert (folder / "functions.jsonl").read_bytes() == before


def test_the_marks_without_a_choice_are_the_papers_table() -> None:
    assert len(making.PAPER_MARKS) == 14
    assert not {"M1", "M2"} & set(making.PAPER_MARKS)
    assert len(set(itertools.chain(making.PAPER_MARKS))) == 14
