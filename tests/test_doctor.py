"""The doctor looks at what is there, and at nothing that is secret."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from puzzlemark import doctor
from puzzlemark.doctor import Finding, diagnose


def found(monkeypatch: pytest.MonkeyPatch, home: Path) -> Mapping[str, Finding]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.delenv("PUZZLEMARK_SECRET", raising=False)
    return {finding.what: finding for finding in diagnose()}


def test_what_is_missing_has_the_command_that_brings_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed = doctor._version
    monkeypatch.setattr(
        doctor, "_version", lambda name: None if name == "peft" else installed(name)
    )
    monkeypatch.setattr(doctor, "_accelerator", lambda: Finding("GPU", "missing", "none"))
    findings = found(monkeypatch, tmp_path)
    assert findings["model smollm2"].remedy == "puzzlemark model fetch smollm2"
    assert findings["extra hf"].state == "missing"
    assert "peft" in findings["extra hf"].found
    assert findings["extra hf"].remedy == "pip install 'puzzlemark[hf]'"
    assert findings["puzzlemark"].state == findings["Python"].state == "ok"
    assert "extra dev" not in findings


def test_a_model_that_was_fetched_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "puzzlemark" / "models" / "smollm2"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    assert found(monkeypatch, tmp_path)["model smollm2"].found == str(folder)


def test_a_secret_is_never_read_and_its_mode_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert found(monkeypatch, tmp_path)["secret"].state == "missing"
    assert not (tmp_path / "puzzlemark").exists()  # looking makes none
    place = tmp_path / "puzzlemark" / "secret"
    place.parent.mkdir()
    place.write_text("a text that must not be shown")
    place.chmod(0o644)
    findings = found(monkeypatch, tmp_path)
    assert findings["secret"].state == "warning"
    assert findings["secret"].remedy == f"chmod 600 {place}"
    place.chmod(0o600)
    findings = found(monkeypatch, tmp_path)
    assert findings["secret"].state == "ok"
    assert "must not be shown" not in str(findings)


def test_a_full_disk_is_a_warning(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1 << 20)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    assert found(monkeypatch, tmp_path)["disk"].state == "warning"
