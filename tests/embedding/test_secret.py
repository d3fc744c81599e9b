import stat
from pathlib import Path

import pytest

from puzzlemark.embedding.secret import Secret, default_path, find_secret
from puzzlemark.errors import SecretError


def test_a_missing_file_is_made_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "secret"
    made = find_secret(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert find_secret(path).derive("order") == made.derive("order")


def test_two_made_secrets_differ(tmp_path: Path) -> None:
    assert find_secret(tmp_path / "a").fingerprint != find_secret(tmp_path / "b").fingerprint


def test_without_file_and_variable_the_configuration_folder_holds_it() -> None:
    assert not default_path().exists()
    find_secret()
    assert stat.S_IMODE(default_path().stat().st_mode) == 0o600


def test_the_environment_gives_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLEMARK_SECRET", "correct horse battery staple")
    assert find_secret().derive("x") == Secret(b"correct horse battery staple").derive("x")
    assert not default_path().exists()


def test_a_file_goes_before_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUZZLEMARK_SECRET", "correct horse battery staple")
    path = tmp_path / "secret"
    path.touch(0o600)
    path.write_text("another secret of mine\n")
    assert find_secret(path).derive("x") == Secret(b"another secret of mine").derive("x")


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("a secret that is long enough")
    path.chmod(0o644)
    with pytest.raises(SecretError, match="chmod 600"):
        find_secret(path)


def test_a_short_secret_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUZZLEMARK_SECRET", "hunter2")
    with pytest.raises(SecretError) as caught:
        find_secret()
    assert "hunter2" not in str(caught.value)


def test_a_secret_does_not_print() -> None:
    secret = Secret(b"0123456789abcdef")
    assert "0123" not in f"{secret} {secret!r}"


def test_keys_for_different_purposes_differ() -> None:
    secret = Secret(b"0123456789abcdef")
    assert secret.derive("order") != secret.derive("fingerprint")
    assert secret.fingerprint not in secret.derive("order").hex()
