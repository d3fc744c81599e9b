"""Timestamps by RFC 3161: somebody whom both sides trust says when a commitment was there."""

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from puzzlemark.evidence.commitment import (
    FILE,
    REQUEST,
    TOKENS,
    Commitment,
    CommitmentError,
    load_commitment,
)
from puzzlemark.files import replacing
from puzzlemark.verification.chain import FILE as CHAIN
from puzzlemark.verification.chain import Record

MISSING = "rfc3161-client is missing: pip install 'puzzlemark[evidence]'"
LARGEST_TOKEN = 1 << 20  # bytes
PATIENCE = 30.0  # seconds that an authority may take


@dataclass(frozen=True, slots=True)
class Stamp:
    """One token: when it says that something was there, and what of the token was checked."""

    path: Path
    time: datetime  # UTC, the authority's own
    authority: str | None  # the name in the signer's certificate; the token's word
    is_verified: bool  # signed by an authority whose root was passed

    def to_json(self) -> dict[str, Any]:
        """Plain values; the path is nobody's business."""
        time = self.time.isoformat(timespec="seconds").replace("+00:00", "Z")
        return {"time": time, "authority": self.authority, "verified": self.is_verified}


@dataclass(frozen=True, slots=True)
class LineStamp:
    """A token about a line of a run's chain, and so about all lines before it."""

    line: int  # counted from 1
    stamp: Stamp

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {"line": self.line, **self.stamp.to_json()}


def make_request(content: bytes) -> bytes:
    """The request for a token about a text, in DER: its SHA-256 and nothing else.

    Without a nonce: the same commitment has the same request, and a token is kept, not waited for.
    """
    try:
        from rfc3161_client import HashAlgorithm, TimestampRequestBuilder
    except ImportError as exc:
        raise CommitmentError(MISSING) from exc
    builder = TimestampRequestBuilder().data(content).hash_algorithm(HashAlgorithm.SHA256)
    return builder.nonce(nonce=False).cert_request(cert_request=True).build().as_bytes()


def stamp(
    folder: Path | str,
    *,
    token: Path | None = None,
    authority: str | None = None,
    roots: Path | None = None,
) -> Stamp:
    """Attach a token to a commitment: from a file, or asked of an authority by its address."""
    if (token is None) == (authority is None):
        raise CommitmentError("pass either --token FILE or --authority URL")
    made = load_commitment(folder)
    if token is not None:
        content = _read(token)
    else:
        assert authority is not None
        content = _ask(authority, (made.folder / REQUEST).read_bytes())
    found = read_token(content, made, roots, token or made.folder / TOKENS)
    return _keep(content, found, made.folder, "")


def _keep(content: bytes, found: Stamp, folder: Path, before: str) -> Stamp:
    """Put a token into the folder of tokens; its name says when, and which."""
    name = f"{before}{found.time:%Y%m%dT%H%M%SZ}-{hashlib.sha256(content).hexdigest()[:8]}.tsr"
    place = folder / TOKENS / name
    place.parent.mkdir(exist_ok=True)
    with replacing(place) as new:
        new.write_bytes(content)
    return replace(found, path=place)


def stamp_line(
    folder: Path,
    number: int,
    line: bytes,
    *,
    token: Path | None = None,
    authority: str | None = None,
    roots: Path | None = None,
) -> Stamp:
    """Attach a token to a line of a run's chain; what is sent is the line's SHA-256 alone."""
    if (token is None) == (authority is None):
        raise CommitmentError("pass either --token FILE or --authority URL")
    if token is not None:
        content = _read(token)
    else:
        assert authority is not None
        content = _ask(authority, make_request(line))
    about = f"line {number} of {folder / CHAIN}"
    found = decode_token(content, line, about, roots, token or folder / TOKENS)
    return _keep(content, found, folder, f"{number:06d}-")


def line_stamps(folder: Path, record: Record, roots: Path | None = None) -> list[LineStamp]:
    """All tokens of a run, by the lines that they are about; one about nothing is an error."""
    found = []
    for path in sorted((folder / TOKENS).glob("*.tsr")):
        number = int(path.name.partition("-")[0]) if path.name[:6].isdecimal() else 0
        if not 1 <= number <= len(record.lines):
            raise CommitmentError(f"{path}: the chain has no such line; it was cut, or is another")
        about = f"line {number} of {folder / CHAIN}"
        token = decode_token(_read(path), record.lines[number - 1], about, roots, path)
        found.append(LineStamp(number, token))
    return found


def stamps_of(made: Commitment, roots: Path | None = None) -> list[Stamp]:
    """All tokens of a commitment, the earliest first."""
    paths = sorted((made.folder / TOKENS).glob("*.tsr"))
    found = [read_token(_read(path), made, roots, path) for path in paths]
    return sorted(found, key=lambda each: each.time)


def read_token(content: bytes, made: Commitment, roots: Path | None, path: Path) -> Stamp:
    """What a token says; raises when it is not about this commitment, or not well signed."""
    about = f"{made.folder / FILE}; send {REQUEST} to the authority"
    return decode_token(content, made.to_bytes(), about, roots, path)


def decode_token(content: bytes, text: bytes, about: str, roots: Path | None, path: Path) -> Stamp:
    """What a token about a text says."""
    digest = hashlib.sha256(text).digest()
    try:
        from rfc3161_client import (
            VerificationError,
            VerifierBuilder,
            decode_timestamp_response,
        )
    except ImportError as exc:
        raise CommitmentError(MISSING) from exc
    try:
        response = decode_timestamp_response(content)
        info = response.tst_info
    except (ValueError, RuntimeError) as exc:
        raise CommitmentError(f"{path}: not a timestamp by RFC 3161: {exc}") from exc
    if info.message_imprint.message != digest:
        raise CommitmentError(f"{path}: a timestamp of something else than {about}")
    if roots is not None:
        builder = VerifierBuilder()
        for root in certificates_of(roots):
            builder = builder.add_root_certificate(root)
        try:
            builder.build().verify(response, digest)
        except (VerificationError, ValueError) as exc:
            raise CommitmentError(
                f"{path}: not signed by an authority of {roots}, or changed since: {exc}"
            ) from exc
    return Stamp(path, info.gen_time.astimezone(UTC), _signer(response), roots is not None)


def certificates_of(path: Path) -> list[Any]:
    """The certificates in a file of the reader's own."""
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise CommitmentError(f"{path}: no certificates in PEM: {exc}") from exc


def _signer(response: Any) -> str | None:
    """Who signed: the certificate that the signature names, not any other that lies beside it."""
    from cryptography import x509

    try:
        named = {(each.issuer, each.serial_number) for each in response.signed_data.signer_infos}
        for raw in response.signed_data.certificates:
            certificate = x509.load_der_x509_certificate(raw)
            if (certificate.issuer, certificate.serial_number) in named:
                return certificate.subject.rfc4514_string()
    except (ValueError, TypeError, x509.InvalidVersion):
        return None
    return None


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > LARGEST_TOKEN:
            raise CommitmentError(f"{path}: too large for a timestamp")
        return path.read_bytes()
    except OSError as exc:
        raise CommitmentError(f"{path}: cannot be read: {exc.strerror}") from exc


def _ask(url: str, request: bytes) -> bytes:
    """One question to an authority; it learns the hash and our address."""
    import httpx2

    headers = {"Content-Type": "application/timestamp-query"}
    content = bytearray()
    try:
        with (
            httpx2.Client(timeout=PATIENCE, follow_redirects=False) as client,
            client.stream("POST", url, content=request, headers=headers) as answer,
        ):
            for chunk in answer.iter_raw():
                content += chunk
                if len(content) > LARGEST_TOKEN:
                    raise CommitmentError(f"{url}: its answer is too large for a timestamp")
    except (httpx2.HTTPError, httpx2.InvalidURL) as exc:
        raise CommitmentError(f"{url}: the authority cannot be reached: {exc}") from exc
    if answer.status_code != httpx2.codes.OK:
        raise CommitmentError(f"{url}: no timestamp, but status {answer.status_code}")
    return bytes(content)
