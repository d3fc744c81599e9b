"""Ask a model to rewrite each snippet; an answer that is no such function keeps the original."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from tree_sitter import Node

from puzzlemark import journal
from puzzlemark.attacks._editing import exchange, spell_edits, store_edits
from puzzlemark.attacks.base import NOTHING, Given, Input, Plan, Spared
from puzzlemark.corpora.base import Corpus
from puzzlemark.corpora.records import Rows
from puzzlemark.detectors.base import snippet_of
from puzzlemark.errors import CorpusError, UnparsableSnippet, UsageError
from puzzlemark.models.base import (
    Answer,
    BudgetEnded,
    Estimate,
    Failure,
    LogProbs,
    Model,
    ModelError,
    Request,
    Streaming,
    estimate,
    open_model,
)
from puzzlemark.plugins import parse_spec
from puzzlemark.snippet import Snippet
from puzzlemark.syntax.tree import Tree, parse
from puzzlemark.syntax.variables import function_nodes

FORMAT = "puzzlemark rewrite answers"
KIND = journal.Kind("a file of rewritten snippets", CorpusError)
SUSPICION: frozenset[Input] = frozenset({"suspicion"})
BEFORE = "The function below is written again after it: the same signature and the same behaviour,"
BETWEEN = "but other names for the variables, and other expressions. Written again:"
NOT_ONE = "not one function and nothing else"
NOT_A_FUNCTION = "the answer is not the function that was asked for"
FENCE = "```"
MOST_FAILED = 0.1  # of all questions: with more, the dataset would be hardly attacked
STARTS = 3  # places of an answer from which a function is looked for
THE_SAME = "the answer is the original"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """`Rewrite(model="hf:pretrained=folder")`; with a suspicion only flagged records are asked."""

    model: str  # with its settings: "openai:base_url=http://localhost:8000/v1,model=m"
    limit: int | None = None  # the first so many records that can be asked; none: all
    longest: int = 4000  # characters of a snippet: models are bad at longer ones
    max_tokens: int = 512
    temperature: float = 0.0
    seed: int = 0
    name: ClassVar[str] = "rewrite"
    needs: ClassVar[frozenset[Input]] = NOTHING
    takes: ClassVar[frozenset[Input]] = SUSPICION

    def __post_init__(self) -> None:
        parse_spec(self.model)
        for setting in ("limit", "longest", "max_tokens"):
            value = getattr(self, setting)
            if value is not None and value < 1:
                raise UsageError(f"rewrite: {setting}={value}: 1 or more")

    def estimate(self, corpus: Corpus, given: Given) -> Estimate:
        """Count calls and tokens; nothing is asked."""
        return estimate(each.request for each in self._questions(corpus, given, Counter()))

    def plan(self, corpus: Corpus, given: Given) -> Plan:
        """Ask for each snippet, and exchange what was answered with a function of that name."""
        model = open_model(self.model)
        counts: Counter[str] = Counter()
        spared: Counter[str] = Counter()
        header = {"format": FORMAT, "settings": asdict(self), "model": model.describe()}
        with _opened(given.cache / "answers.jsonl", header) as answers:
            self._ask(model, list(self._questions(corpus, given, spared)), answers, given)
            changes = store_edits(
                given.cache / "edits",
                self._edits(corpus, given, answers.known, counts, spared),
            )
        return Plan(changes=changes, counts=counts, spared=spared)

    def _questions(
        self, corpus: Corpus, given: Given, spared: Counter[str]
    ) -> "Iterator[Question]":
        rows = None if given.suspicion is None else np.flatnonzero(given.suspicion.flagged)
        found = _questions(self, corpus, rows, spared)
        return found if self.limit is None else islice(found, self.limit)

    def _ask(
        self, model: Model, questions: Sequence["Question"], answers: "Answers", given: Given
    ) -> None:
        requests = list({each.request.key: each.request for each in questions}.values())
        failures: list[Failure] = []
        for some in _answered(model, [r for r in requests if r.key not in answers.known]):
            answers.add(some)
            failures += (answer for _, answer in some if isinstance(answer, Failure))
            given.progress("rewriting", len(answers.known), len(requests))
        if len(failures) > MOST_FAILED * len(requests):
            raise ModelError(
                f"rewrite: {len(failures):,} of {len(requests):,} questions got no answer "
                f"({failures[0].reason}); nothing is written, answers are kept, and the same "
                "command asks for the others"
            )

    def _edits(
        self,
        corpus: Corpus,
        given: Given,
        known: Mapping[str, str],
        counts: Counter[str],
        spared: Counter[str],
    ) -> Iterator[tuple[int, bytes]]:
        for each in self._questions(corpus, given, Counter()):
            answer = known.get(each.request.key)
            if answer is None:
                spared["the model gave no answer"] += 1
                continue
            try:
                code = read_answer(each.snippet, each.head, answer)
            except Spared as reason:
                spared[str(reason)] += 1
                continue
            counts["snippets rewritten"] += 1
            yield each.row, spell_edits(exchange(each.snippet.code.encode(), code.encode()))


@dataclass(frozen=True, slots=True)
class Question:
    """A snippet, and what the model is asked about it."""

    row: int
    snippet: Snippet
    head: str  # the signature, which the answer goes on from
    request: Request


def _questions(
    settings: Rewrite, corpus: Corpus, rows: Rows | None, spared: Counter[str]
) -> Iterator[Question]:
    for entry in corpus.entries(rows):
        try:
            snippet = snippet_of(entry)
            if len(snippet.code) > settings.longest:
                raise Spared(f"longer than {settings.longest} characters")
            tree = parse(snippet)
            head = _head(tree)
        except (Spared, UnparsableSnippet) as reason:
            spared[str(reason)] += 1
            continue
        request = Request(
            _prompt(tree, head), settings.max_tokens, settings.temperature, settings.seed
        )
        yield Question(entry.row, snippet, head, request)


def _prompt(tree: Tree, head: str) -> str:
    """The snippet between two comments, and its signature again: models complete."""
    lexing = tree.language.lexing
    opening, closing = (lexing.line_comments[0], "") if lexing.line_comments else (
        lexing.block_comments[0]
    )  # fmt: skip
    before, between = (f"{opening} {text} {closing}".rstrip() for text in (BEFORE, BETWEEN))
    return f"{before}\n{tree.snippet.code.strip()}\n\n{between}\n{head}"


def _head(tree: Tree) -> str:
    """The snippet up to the body of its function, with the bracket that opens it."""
    node = _only_function(tree)
    body = None if node is None else node.child_by_field_name("body")
    if body is None:
        raise Spared(NOT_ONE)
    end = body.start_byte + tree.source.startswith(b"{", body.start_byte)
    return tree.source[tree.offset : end].decode().rstrip() + "\n"


def _only_function(tree: Tree) -> Node | None:
    """The function that a snippet is, with its decorators; None: it is more than that, or none."""
    code, functions = tree.code, tree.language.functions
    start = tree.offset + len(code) - len(code.lstrip())
    node = tree.root.descendant_for_byte_range(start, tree.offset + len(code.rstrip()))
    if node is not None and node.type not in functions:
        inner = [each for each in node.named_children if each.type not in tree.language.attached]
        node = inner[0] if len(inner) == 1 and inner[0].type in functions else None
    body = None if node is None else node.child_by_field_name("body")
    # the grammar of Python accepts a function that ends with its signature
    return node if body is not None and body.named_child_count else None


def read_answer(snippet: Snippet, head: str, answer: str) -> str:
    """The rewritten function: the longest stretch of an answer that is one, and is that one.

    It goes on from the signature, or says it once more, perhaps between the fences of a code block.
    """
    name = _name(parse(snippet))
    lines = [line for line in answer.splitlines() if not line.startswith(FENCE)]
    starts = (at for at, line in enumerate(lines) if name and name in line)
    for stretch in ([*head.splitlines(), *lines], *(lines[at:] for at in islice(starts, STARTS))):
        code = _longest(snippet, name, stretch)
        if code is not None:
            code += "\n" * snippet.code.endswith("\n")
            if code.split() == snippet.code.split():
                raise Spared(THE_SAME)
            return code
    raise Spared(NOT_A_FUNCTION)


def _longest(snippet: Snippet, name: str, lines: Sequence[str]) -> str | None:
    """The most lines, from the first on, that are a function of this name and nothing else."""
    for count in range(len(lines), 0, -1):
        code = "\n".join(lines[:count]).rstrip()
        try:
            tree = parse(replace(snippet, code=code))
        except UnparsableSnippet:
            continue
        if _only_function(tree) is not None and _name(tree) == name:
            return code
    return None


def _name(tree: Tree) -> str:
    node = next(iter(function_nodes(tree)))
    name = node.child_by_field_name("name")
    return "" if name is None else tree.text(name)


@dataclass(slots=True)
class Answers:
    """What the model has said so far; a failure is not kept, and asked again by the next run."""

    kept: journal.Journal
    known: dict[str, str]

    def add(self, answers: Sequence[tuple[Request, Answer]]) -> None:
        """Keep some answers, on the disk before anything else is asked."""
        said = {request.key: text for request, text in answers if isinstance(text, str)}
        self.kept.append({"key": key, "completion": text} for key, text in said.items())
        self.known.update(said)


@contextmanager
def _opened(path: Path, header: Mapping[str, Any]) -> Iterator[Answers]:
    expected = json.loads(json.dumps(header))
    with journal.opened(path, KIND, expected) as kept:
        found = json.loads(kept.lines[0])
        if message := journal.differences(found, expected):
            raise CorpusError(f"{path}: belongs to another attack: {message}; remove it")
        lines = (json.loads(line) for line in kept.lines[1:])
        yield Answers(kept, {each["key"]: each["completion"] for each in lines})


def _answered(model: Model, asked: Sequence[Request]) -> Iterator[list[tuple[Request, Answer]]]:
    """The answers as they come; a spent budget hands over what it has."""
    if isinstance(model, Streaming):
        for arrived in model.stream(asked):
            yield [(asked[index], answer) for index, answer in arrived]
        return
    for start in range(0, len(asked), model.batch_size):
        some = asked[start : start + model.batch_size]
        try:
            yield list(zip(some, model.complete(some), strict=True))
        except BudgetEnded as exc:
            answered = sorted(exc.answers.items())
            yield [(some[n], a) for n, a in answered if not isinstance(a, LogProbs)]
            raise


PLUGIN = Rewrite
