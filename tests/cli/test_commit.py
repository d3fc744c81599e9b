"""`puzzlemark commit` as it is typed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from tests.evidence.authority import Authority
from tests.evidence.conftest import authority, marked  # noqa: F401

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")


def typed(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(application(), [str(word) for word in words])
    return result.exit_code, result.output


def test_a_commitment_is_made_and_stamped(
    marked: Path,  # noqa: F811
    authority: Authority,  # noqa: F811
    tmp_path: Path,
) -> None:
    status, output = typed(
        "commit", "--manifest", marked / "marks.jsonl.gz", "--dataset", marked / "marked.jsonl",
        "-o", tmp_path / "c", "--secret-file", marked / "secret", "--json",
    )  # fmt: skip
    assert status == 0, output
    made = json.loads(output)
    assert made["hash"] in (tmp_path / "c" / "README.txt").read_text()
    token = tmp_path / "token.tsr"
    token.write_bytes(authority.answer((tmp_path / "c" / "request.tsq").read_bytes()))
    status, output = typed(
        "commit", "stamp", tmp_path / "c", "--token", token, "--roots", authority.root
    )
    assert status == 0, output
    assert "Test Authority" in output
    status, output = typed("commit", "stamp", tmp_path / "c", "--token", token)
    assert "the signature was not verified" in output


def test_what_is_missing_is_named() -> None:
    assert typed("commit", "--manifest", "m")[0] == 2
    status, output = typed("commit", "--help")
    assert status == 0
    assert "stamp" in output
