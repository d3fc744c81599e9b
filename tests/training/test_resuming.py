"""A training is killed or stopped in the middle, and ends as if nothing had happened."""

import json
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from puzzlemark.training.checkpoints import TrainingError, alone, find_checkpoint
from puzzlemark.training.loop import Moment
from puzzlemark.training.run import train
from tests.training.test_run import without_times

ROOT = Path(__file__).parent.parent.parent
# dropout draws random numbers in every step: they must go on where they were, too
LORA: dict[str, Any] = {
    "recipe": "cpu",
    "part": "lora",
    "rank": 4,
    "dropout": 0.3,
    "steps": 20,
    "rate": 1e-2,
    "checkpoint_every": 3,
}
PACKED: dict[str, Any] = {
    "recipe": "cpu",
    "part": "all",
    "batching": "packed",
    "max_tokens": 64,
    "accumulate": 2,
    "steps": 9,
    "checkpoint_every": 4,
}
PROGRAM = """
import json, sys, time
from puzzlemark.training.run import train

train(*sys.argv[1:4], watch=lambda moment: time.sleep(0.1), **json.loads(sys.argv[4]))
"""


def kill_at(step: int, corpus: Path, base: Path, output: Path, fields: dict[str, Any]) -> None:
    """Let a process train until it has a checkpoint of this step or later, then kill it."""
    command = [sys.executable, "-c", PROGRAM, str(corpus), str(base), str(output)]
    with subprocess.Popen([*command, json.dumps(fields)], cwd=ROOT) as process:
        while max(checkpoints(output), default=0) < step:
            assert process.poll() is None, "the training ended before it could be killed"
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


def checkpoints(output: Path) -> list[int]:
    """Steps of the checkpoints that were written whole."""
    found = output.glob("checkpoint/step-*")
    return [int(path.name[5:]) for path in found if path.suffix != ".partial"]


def assert_same(one: Path, other: Path) -> None:
    """Every file is the same, byte for byte, but for the times."""
    names = {path.name for path in one.iterdir()}
    assert names == {path.name for path in other.iterdir()}
    for name in names - {"training.json"}:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert without_times(one) == without_times(other)


def test_a_killed_training_ends_with_the_very_same_weights(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    pytest.importorskip("peft", reason="needs the extra train: peft")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    kill_at(6, corpus, tiny_model, killed, LORA)
    seen: list[int] = []
    resumed = train(
        corpus, tiny_model, killed, watch=lambda moment: seen.append(moment.step.step), **LORA
    )
    assert 6 < seen[0] < 20
    assert seen == list(range(seen[0], 21))
    assert resumed.record["times"]["starts"] == 2
    train(corpus, tiny_model, whole, **LORA)
    assert_same(killed, whole)


def stop_after(step: int) -> Any:
    def watch(moment: Moment) -> None:
        if moment.step.step == step:
            signal.raise_signal(signal.SIGINT)

    return watch


def test_ctrl_c_finishes_the_step_and_keeps_it(
    tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        train(corpus, tiny_model, stopped, watch=stop_after(5), **PACKED)
    assert signal.getsignal(signal.SIGINT) is handler
    checkpoint = find_checkpoint(stopped)
    assert checkpoint is not None
    assert len(checkpoint.course.steps) == 6  # the step in hand; the last regular one is of step 4
    train(corpus, tiny_model, stopped, **PACKED)
    train(corpus, tiny_model, whole, **PACKED)
    assert_same(stopped, whole)


@pytest.fixture
def half(tiny_model: Path, corpus: Path, tmp_path: Path) -> Path:
    with pytest.raises(KeyboardInterrupt):
        train(corpus, tiny_model, tmp_path / "half", watch=stop_after(4), **PACKED)
    return tmp_path / "half"


def test_other_arguments_on_a_checkpoint_are_refused_by_name(
    half: Path, tiny_model: Path, corpus: Path
) -> None:
    with pytest.raises(TrainingError, match=r"recipe.batch is 4 there and 2 here; seed is 0"):
        train(corpus, tiny_model, half, seed=1, **PACKED | {"batch": 2})
    assert find_checkpoint(half) is not None


def test_two_processes_do_not_train_in_one_folder(
    half: Path, tiny_model: Path, corpus: Path
) -> None:
    with (
        alone(half),
        pytest.raises(TrainingError, match="another process is training in this folder"),
    ):
        train(corpus, tiny_model, half, **PACKED)
    assert train(corpus, tiny_model, half, **PACKED).record["times"]["starts"] == 2


def test_force_begins_again(half: Path, tiny_model: Path, corpus: Path) -> None:
    trained = train(corpus, tiny_model, half, force=True, **PACKED)
    assert trained.record["times"]["starts"] == 1


def test_a_checkpoint_that_was_being_written_is_not_used(half: Path) -> None:
    (whole,) = (half / "checkpoint").iterdir()
    shutil.copytree(whole, half / "checkpoint" / "step-00000009.partial")
    found = find_checkpoint(half)
    assert found is not None
    assert found.path == whole


def test_a_damaged_checkpoint_is_refused_and_says_what_to_do(
    half: Path, tiny_model: Path, corpus: Path
) -> None:
    (whole,) = (half / "checkpoint").iterdir()
    state = whole / "state.pt"
    state.write_bytes(state.read_bytes()[:1000])
    with pytest.raises(TrainingError, match="is damaged; pass --force"):
        train(corpus, tiny_model, half, **PACKED)
    (whole / "progress.json").write_text("{")
    with pytest.raises(TrainingError, match="is damaged; pass --force"):
        train(corpus, tiny_model, half, **PACKED)


def test_a_kill_while_the_model_is_being_written_loses_nothing(
    half: Path, tiny_model: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("puzzlemark.training.run.save_network", fail)
        with pytest.raises(KeyboardInterrupt):
            train(corpus, tiny_model, half, **PACKED)
    assert not (half / "training.json").exists()
    seen: list[Moment] = []
    train(corpus, tiny_model, half, watch=seen.append, **PACKED)
    assert not seen  # every step was in the checkpoint
    train(corpus, tiny_model, tmp_path / "whole", **PACKED)
    assert_same(half, tmp_path / "whole")


class Program:
    """When it is unpickled, it writes a file."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, (f"open({str(self.trace)!r}, 'w').close()",)


def test_a_checkpoint_of_a_stranger_runs_no_program(
    half: Path, tiny_model: Path, corpus: Path, tmp_path: Path
) -> None:
    import torch

    trace = tmp_path / "it-was-run"
    (whole,) = (half / "checkpoint").iterdir()
    for state in ({"weights": Program(trace)}, Program(trace)):
        torch.save(state, whole / "state.pt")
        with pytest.raises(TrainingError, match="holds more than tensors, and was not opened"):
            train(corpus, tiny_model, half, **PACKED)
    (whole / "state.pt").write_bytes(pickle.dumps(Program(trace), protocol=2))
    with pytest.raises(TrainingError, match="holds more than tensors, and was not opened"):
        train(corpus, tiny_model, half, **PACKED)
    assert not trace.exists()
    pickle.loads((whole / "state.pt").read_bytes())  # noqa: S301 (ours; else nothing was shown)
    assert trace.exists()
