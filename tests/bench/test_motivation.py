import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from puzzlemark.bench import discussion, discussion_page, motivation, motivation_page
from puzzlemark.bench.variants import METHODS


def variant(mark: str, tau: float, hits: int, before: int, total: int) -> dict[str, Any]:
    def share(count: int) -> dict[str, float]:
        return {"hits": count, "total": total, "value": count / total, "low": 0.1, "high": 0.9}

    shares = {"recall": share(hits), "fpr": share(0), "before": share(before)}
    found = {"mark": mark, "tau": tau, "records": 100, "marked": total, "counts": {}}
    return {**found, "detectors": dict.fromkeys(METHODS, shares)}


def write(folder: Path, facts: dict[str, Any]) -> None:
    folder.mkdir()
    (folder / "python.json").write_text(json.dumps({"language": "python", "records": 100, **facts}))
    (folder / "plan.json").write_text(json.dumps({"records": 125, "seed": 0}))


def test_lines_are_counted() -> None:
    assert motivation.count_lines(np.array([3, 1, 3], np.int32)) == {"1": 1, "3": 2}


def test_records_made_by_hand_make_the_page_of_the_motivation(tmp_path: Path) -> None:
    lines = {"all": {"1": 1, "3": 2, "9": 1}, "killbadcode": {"9": 1}, "decoma": {}, "M1": {"9": 2}}
    found = [variant("B1", 0, 4, 3, 4), variant("M1", 0, 2, 1, 2)]
    write(tmp_path / "motivation", {"variants": found, "nloc": lines})
    text = motivation_page.page(tmp_path / "motivation")
    assert "| B1 | 4 | 75.0 (10-90) | 100.0 (10-90) | 64.67 | 75.0 (10-90) | " in text
    assert "| Python | ALL | 4 | 1 | 3 | 3 |" in text
    assert "|  | M1 | 2 | 9 | 9 | 9 |" in text
    pictures = motivation_page.figures(tmp_path / "motivation")
    assert "B1, after marking, paper: 64.67" in pictures["carrier-detection-rate.svg"]
    assert "ALL: quartiles 1, 3, 3" in pictures["nloc-violin.svg"]


def test_the_papers_recall_is_that_of_its_table() -> None:
    assert motivation_page.paper_recall("M2", "decoma") == 99.80
    assert motivation_page.paper_recall("M2", "killbadcode") == 59.11
    assert motivation_page.paper_recall("fixed_prefix-prefix-node-python", "decoma") is None


def test_records_made_by_hand_make_the_page_of_section_6(tmp_path: Path) -> None:
    costs = [
        {"step": "selection", "mark": "", "seconds": [8.0, 2.0, 6.0]},
        {"step": "CoProtector", "mark": "W1", "seconds": [3.0, 3.0]},
        {"step": "CoProtector", "mark": "S1", "seconds": [1.0, 1.0]},
        {"step": "PuzzleMark", "mark": "P1", "seconds": [4.0]},
    ]
    found = [variant("W1", 0.35, 4, 1, 4)]
    write(tmp_path / "discussion", {"variants": found, "costs": costs})
    text = discussion_page.page(tmp_path / "discussion")
    assert "| W1 | 0.35 | 4 | 25.0 | **100.0** (10.0-90.0) | 25.0 | " in text
    # the median of CoProtector's four times is 2; 6 seconds for 100 are 400 minutes for 400,000
    assert "| Python | selection | - | 6.00 | 3.0 | 400.0 | 30 |" in text
    assert "|  | embedding, PuzzleMark | P1 | 4.00 | 2.0 | 266.7 | 5 |" in text
    assert "CodeMark | M1" not in text  # nothing was marked


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hundred Java methods with the forms of CodeMark, all short."""
    path = tmp_path_factory.mktemp("java") / "methods.jsonl"
    codes = (
        f"int count{n}(String text, java.util.List<String> rest) {{\n"
        f'    int found = text.indexOf("{"x" * (n % 7)}");\n'
        f"    if (rest.isEmpty() || rest != null) {{ found += {n}; }}\n    return found;\n}}"
        for n in range(200)
    )
    lines = (
        json.dumps({"id": str(n), "language": "java", "code": code}) for n, code in enumerate(codes)
    )
    path.write_text("\n".join(lines) + "\n")
    return path


def test_section_6_runs_and_times_every_scheme_that_can_mark(java: Path, tmp_path: Path) -> None:
    from puzzlemark.bench.variants import Plan

    pytest.importorskip("tokenizers")
    said: list[str] = []
    discussion.run(tmp_path / "run", {"java": java}, Plan(marks=("S2",)), processes=1,
                   say=said.append)  # fmt: skip
    assert said == ["java: 2 variants judged", "java: times measured"]
    facts = json.loads((tmp_path / "run" / "java.json").read_text())
    assert [each["tau"] for each in facts["variants"]] == [0.0, 0.35]
    assert {"selection", "CoProtector", "PuzzleMark"} <= {each["step"] for each in facts["costs"]}
    assert all(len(each["seconds"]) == discussion.REPEATS for each in facts["costs"])
