"""Programs behave as before when attacks that promise it have changed them."""

from pathlib import Path

import puzzlemark as pm
from tests.attacks.test_format import modules
from tests.stories.test_programs import (
    Changed,
    changes,
    differences,
    languages,
    read_codes,
    write_dataset,
)

FEWEST = 10  # programs that each attack changes, of 16 or more in a language


def attacks(language: str) -> list[str]:
    """Those that keep behaviour and can be run here: Java's formatter may not be installed."""
    others = ["rename:scope=all", "rename_natural"]
    if language not in ("php", "ruby"):  # few of their programs have a comment
        others.append("comments")
    if language == "python":
        return [*others, "format"]
    return others if modules() is None else [*others, f"format:node_modules={modules()}"]


def attacked_programs(place: Path, language: str) -> list[Changed]:
    """Each program after each attack; Java's, which take long to compile, after one another."""
    dataset, output = place / "programs.jsonl", place / "attacked.jsonl"
    programs = write_dataset(dataset, language)
    changed: list[Changed] = []
    for spec in attacks(language):
        pm.attack(dataset, output, attack=spec, overwrite=True)
        before = dict(zip(programs, read_codes(dataset), strict=True))
        assert len(changes(spec, before, read_codes(output))) >= FEWEST, spec
        some = changes(spec, programs, read_codes(output))
        changed = some if language == "java" else [*changed, *some]
        if language == "java":
            output.replace(dataset)
    return changed


@languages
def test_attacked_programs_behave_as_before(tmp_path: Path, language: str) -> None:
    found = differences(language, attacked_programs(tmp_path, language))
    assert not found, "\n\n".join(f"{key}\n{text}" for key, text in found.items())
