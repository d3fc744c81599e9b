import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from puzzlemark.bench import rq4, rq4_page
from puzzlemark.bench.rq4 import FEATURE_SETS, PROJECTIONS, Found, compare, top
from puzzlemark.bench.variants import METHODS
from puzzlemark.features.measure import DEFAULT, FEATURES, FeatureTable

RESULTS = Path(__file__).parents[2] / "docs" / "results"
PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def test_hits_are_counted_by_hand() -> None:
    found = compare(np.array([True, True, False, False]), np.array([True, False, False, True]))
    assert (found.hits, found.chosen, found.flagged, found.of) == (1, 2, 2, 4)
    assert found.f1 == 0.5  # precision 1/2, recall 1/2
    assert found.by_chance == 0.5  # two of four drawn blindly hold one of two


@given(PAIRS)
def test_f1_is_scikit_learns(pairs: list[tuple[bool, bool]]) -> None:
    chosen, flagged = (np.array(each, np.bool_) for each in zip(*pairs, strict=True))
    expected = f1_score(flagged, chosen, zero_division=0)
    assert compare(chosen, flagged).f1 == pytest.approx(expected)


def test_the_top_share_without_ties_is_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    values, flagged = rng.permutation(200).astype(float), rng.random(200) < 0.4
    found = top(values, flagged, 0.35)
    assert found.chosen == 70
    assert found.f1 == pytest.approx(f1_score(flagged, values >= 130))


def test_ties_at_the_cut_count_as_the_mean_over_all_draws() -> None:
    values = np.array([5.0, 3.0, 3.0, 3.0, 1.0])
    flagged = np.array([True, False, True, True, True])
    found = top(values, flagged, 0.6)  # the first, and two of the three with 3
    draws = [{0, *pair} for pair in combinations((1, 2, 3), 2)]
    scores = [f1_score(flagged, [row in draw for row in range(5)]) for draw in draws]
    assert found.chosen == 3
    assert found.f1 == pytest.approx(np.mean(scores))


def test_nothing_chosen_and_nothing_flagged_have_no_f1() -> None:
    assert Found(0, 0, 0, 5).f1 == Found(0, 0, 0, 5).by_chance == 0.0
    assert top(np.array([1.0, 2.0]), np.array([True, True]), 0.0) == Found(0, 0, 2, 2)


def small_table() -> FeatureTable:
    """Ten snippets of growing complexity; the last does not parse."""
    rows: list[list[int] | None] = [[size * (n + 1) for n in range(10)] for size in range(1, 10)]
    return FeatureTable.from_rows([*rows, None])


def test_selection_finds_the_complex_and_leaves_the_unparsable_out_of_the_count() -> None:
    table = small_table()
    flagged = np.arange(10) >= 6  # the three most complex, and the one that does not parse
    said = rq4.find_by_threshold(table, dict.fromkeys(METHODS, flagged), [0.0, 0.34])
    none, some = (each for each in said if each["method"] == "decoma")
    assert (none["chosen"], none["flagged"], none["of"]) == (0, 3, 9)
    assert (some["hits"], some["chosen"]) == (3, 3)


def test_every_case_of_the_papers_figures_is_recorded() -> None:
    table, flagged = small_table(), np.arange(10) % 2 == 0
    by_method = dict.fromkeys(METHODS, flagged)
    assert len(rq4.find_by_projection(table, by_method)) == 3 * 3 * 2
    assert len(rq4.find_by_feature(table, by_method)) == 10 * 2
    assert FEATURE_SETS["all"] == DEFAULT
    assert FEATURE_SETS["without structural"] == ("vc", "dvc", "ec", "dec")
    assert FEATURE_SETS["without semantic"] == ("cc", "nloc", "tc")


def write_records(folder: Path, language: str, mark: str) -> None:
    """Records by hand: 100 snippets of which 40 are flagged, and one mark under two thresholds."""
    found = {"hits": 30, "chosen": 35, "flagged": 40, "of": 100}
    share = {"hits": 1, "total": 2, "value": 0.5, "low": 0.013, "high": 0.987}
    detectors = {method: dict.fromkeys(("recall", "fpr", "before"), share) for method in METHODS}
    facts = {
        "language": language,
        "records": 100,
        "measured": 100,
        "flagged": dict.fromkeys(METHODS, 40),
        "variants": [
            {"mark": mark, "tau": tau, "records": 100, "marked": 2,
             "counts": {"introduced": 1}, "detectors": detectors}
            for tau in (0.0, 0.35)
        ],
        "thresholds": [{"tau": tau, "method": m, **found} for tau in (0.0, 0.35) for m in METHODS],
        "projections": [
            {"projection": p, "features": f, "method": m, **found, "hits": 30 - (p != "pca")}
            for p in PROJECTIONS for f in FEATURE_SETS for m in METHODS
        ],
        "features": [{"feature": f, "method": m, **found} for f in FEATURES for m in METHODS],
    }  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / f"{language}.json").write_text(json.dumps(facts))
    (folder / "plan.json").write_text(json.dumps({"records": 125, "seed": 0}))


def test_records_made_by_hand_make_the_page(tmp_path: Path) -> None:
    records = tmp_path / "rq4"
    write_records(records, "python", "P1")
    write_records(records, "java", "P3")
    text = rq4_page.page(records)
    assert "100 Python functions, 100 Java functions" in text
    assert "| P1 | 0.35 | 2 | 1 | 50.0 (1-99) | 50.0 | 50.0 (1-99) | 50.0 |" in text
    # F1 = 60 / 75; as many drawn blindly hold 14 of 40
    assert "| 0.35 | 0.800 | 0.373 | 0.800 | 0.373 | 0.800 | 0.373 | 0.800 | 0.373 |" in text
    assert "| DeCoMa, Java | without semantic | **0.800** | 0.773 | 0.773 |" in text
    assert "in **12 of 12** cases" in text
    assert f"0.5 or more in all cases: {', '.join(FEATURES)}." in text
    assert "Not measured yet" in text
    assert set(rq4_page.figures(records)) == {
        "threshold-recall.svg",
        "threshold-f1.svg",
        "projection-ablation.svg",
        "feature-selection.svg",
    }


def test_trained_models_fill_the_last_table_beside_the_papers_figures(tmp_path: Path) -> None:
    bare = "\n".join(rq4_page.hyperparam_section(tmp_path))
    assert "**Not measured yet.**" in bare
    assert "| U1 | 1.15E-169 | 1.69E-181 | 6.35E-156 |" in bare
    verdict = json.loads((RESULTS / "rq1" / "half" / "P1" / "marked.verdict.json").read_text())
    trial = {"mark": "P1", "rate": 8e-4, "epochs": 2, "counts": {"marks": 382, "functions": 800}}
    plan = {"rates": [8e-3, 8e-4, 8e-5], "budget": {"functions": 800, "rate": 0.5}}
    whole = {"plan": plan, "trials": [{**trial, **verdict}]}
    (tmp_path / "hyperparam.json").write_text(json.dumps(whole))
    text = "\n".join(rq4_page.hyperparam_section(tmp_path))
    assert "recipe's own, 0.0008; 800 functions, 50% of them marked" in text
    assert (
        "| P1 | 0.0008 | 2 | 382 of 800 | 30/100 | 5/100 | 0/100 | **detected** | -7.5 | 3.5e-6 |"
    ) in text
    assert "Not measured yet" not in text


@pytest.mark.parametrize("name", ["rq4", "motivation", "discussion"])
def test_the_published_page_and_pictures_follow_from_the_published_records(name: str) -> None:
    from importlib import import_module

    pages = import_module(f"puzzlemark.bench.{name}_page")
    records = RESULTS / name
    assert (RESULTS / f"{name}.md").read_text() == pages.page(records)
    for file, picture in getattr(pages, "figures", lambda _: {})(records).items():
        assert (records / file).read_text() == picture


def test_the_published_picture_of_rq1_follows_from_its_records() -> None:
    """Else: `puzzlemark bench rq1 --records docs/results/rq1 --page docs/results/rq1.md`."""
    from puzzlemark.bench.rq1_figures import figures

    for file, picture in figures(RESULTS / "rq1").items():
        assert (RESULTS / "rq1" / file).read_text() == picture


def test_the_published_records_are_small_and_name_no_place_and_no_code() -> None:
    texts = [
        path.read_text()
        for name in ("rq4", "motivation", "discussion")
        for path in (RESULTS / name).glob("*.json")
    ]
    assert sum(map(len, texts)) < 300_000
    assert not any("/" in text or "def " in text for text in texts)
