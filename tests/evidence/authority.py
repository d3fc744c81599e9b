"""A real timestamp authority on this machine: OpenSSL's own, with certificates of its own."""

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

CONFIG = """
[req]
distinguished_name = name
prompt = no
[name]
CN = {name}
[root]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[signer]
basicConstraints = critical,CA:false
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[tsa]
default_tsa = settings
[settings]
serial = {folder}/serial
signer_cert = {folder}/signer.pem
signer_key = {folder}/signer.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ess_cert_id_alg = sha256
"""


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs requests; `root` is the certificate that its signatures lead to."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root.pem"

    def answer(self, request: bytes) -> bytes:
        query = self.folder / "request.tsq"
        query.write_bytes(request)
        reply = self.folder / "reply.tsr"
        config = self.folder / "tsa.conf"
        _run("ts", "-reply", "-config", config, "-queryfile", query, "-out", reply)
        return reply.read_bytes()

    def answer_later(self, request: bytes) -> bytes:
        """In a later second than now: an authority tells whole seconds only."""
        time.sleep(1.1)
        return self.answer(request)


def make_authority(folder: Path, name: str = "Test Authority") -> Authority:
    folder.mkdir()
    (folder / "serial").write_text("01\n")
    config = folder / "tsa.conf"
    config.write_text(CONFIG.format(name=name, folder=folder))
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    _run("req", "-x509", *key, "-config", config, "-extensions", "root", "-days", "30",
         "-keyout", folder / "root.key", "-out", folder / "root.pem")  # fmt: skip
    _run("req", *key, "-config", config, "-keyout", folder / "signer.key",
         "-out", folder / "signer.csr")  # fmt: skip
    _run("x509", "-req", "-in", folder / "signer.csr", "-CA", folder / "root.pem",
         "-CAkey", folder / "root.key", "-CAcreateserial", "-days", "30", "-extfile", config,
         "-extensions", "signer", "-out", folder / "signer.pem")  # fmt: skip
    return Authority(folder)


def _run(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
