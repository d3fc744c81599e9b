import json
from pathlib import Path

from typer.testing import CliRunner

import puzzlemark as pm
from puzzlemark.cli.__main__ import application
from puzzlemark.models.base import Answer, Request
from puzzlemark.models.scripted import Scripted, innocent, learnt
from puzzlemark.verification.probes import ProbeSet
from tests.verification.conftest import probe_sets  # noqa: F401


def test_a_weak_detection_does_not_survive_the_company_of_innocents(
    probe_sets: dict[str, ProbeSet],  # noqa: F811
    tmp_path: Path,
) -> None:
    armed = [probe.armed for probe in probe_sets["fixed"].probes]

    def hits(count: int) -> Scripted:
        wanted = {arm.prompt: arm.target for arm in armed[:count]}

        def answer(request: Request) -> Answer:
            target = wanted.get(request.prompt)
            return f"{target} = 1" if target else innocent(request)

        return Scripted(f"{count} hits", answer)

    for count in (0, 1, 5, 60):
        pm.verify(probe_sets["fixed"], hits(count), tmp_path / str(count))
    folders = [str(tmp_path / str(count)) for count in (0, 1, 5, 60)]
    alone = [pm.load_run(folder).verdict.word for folder in folders]
    assert alone == ["not detected", "not detected", "detected", "detected"]
    done = CliRunner().invoke(application(), ["together", *folders, "--json"])
    assert done.exit_code == 0, done.output
    words = [each["word"] for each in json.loads(done.stdout)["runs"]]
    assert words == ["not detected", "not detected", "not detected", "detected"]
    assert "not detected" in CliRunner().invoke(application(), ["together", *folders]).stdout


def test_one_run_needs_no_correction(
    probe_sets: dict[str, ProbeSet],  # noqa: F811
    tmp_path: Path,
) -> None:
    model = Scripted("m", lambda request: learnt(request, prefix="name"))
    run = pm.verify(probe_sets["fixed"], model, tmp_path / "run")
    done = CliRunner().invoke(application(), ["together", str(tmp_path / "run"), "--json"])
    (only,) = json.loads(done.stdout)["runs"]
    assert only["word"] == "detected"
    assert run.verdict.log10_p is not None
    assert only["adjusted_log10_p"] == run.verdict.log10_p
