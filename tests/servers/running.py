"""Start the server program, talk to it, stop it."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("completions.py")


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    log: Path

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def misbehave(self, *faults: dict[str, Any]) -> None:
        """Each fault spoils one of the next requests."""
        url = f"http://127.0.0.1:{self.port}/faults"
        call = urllib.request.Request(url, json.dumps(faults).encode())
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        opener.open(call, timeout=60).close()

    def requests(self) -> list[dict[str, Any]]:
        """Everything it was asked, in order of arrival."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [json.loads(line) for line in lines]

    def prompts(self) -> list[str]:
        return [str(each["body"]["prompt"]) for each in self.requests()]


@contextmanager
def serve(log: Path, *options: str) -> Iterator[Server]:
    command = [sys.executable, str(PROGRAM), "--log", str(log), *options]
    quiet = {"HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | quiet
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, "the server did not start"
            yield Server(int(line), log)
        finally:
            process.kill()
