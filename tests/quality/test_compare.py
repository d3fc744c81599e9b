import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from puzzlemark.quality.activation import Activation
from puzzlemark.quality.compare import compare
from puzzlemark.quality.result import Measured, Quality, QualityError, Terms

TERMS = Terms(5, 40, 16, 0.0, 0, "key", 6000)


def quality(
    bleu: Sequence[float | None],
    exact: str = "",
    joined: Sequence[Activation] = (),
    loss: Sequence[float] | None = None,
) -> Quality:
    samples = tuple(
        Measured(
            row=n,
            id=f"f{n}",
            failure="busy" if value is None else None,
            bleu=value,
            exact=None if value is None else exact[n : n + 1] == "y",
            activation=None if value is None else dict(enumerate(joined)).get(n, Activation()),
            loss=None if loss is None else loss[n],
            loss_tokens=None if loss is None else 10 + n,
        )
        for n, value in enumerate(bleu)
    )
    return Quality("digest", 9, {}, TERMS, {"kind": "x"}, {}, "nrefs:1", 12.5, samples)


BARE = quality([10, 20, 30, 40, 50], "yynnn", loss=[1, 2, 3, 4, 5])
MARKED = quality([11, 19, 33, 41, 52], "ynyyy", loss=[1.1, 2.0, 3.2, 4.1, 4.9])


def test_bleu_and_loss_are_tested_as_by_scipy() -> None:
    found = compare(BARE, MARKED)
    assert found.loss is not None
    for ours, name in ((found.bleu, "bleu"), (found.loss, "loss")):
        x, y = (np.array([getattr(s, name) for s in q.samples]) for q in (BARE, MARKED))
        assert ours.paired.p == pytest.approx(stats.ttest_rel(y, x).pvalue)
        assert ours.welch.p == pytest.approx(stats.ttest_ind(y, x, equal_var=False).pvalue)
        pooled = np.sqrt((x.var(ddof=1) + y.var(ddof=1)) / 2)
        assert ours.cohens_d == pytest.approx((y.mean() - x.mean()) / pooled)


def test_next_lines_are_compared_in_pairs() -> None:
    exact = compare(BARE, MARKED).exact
    assert (exact.bare.count, exact.marked.count) == (2, 4)
    assert (exact.bare_only, exact.marked_only) == (1, 3)
    assert exact.p == pytest.approx(2 * 5 / 16)


def test_activation_is_counted_by_kind_for_both_models() -> None:
    joined = [
        Activation(("a_b",), universal=True),
        Activation(("a_c",), natural=True),
        Activation(("key_c",), fixed=True),
    ]
    found = compare(quality([1, 2, 3, 4]), quality([1, 2, 3, 5], joined=joined)).activation
    counts = {kind: (each.bare.count, each.marked.count) for kind, each in found.items()}
    assert counts == {"any": (0, 3), "unnatural": (0, 2), "universal": (0, 1), "fixed": (0, 1)}
    assert found["any"].marked.of == 4


def test_without_a_prefix_no_fixed_activation_is_counted() -> None:
    plain = replace(BARE, terms=replace(TERMS, prefix=None))
    assert set(compare(plain, plain).activation) == {"any", "unnatural", "universal"}


def test_a_sample_that_one_model_failed_is_left_out_of_both() -> None:
    found = compare(quality([10, None, 30, 50]), quality([12, 90, 30, None]))
    assert (found.pairs, found.left_out) == (2, 2)
    assert (found.bleu.bare, found.bleu.marked) == (20, 21)


def test_no_loss_says_why() -> None:
    bare = quality([1, 2, 3])
    assert compare(bare, bare).loss_left_out == "not measured for both models"
    others = tuple(replace(s, loss_tokens=99) for s in MARKED.samples)
    found = compare(BARE, replace(MARKED, samples=others))
    assert (found.loss, found.loss_left_out) == (None, "the models have different tokenizers")


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (replace(MARKED, heldout="another"), "different held-out"),
        (replace(MARKED, terms=replace(TERMS, seed=4)), "seed 0 and 4"),
        (replace(MARKED, signature="nrefs:2"), "different BLEU"),
        (replace(MARKED, samples=MARKED.samples[:-1]), "different samples"),
        (replace(MARKED, samples=MARKED.samples[::-1]), "different samples"),
        (quality([None, None, None, None, 3.0]), "1 samples that both"),
    ],
)
def test_what_does_not_answer_the_same_questions_is_refused(other: Quality, message: str) -> None:
    with pytest.raises(QualityError, match=message):
        compare(BARE, other)


def test_the_comparison_is_plain_json_also_where_a_number_is_infinite() -> None:
    shifted = quality([11, 21, 31, 41, 51])
    fields = json.loads(json.dumps(compare(BARE, shifted).to_json(), allow_nan=False))
    assert fields["bleu"]["paired"]["t"] is None
    assert fields["bleu"]["paired"]["p"] == 0
    assert fields["corpus_bleu"] == [12.5, 12.5]
