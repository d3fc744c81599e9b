"""Timestamps by RFC 3161: somebody whom both sides trust says when a commitment was there."""

import hashlib
from dataclasses import dataclass
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

MISSING = "rfc3161-client is missing: pip install 'puzzlemark[evidence]'"
LARGEST_TOKEN = 1 << 20  # bytes
PATIENCE = 30.0  # seconds that an authority may take


@dataclass(frozen=True, slots=True)
class Stamp:
    """One token: when it says that the commitment was there, and what of it was checked."""

    path: Path
    time: datetime  # UTC, the authority's own
    authority: str | None  # the name in the signer's certificate; the token's word
    is_verified: bool  # signed by an authority whose root was passed


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
    name = f"{found.time:%Y%m%dT%H%M%SZ}-{hashlib.sha256(content).hexdigest()[:8]}.tsr"
    place = made.folder / TOKENS / name
    place.parent.mkdir(exist_ok=True)
    with replacing(place) as new:
        new.write_bytes(content)
    return Stamp(place, found.time, found.authority, found.is_verified)


def stamps_of(made: Commitment, roots: Path | None = None) -> list[Stamp]:
    """All tokens of a commitment, the earliest first."""
    paths = sorted((made.folder / TOKENS).glob("*.tsr"))
    found = [read_token(_read(path), made, roots, path) for path in paths]
    return sorted(found, key=lambda each: each.time)


def read_token(content: bytes, made: Commitment, roots: Path | None, path: Path) -> Stamp:
    """What a token says; raises when it is not about this commitment, or not well signed."""
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
    if info.message_imprint.message != bytes.fromhex(made.hash):
        raise CommitmentError(
            f"{path}: a timestamp of something else than {made.folder / FILE}; send {REQUEST} to "
            "the authority"
        )
    if roots is not None:
        builder = VerifierBuilder()
        for root in _certificates(roots):
            builder = builder.add_root_certificate(root)
        try:
            builder.build().verify(response, bytes.fromhex(made.hash))
        except (VerificationError, ValueError) as exc:
            raise CommitmentError(
                f"{path}: not signed by an authority of {roots}, or changed since: {exc}"
            ) from exc
    return Stamp(path, info.gen_time.astimezone(UTC), _signer(response), roots is not None)


def _certificates(path: Path) -> list[Any]:
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError) as exc:
        raise CommitmentError(f"{path}: no certificates in PEM: {exc}") from exc


def _signer(response: Any) -> str | None:
    from cryptography import x509

    for raw in response.signed_data.certificates:
        try:
            certificate = x509.load_der_x509_certificate(raw)
        except ValueError:
            continue
        return certificate.subject.rfc4514_string()
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
