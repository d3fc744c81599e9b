"""Make a study: one page for each participant, and the private key that says what is marked."""

import hashlib
import hmac
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from puzzlemark.corpora.base import Corpus, open_corpus
from puzzlemark.embedding.secret import find_secret, secret_path
from puzzlemark.engines.base import Engine
from puzzlemark.errors import UsageError
from puzzlemark.files import keep_apart
from puzzlemark.languages.base import parsing_packages, title_of
from puzzlemark.pages.study import Round, StudyPage, study_page
from puzzlemark.progress import Progress, no_progress
from puzzlemark.provenance import versions
from puzzlemark.staging import staged_together, write_text
from puzzlemark.studying.design import Design
from puzzlemark.studying.highlighting import highlight
from puzzlemark.studying.key import FORMAT, Key, Mark, Origin, Participant, Shown
from puzzlemark.studying.material import Bench, Item, Marking, Material, Source, gather
from puzzlemark.studying.texts import Texts, load_texts, ways_of
from puzzlemark.watermarks.base import to_settings

# The paper's, without the mixtures M1 and M2: what they consist of is there by itself
PAPER_MARKS = tuple("W1 S1 B1 B2 P1 P2 U1 W2 S2 B3 B4 P3 P4 U2".split())


@dataclass(frozen=True, slots=True)
class Made:
    """What `make_study` wrote; the same content as `--json` prints."""

    study: str
    output: str
    key: str
    pages: tuple[str, ...]
    participants: dict[str, str]  # the language that each reads
    snippets: dict[str, int]  # that a participant judges in a round, by language
    carriers: dict[str, int]  # that could have been drawn, by watermark

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON object."""
        return asdict(self)


def make_study(
    datasets: Sequence[Path | str],
    output: Path | str,
    *,
    marks: Sequence[str] = PAPER_MARKS,
    design: Design | None = None,
    marking: Marking | None = None,
    name: str = "study",
    texts: Path | str | None = None,
    two_files: bool = False,
    key: Path | str | None = None,
    language: str | None = None,
    code_column: str | None = None,
    id_column: str | None = None,
    language_column: str | None = None,
    secret_file: Path | None = None,
    workers: int | None = 1,
    engine: str | Engine | None = None,
    overwrite: bool = False,
    progress: Progress = no_progress,
) -> Made:
    """Lay out a study: `make_study(["python.jsonl.gz"], "pages", marks=["P1", "W1"])`.

    The datasets are bare. Private copies are marked with a secret of the study's own, made of the
    owner's, so that no mark of a published dataset is shown to anybody. `output` is the folder of
    the pages; the key stands beside it, never in it (mode 0600).
    """
    design, marking = design or Design(), marking or Marking()
    if not marks:
        raise UsageError("name at least one watermark")
    output = Path(output)
    key_path = Path(key or output.with_name(f"{output.name}.key.json"))
    corpora = [
        open_corpus(
            path,
            language=language,
            code_column=code_column,
            id_column=id_column,
            language_column=language_column,
        )
        for path in datasets
    ]
    keep_apart(
        {"--output": output, "--key": key_path},
        {
            "INPUT": [path for corpus in corpora for path in corpus.paths],
            "--texts": texts,
            "--secret-file" if secret_file else "the secret": secret_path(secret_file),
        },
    )
    words = load_texts(texts)
    # the key first: pages without it can never be scored
    with staged_together((key_path, output), overwrite=overwrite) as (key_place, place):
        secret = find_secret(secret_file)
        maker = _Maker(secret.derive(f"study:{name}"), design)
        materials = _gather(corpora, marks, design, marking, maker, workers, engine, progress)
        identity = _identity(corpora, marks, design, marking, words, name)
        study = maker.derive(f"name:{json.dumps(identity, sort_keys=True)}").hex()[:12]
        plan = _Plan(study, materials, words, two_files)
        participants = maker.participants(plan)
        place.mkdir()
        pages = [
            path
            for who, participant in participants.items()
            for path in maker.write_pages(place, who, participant, plan)
        ]
        write_text(place / "texts.toml", words.to_toml())
        made = Key(
            format=FORMAT,
            version=1,
            versions=versions(*parsing_packages()),
            study=study,
            name=name,
            design=design,
            policy=marking.policy,
            secret_fingerprint=secret.fingerprint,
            datasets=tuple(identity["datasets"]),
            marks=plan.marks(),
            snippets=tuple(map(_origin, plan.items)),
            participants=participants,
        )
        write_text(key_place, made.to_text(), private=True)
    return Made(
        study,
        str(output),
        str(key_path),
        tuple(pages),
        {who: each.language for who, each in participants.items()},
        {each.language: len(each.shown) for each in participants.values()},
        {each.choice.name: each.carriers for each in materials},
    )


def _gather(
    corpora: Sequence[Corpus],
    marks: Sequence[str],
    design: Design,
    marking: Marking,
    maker: "_Maker",
    workers: int | None,
    engine: str | Engine | None,
    progress: Progress,
) -> list[Material]:
    """The snippets; the marked copies of the datasets are gone when this ends."""
    with tempfile.TemporaryDirectory(prefix="puzzlemark-study-") as folder:
        own_secret = Path(folder) / "secret"
        write_text(own_secret, maker.derive("marks").hex(), private=True)
        bench = Bench(Path(folder), own_secret, marking, workers, engine, progress)
        sources = [Source.of(corpus, marking) for corpus in corpora]
        return gather(sources, marks, design, bench, maker.rng("snippets"))


def _identity(
    corpora: Sequence[Corpus],
    marks: Sequence[str],
    design: Design,
    marking: Marking,
    words: Texts,
    name: str,
) -> dict[str, Any]:
    """What a study follows from, beside the secret."""
    return {
        "name": name,
        "datasets": [corpus.digest() for corpus in corpora],
        "marks": list(marks),
        "design": asdict(design),
        "marking": asdict(marking),
        "texts": asdict(words),
    }


@dataclass(frozen=True, slots=True)
class _Plan:
    study: str
    materials: Sequence[Material]
    texts: Texts
    two_files: bool

    @property
    def items(self) -> list[Item]:
        """All snippets; their places are their numbers."""
        return [item for material in self.materials for item in material.items]

    @property
    def languages(self) -> list[str]:
        return list(dict.fromkeys(each.choice.language for each in self.materials))

    def numbers(self) -> dict[str, tuple[int, ...]]:
        """The numbers of each watermark's snippets."""
        found: dict[str, tuple[int, ...]] = {}
        start = 0
        for each in self.materials:
            found[each.choice.name] = tuple(range(start, start + len(each.items)))
            start += len(each.items)
        return found

    def marks(self) -> dict[str, Mark]:
        numbers = self.numbers()
        return {
            each.choice.name: Mark(
                language=each.choice.language,
                scheme=each.choice.watermark.name,
                settings=to_settings(each.choice.watermark),
                carriers=each.carriers,
                snippets=numbers[each.choice.name],
            )
            for each in self.materials
        }


@dataclass(frozen=True, slots=True, repr=False)
class _Maker:
    """Draws by a key of the study's own; the same key gives the same study."""

    key: bytes
    design: Design

    def derive(self, purpose: str) -> bytes:
        return hmac.digest(self.key, purpose.encode(), hashlib.sha256)

    def rng(self, purpose: str) -> np.random.Generator:
        return np.random.default_rng(int.from_bytes(self.derive(f"draw:{purpose}")))

    def participants(self, plan: _Plan) -> dict[str, Participant]:
        """Who sees what, under which ids."""
        sizes = self.design.divide(len(plan.languages))
        width = max(2, len(str(self.design.participants)))
        numbers = plan.numbers()
        found: dict[str, Participant] = {}
        for language, size in zip(plan.languages, sizes, strict=True):
            names = [f"p{len(found) + place + 1:0{width}}" for place in range(size)]
            shown: dict[str, dict[str, Shown]] = {name: {} for name in names}
            for each in plan.materials:
                if each.choice.language != language:
                    continue
                for who, number, is_marked in self._assigned(each, numbers, names):
                    label = self.derive(f"snippet:{plan.study}:{who}:{number}").hex()[:12]
                    assert label not in shown[who], "two snippets with one id"
                    shown[who][label] = Shown(snippet=number, is_marked=is_marked)
            for who in names:
                token = self.derive(f"token:{plan.study}:{who}").hex()[:32]
                by_id = dict(sorted(shown[who].items()))
                found[who] = Participant(language=language, token=token, shown=by_id)
        return found

    def _assigned(
        self, material: Material, numbers: dict[str, tuple[int, ...]], names: Sequence[str]
    ) -> list[tuple[str, int, bool]]:
        own = numbers[material.choice.name]
        if self.design.kind == "paper":  # the carriers, and no other, are marked for everybody
            drawn = [[item.marked is not None for item in material.items] for _ in names]
        else:
            rng = self.rng(f"assign:{material.choice.name}")
            drawn = self.design.assign(rng, len(names))[0].tolist()
        return [
            (who, number, is_marked)
            for who, row in zip(names, drawn, strict=True)
            for number, is_marked in zip(own, row, strict=True)
        ]

    def write_pages(
        self, folder: Path, who: str, participant: Participant, plan: _Plan
    ) -> list[str]:
        """One page, or one for each round."""
        items = plan.items
        snippets = {
            label: highlight(_text(items[shown.snippet], shown.is_marked), participant.language)
            for label, shown in participant.shown.items()
        }
        schemes = [
            each.choice.watermark.name
            for each in plan.materials
            if each.choice.language == participant.language
        ]
        texts = plan.texts.fill(
            snippets=str(len(snippets)),
            language=title_of(participant.language),
            rounds=str(self.design.rounds),
            ways=ways_of(schemes),
        )
        rounds = [
            Round(number, introduction, self._order(who, number, list(snippets)))
            for number, introduction in enumerate((texts.instructions, texts.disclosure), start=1)
        ][: self.design.rounds]
        parts = [(each,) for each in rounds] if plan.two_files else [tuple(rounds)]
        names = []
        for part in parts:
            page = StudyPage(
                study=plan.study,
                participant=who,
                token=participant.token,
                language=participant.language,
                title=texts.title,
                consent=texts.consent if part[0].number == 1 else None,
                agree=texts.agree,
                question=texts.question,
                suspicious=texts.suspicious,
                ordinary=texts.ordinary,
                thanks=texts.thanks,
                rounds=part,
                of_rounds=self.design.rounds,
                snippets=snippets,
            )
            name = f"{who}.html" if len(parts) == 1 else f"{who}-round-{part[0].number}.html"
            write_text(folder / name, study_page(page))
            names.append(name)
        return names

    def _order(self, who: str, number: int, labels: list[str]) -> tuple[str, ...]:
        order = self.rng(f"order:{who}:{number}").permutation(len(labels)).tolist()
        return tuple(labels[place] for place in order)


def _text(item: Item, is_marked: bool) -> str:
    if not is_marked:
        return item.bare
    assert item.marked is not None, "only carriers are shown marked"
    return item.marked


def _origin(item: Item) -> Origin:
    digest = hashlib.sha256(item.bare.encode()).hexdigest()
    return Origin(dataset=item.dataset, row=item.row, id=item.id, code=digest)
