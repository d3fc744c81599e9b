"""`puzzlemark stamp` as it is typed: a request goes out, a token comes back."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from puzzlemark.cli.__main__ import application
from puzzlemark.models.scripted import Scripted
from puzzlemark.verification.chain import read_chain
from puzzlemark.verification.run import query
from tests.evidence.authority import Authority
from tests.evidence.conftest import authority  # noqa: F401
from tests.verification.drawn_names import probe_set

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")


def typed(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(application(), [str(word) for word in words])
    return result.exit_code, result.output


def test_the_end_of_a_runs_record_is_stamped(
    authority: Authority,  # noqa: F811
    tmp_path: Path,
) -> None:
    run, request, token = (tmp_path / name for name in ("run", "r.tsq", "t.tsr"))
    query(probe_set(3), Scripted("boring", lambda _: "pass"), run)
    record = read_chain(run / "chain.jsonl")
    status, output = typed("stamp", run, "--request", request, "--json")
    assert status == 0, output
    assert json.loads(output)["sha256"] == record.head
    token.write_bytes(authority.answer(request.read_bytes()))
    status, output = typed("stamp", run, "--token", token, "--roots", authority.root, "--json")
    assert status == 0, output
    told = json.loads(output)
    assert (told["line"], told["verified"]) == (len(record.lines), True)
    assert Path(told["token"]).name.startswith(f"{len(record.lines):06d}-")
    status, output = typed("stamp", run, "--token", token)
    assert "Test Authority" in output
    assert "the signature was not verified" in output


def test_one_way_to_get_a_token_is_named(tmp_path: Path) -> None:
    status, output = typed("stamp", tmp_path, "--token", "a", "--authority", "b")
    assert status == 2
    assert "pass one of" in output
