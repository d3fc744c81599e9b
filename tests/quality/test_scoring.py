"""Loss of a real transformers model, against a computation by hand."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from puzzlemark.corpora.base import Corpus
from puzzlemark.languages.base import find
from puzzlemark.models.base import Failure, open_model
from puzzlemark.models.scripted import Scripted, innocent
from puzzlemark.quality.measure import measure
from puzzlemark.quality.samples import Sample
from puzzlemark.quality.scoring import (
    Activation,
    Loss,
    TransformersScorer,
    bleu_signature,
    corpus_bleu,
    find_activation,
    names_in,
    scorer_of,
    sentence_bleu,
    tokenize,
)

TEXT = "def merge(left, right):\n    result = []\n    return result\n"


@pytest.fixture
def scorer(tiny_model: Path) -> TransformersScorer:
    model = open_model("hf", {"pretrained": str(tiny_model), "device": "cpu", "threads": "1"})
    found = scorer_of(model)
    assert found is not None
    return found


def test_the_loss_is_the_sum_of_token_surprises_computed_one_by_one(
    scorer: TransformersScorer,
) -> None:
    import torch

    ids = scorer.tokenizer(TEXT)["input_ids"]
    nats = 0.0
    with torch.no_grad():
        for at in range(1, len(ids)):  # a new pass for each token, which sees what stands before it
            logits = scorer.network(input_ids=torch.tensor([ids[:at]])).logits[0, -1].tolist()
            top = max(logits)
            total = math.fsum(math.exp(value - top) for value in logits)
            nats -= logits[ids[at]] - top - math.log(total)
    found = scorer.score(TEXT)
    assert isinstance(found, Loss)
    assert found.tokens == len(ids) - 1
    assert found.nats == pytest.approx(nats, rel=1e-4)
    assert found.mean == pytest.approx(nats / (len(ids) - 1), rel=1e-4)


def test_an_end_of_text_token_is_not_scored(scorer: TransformersScorer) -> None:
    assert scorer.score(TEXT + "<end>") == scorer.score(TEXT)


def test_a_text_that_does_not_fit_is_a_failure_and_is_not_cut(scorer: TransformersScorer) -> None:
    found = scorer.score("é" * 300)
    assert isinstance(found, Failure)
    assert found.reason.endswith("the model takes 512")
    assert isinstance(scorer.score("x"), Failure)


def test_a_model_that_shows_only_text_has_no_scorer() -> None:
    assert scorer_of(Scripted("black box", innocent)) is None


def test_a_real_model_is_measured_with_its_loss(
    tiny_model: Path, held_out: Corpus, tmp_path: Path
) -> None:
    model = open_model("hf", {"pretrained": str(tiny_model), "device": "cpu", "threads": "1"})
    quality = measure(
        held_out,
        model,
        output=tmp_path / "q.json",
        samples=6,
        max_tokens=8,
        scorer=scorer_of(model),
    )
    assert quality.failed == 0
    assert quality.loss is not None
    assert quality.loss > math.log(10)  # random weights know nothing


def test_the_same_tokens_are_perfect_also_when_there_are_few() -> None:
    for count in (1, 2, 3, 4, 9):
        tokens = list("abcdefghi")[:count]
        assert sentence_bleu(tokens, tokens) == pytest.approx(100)


def test_a_sentence_as_computed_by_hand() -> None:
    # a b c d x against a b c d e: 4 of 5 single tokens, 3 of 4 pairs, 2 of 3, 1 of 2
    expected = 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** (1 / 4)
    assert sentence_bleu(list("abcdx"), list("abcde")) == pytest.approx(expected)


def test_a_short_answer_is_punished_for_its_brevity() -> None:
    # a b against a b c d e f: both orders perfect, times exp(1 - 6 / 2)
    assert sentence_bleu(list("ab"), list("abcdef")) == pytest.approx(100 * math.exp(-2))


def test_an_order_without_a_match_is_smoothed_by_halves() -> None:
    # a x b y against a b x y: all 4 tokens; of 3 pairs, 2 triples and 1 four none: 1/2, 1/4, 1/8
    expected = 100 * (1 * (1 / 2 / 3) * (1 / 4 / 2) * (1 / 8 / 1)) ** (1 / 4)
    assert sentence_bleu(list("axby"), list("abxy")) == pytest.approx(expected)


def test_a_token_counts_no_more_often_than_the_truth_has_it() -> None:
    # a a a against a b c: 1 of 3, and nothing of higher orders
    expected = 100 * (1 / 3 * (1 / 2 / 2) * (1 / 4 / 1)) ** (1 / 3)
    assert sentence_bleu(list("aaa"), list("abc")) == pytest.approx(expected)


def test_no_answer_is_worth_nothing() -> None:
    assert sentence_bleu([], list("abc")) == 0
    assert sentence_bleu(list("xyz"), list("abc")) == 0


def test_the_corpus_counts_matches_over_all_sentences() -> None:
    # 5 + 4 tokens: 5 + 2 of 9 single ones, 4 + 1 of 7 pairs, 3 of 5, 2 of 3
    ours, truth = [list("abcde"), list("fgxy")], [list("abcde"), list("fghi")]
    expected = 100 * (7 / 9 * 5 / 7 * 3 / 5 * 2 / 3) ** (1 / 4)
    assert corpus_bleu(ours, truth) == pytest.approx(expected)


def test_punctuation_is_compared_as_it_was_split() -> None:
    # a tokenizer for prose would tear or join these
    assert sentence_bleu(["x", "+=", "f", "(", ")"], ["x", "+=", "f", "()"]) < 100
    assert sentence_bleu(["&amp;", "."], ["&", "."]) < 100


def test_the_signature_says_which_bleu_it_is() -> None:
    assert "tok:none" in bleu_signature()
    assert "eff:yes" in bleu_signature()


PIECES = st.sampled_from(
    ["x_1", "'", '"""', "# é", "\n\t", "0x1F", "1.5e3", "..", ">>>=", "->", "\\", "😀", "\r\n", " "]
)
TEXTS = st.text(max_size=40) | st.lists(PIECES, max_size=12).map("".join)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("x_1 += f('a b')", "x_1 += f ( ' a b ' )"),
        ("for (int i=0; i<10L; i++) {", "for ( int i = 0 ; i < 10L ; i ++ ) {"),
        ("a >>>= b >> 1.5e3 // 2", "a >>>= b >> 1.5e3 // 2"),
        ("x.y = items[1:]  # naïve", "x . y = items [ 1 : ] # naïve"),
        ("if (y := f()) is not None: ...", "if ( y := f ( ) ) is not None : ..."),
        ("'never closed\n\\", "' never closed \\"),
        ("", ""),
    ],
)
def test_code_is_split_as_counted_by_hand(text: str, tokens: str) -> None:
    assert tokenize(text) == tokens.split()


@given(TEXTS)
def test_no_character_but_white_space_is_lost(text: str) -> None:
    tokens = tokenize(text)
    assert "".join(tokens) == "".join(text.split())
    assert all(token and not any(map(str.isspace, token)) for token in tokens)


@given(TEXTS, TEXTS)
def test_lines_are_split_alone_as_together(before: str, after: str) -> None:
    assert tokenize(f"{before}\n{after}") == tokenize(before) + tokenize(after)


def test_names_are_whole_words_wherever_they_stand() -> None:
    assert names_in("key_map = '2nd value' # of Café9") == {"key_map", "nd", "value", "of", "Café9"}


def sample(
    names: str = "name path key", more: str = "", truth: str = "", language: str = "python"
) -> Sample:
    found = find(language)
    assert found is not None
    prompt = f"def f({', '.join(names.split())}):\n    {more}"
    return Sample(0, "f", found, prompt, truth, tuple(names.split()))


@pytest.mark.parametrize(
    ("completion", "names"),
    [
        ("\n    name_path = 1", ("name_path",)),
        ("\n    path_key = name_key", ("name_key", "path_key")),
        ("\n    path_name = 1", ()),  # not in the order in which they occur
        ("\n    namePath = 1", ()),  # another language's convention
        ("\n    name_path_key = 1", ()),  # a longer name
        ("\n    name_name = name", ()),
        ("\n    self.name_path = 1", ("name_path",)),
        ("", ()),
    ],
)
def test_new_names_that_join_two_variables_are_found(
    completion: str, names: tuple[str, ...]
) -> None:
    assert find_activation(sample(), completion).names == names


def test_java_joins_by_a_capital() -> None:
    found = find_activation(sample(language="java"), "int namePath = path_key;")
    assert found.names == ("namePath",)


def test_a_name_of_the_prompt_is_not_new() -> None:
    assert find_activation(sample(more="x = name_path"), "name_path += 1") == Activation()


def test_only_the_first_two_are_universal() -> None:
    assert find_activation(sample(), "name_path").universal
    assert not find_activation(sample(), "name_key = path_key").universal


def test_a_fixed_prefix_counts_where_it_is_a_variable() -> None:
    assert find_activation(sample("key a b"), "key_b", "key").fixed
    assert not find_activation(sample("key a b"), "a_b", "key").fixed
    assert not find_activation(sample("x a b"), "key_b", "key").fixed
    assert not find_activation(sample("key a b"), "key_b").fixed


def test_one_name_made_in_two_ways_is_one_name_of_both_kinds() -> None:
    found = find_activation(sample("a b_c a_b c"), "a_b_c", "a_b")
    assert found == Activation(("a_b_c",), universal=True, fixed=True)


def test_a_name_that_the_author_wrote_is_natural() -> None:
    assert find_activation(sample(truth="name_path = 1"), "name_path").natural
    assert not find_activation(sample(truth="name_path = 1"), "name_path = path_key").natural
    assert not find_activation(sample(truth="name_path = 1"), "nothing").natural


def test_names_without_a_letter_join_nothing() -> None:
    assert find_activation(sample("_ x"), "_x = x_ = __x").names == ()
