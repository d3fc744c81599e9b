"""`import puzzlemark as pm` offers exactly what it says, and costs nothing."""

import importlib
import subprocess
import sys
from types import ModuleType

import puzzlemark as pm
from puzzlemark import plugins


def test_every_public_name_can_be_had() -> None:
    assert sorted(pm.__all__) == list(pm.__all__)
    for name in pm.__all__:
        assert getattr(pm, name) is not None


def test_the_lazy_names_are_the_public_names() -> None:
    assert set(pm._HOMES) == set(pm.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(pm, "no_such_name")


def test_importing_loads_no_library() -> None:
    script = (
        "import sys, puzzlemark\n"
        "heavy = {'numpy', 'pyarrow', 'tree_sitter', 'pydantic', 'typer', 'rich', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_dir_shows_every_public_name() -> None:
    script = "import puzzlemark; print(*sorted(set(puzzlemark.__all__) - set(dir(puzzlemark))))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
    assert {"__version__", "__doc__"} <= set(dir(pm))


# What a command does, a public function does; `list` and `bench` speak of the program itself.
DONE_BY = {
    "apply": "apply",
    "attack": "attack attack_cost count_damage",
    "audit": "audit",
    "bundle": "bundle",
    "check": "check_bundle",
    "commit": "commit load_commitment",
    "commit.stamp": "stamp",
    "compare": "compare_probes",
    "detect": "detect save_suspicion_picture",
    "doctor": "diagnose",
    "embed": "embed",
    "harvest": "harvest",
    "model.fetch": "fetch_model",
    "power": "power",
    "probe": "probe save_probes",
    "protect": "protect revert_repository repository_as_dataset",
    "quality.compare": "compare_quality load_quality",
    "quality.measure": "measure_quality",
    "report": "report",
    "revert": "revert",
    "score": "score save_scores_picture",
    "show": "show save_marks_page",
    "split": "split",
    "stamp": "stamp_line",
    "study.make": "make_study StudyDesign StudyMarking",
    "study.score": "score_study study_results_page",
    "study.serve": "serve_study",
    "together": "together multiply load_run",
    "trace": "trace read_licensees",
    "train": "train",
    "verify": "verify load_probes",
}


def test_every_command_has_its_public_functions() -> None:
    groups = ("cli", *(f"cli.{group}" for group in plugins.subpackages("cli") if group != "bench"))
    commands = {f"{g}.{name}".removeprefix("cli.") for g in groups for name in plugins.names(g)}
    commands |= {group.removeprefix("cli.") for group in groups if hasattr(_module(group), "run")}
    assert commands - {"list"} == set(DONE_BY)
    for names in DONE_BY.values():
        assert all(callable(getattr(pm, name)) for name in names.split())


def _module(package: str) -> ModuleType:
    return importlib.import_module(f"puzzlemark.{package}")
