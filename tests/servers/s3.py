"""A real S3 server on the loopback: moto's. `python -m tests.servers.s3` prints its address."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

KEY, SECRET = "AKIAFORTESTSONLY0000", "wJalrXUtnFEMI-not-a-real-secret-EXAMPLEKEY"
BUCKET = "datasets"


@dataclass(frozen=True, slots=True)
class S3:
    """The server, and what it holds as another client sees it."""

    address: str
    client: Any

    @property
    def environment(self) -> dict[str, str]:
        """The usual chain of credentials and settings."""
        return {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_MAX_ATTEMPTS": "1",
        }

    def objects(self, prefix: str = "") -> dict[str, bytes]:
        """All objects with such a name, by their keys."""
        listed = self.client.list_objects_v2(Bucket=BUCKET, Prefix=prefix).get("Contents", ())
        keys = [each["Key"] for each in listed]
        return {key: self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read() for key in keys}

    def uploads(self) -> list[str]:
        """The keys of uploads that were begun, and neither completed nor given up."""
        listed = self.client.list_multipart_uploads(Bucket=BUCKET)
        return [each["Key"] for each in listed.get("Uploads", ())]

    def put(self, key: str, content: bytes) -> None:
        """Make an object."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=content)

    def require_credentials(self) -> None:
        """Let in only whom it knows, from now on: which is nobody."""
        self._tell("reset-auth", b"0")

    def reset(self) -> None:
        """Forget everything, and let everybody in."""
        self._tell("reset-auth", b"1e9")
        self._tell("reset", b"")
        self.client.create_bucket(Bucket=BUCKET)

    def _tell(self, what: str, body: bytes) -> None:
        plain = {"Content-Type": "text/plain"}
        request = Request(f"{self.address}/moto-api/{what}", body, plain, method="POST")  # noqa: S310
        urlopen(request).close()  # noqa: S310


@contextmanager
def serving() -> Iterator[S3]:
    """A server with one empty bucket, in a process of its own, on a port that is free."""
    import boto3

    command = [sys.executable, "-m", "tests.servers.s3"]
    small_parts = {**os.environ, "S3_UPLOAD_PART_MIN_SIZE": "1"}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=small_parts
    ) as it:
        assert it.stdout is not None
        try:
            address = it.stdout.readline().strip()
            client = boto3.client(
                "s3",
                endpoint_url=address,
                aws_access_key_id=KEY,
                aws_secret_access_key=SECRET,
                region_name="us-east-1",
            )
            try:
                client.create_bucket(Bucket=BUCKET)
                yield S3(address, client)
            finally:
                client.close()
        finally:
            it.kill()


def main() -> None:
    """Serve until standard input ends."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    print(f"http://127.0.0.1:{port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
