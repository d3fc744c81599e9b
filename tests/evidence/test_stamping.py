"""Tokens of a real authority: those about this commitment count, and no others."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from puzzlemark.evidence.commitment import CommitmentError, commit, load_commitment
from tests.evidence.authority import Authority, make_authority

pytest.importorskip("rfc3161_client", reason="needs the extra evidence: rfc3161-client")
from puzzlemark.evidence.stamping import stamp, stamps_of


@pytest.fixture
def folder(marked: Path, tmp_path: Path) -> Path:
    output = tmp_path / "commitment"
    commit(
        marked / "marks.jsonl.gz", marked / "marked.jsonl", output, secret_file=marked / "secret"
    )
    return output


@pytest.fixture
def token(folder: Path, authority: Authority, tmp_path: Path) -> Path:
    path = tmp_path / "token.tsr"
    path.write_bytes(authority.answer((folder / "request.tsq").read_bytes()))
    return path


def test_a_token_says_when_the_commitment_was_there(
    folder: Path, token: Path, authority: Authority
) -> None:
    found = stamp(folder, token=token, roots=authority.root)
    assert abs(found.time - datetime.now(UTC)) < timedelta(minutes=10)
    assert found.is_verified
    assert found.authority is not None
    assert "Test Authority" in found.authority
    assert found.path.read_bytes() == token.read_bytes()
    assert [each.time for each in stamps_of(load_commitment(folder), authority.root)] == [
        found.time
    ]


def test_without_a_root_the_signature_counts_as_unverified(folder: Path, token: Path) -> None:
    assert not stamp(folder, token=token).is_verified


def test_a_token_of_another_commitment_is_refused(
    marked: Path, folder: Path, token: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("pairs = 20\n")
    other = tmp_path / "other"
    commit(
        marked / "marks.jsonl.gz",
        marked / "marked.jsonl",
        other,
        plan=plan,
        secret_file=marked / "secret",
    )
    with pytest.raises(CommitmentError, match="a timestamp of something else"):
        stamp(other, token=token)
    assert not (other / "tokens").exists()


def test_a_token_of_an_authority_that_is_not_trusted_is_refused(
    folder: Path, token: Path, tmp_path: Path
) -> None:
    stranger = make_authority(tmp_path / "stranger", "Somebody Else")
    with pytest.raises(CommitmentError, match="not signed by an authority"):
        stamp(folder, token=token, roots=stranger.root)


def test_every_changed_byte_of_a_token_is_noticed(
    folder: Path, token: Path, authority: Authority, tmp_path: Path
) -> None:
    raw, when = token.read_bytes(), stamp(folder, token=token, roots=authority.root).time
    changed = tmp_path / "changed.tsr"
    accepted = []
    for at in range(0, len(raw), 3):
        changed.write_bytes(raw[:at] + bytes([raw[at] ^ 4]) + raw[at + 1 :])
        try:
            accepted.append(stamp(folder, token=changed, roots=authority.root).time)
        except CommitmentError:
            continue
    # what is accepted in spite of a change must still say the same
    assert set(accepted) <= {when}
    assert len(accepted) < len(raw) / 3 / 10


@pytest.mark.parametrize("content", [b"", b"not DER", b"\x30\x03\x02\x01\x02"])
def test_what_is_no_token_is_an_error_in_words(
    folder: Path, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "x.tsr"
    path.write_bytes(content)
    with pytest.raises(CommitmentError, match="not a timestamp"):
        stamp(folder, token=path)


@pytest.fixture
def address(authority: Authority) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = self.rfile.read(int(self.headers["Content-Length"]))
            is_there = self.path == "/tsa"
            self.send_response(200 if is_there else 404)
            self.end_headers()
            if self.path == "/tsa":
                self.wfile.write(authority.answer(request))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_an_authority_is_asked_by_its_address(
    folder: Path, authority: Authority, address: str
) -> None:
    found = stamp(folder, authority=f"{address}/tsa", roots=authority.root)
    assert found.is_verified
    shutil.rmtree(folder / "tokens")
    with pytest.raises(CommitmentError, match="no timestamp, but status 404"):
        stamp(folder, authority=f"{address}/elsewhere")
    with pytest.raises(CommitmentError, match="either --token FILE or --authority URL"):
        stamp(folder)
