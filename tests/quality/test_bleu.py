import math

import pytest

from puzzlemark.quality.bleu import bleu_signature, corpus_bleu, sentence_bleu


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
