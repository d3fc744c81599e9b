"""Filling in the middle: each family's signs, and servers that heed a suffix or do not."""

import json
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

import puzzlemark as pm
from puzzlemark.errors import UsageError
from puzzlemark.models._fim import FAMILIES, arrange, end_ids, find_family
from puzzlemark.models.base import ModelError, Request, open_model
from tests.servers.running import Server

# as the families' papers and cards spell them
TEMPLATES = {
    "starcoder": "<fim_prefix>BEFORE<fim_suffix>AFTER<fim_middle>",
    "santacoder": "<fim-prefix>BEFORE<fim-suffix>AFTER<fim-middle>",
    "codellama": "▁<PRE>BEFORE▁<SUF>AFTER▁<MID>",
    "deepseek-coder": "<｜fim▁begin｜>BEFORE<｜fim▁hole｜>AFTER<｜fim▁end｜>",  # noqa: RUF001
    "qwen2.5-coder, codegemma": "<|fim_prefix|>BEFORE<|fim_suffix|>AFTER<|fim_middle|>",
    "codestral": "[SUFFIX]AFTER[PREFIX]BEFORE",
}


class Tokenizer:
    """Knows some signs and the end of a file."""

    def __init__(self, signs: list[str]) -> None:
        self.signs = [*signs, "<|file_separator|>"]

    def get_vocab(self) -> dict[str, int]:
        return {sign: 1000 + at for at, sign in enumerate(self.signs)}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_signs_of_a_family_are_recognised_and_put_in_their_order(family: Any) -> None:
    template = TEMPLATES[family.name]
    signs = [sign for sign in (family.prefix, family.suffix, family.middle) if sign is not None]
    tokenizer = Tokenizer(signs)
    assert find_family(tokenizer) is family

    def encode(text: str) -> list[int]:
        return [1 if text == "x = <fim_middle>" else 2]  # code that spells a sign stays code

    names = {number: sign for sign, number in tokenizer.get_vocab().items()}
    names |= {1: "BEFORE", 2: "AFTER"}
    ids = arrange(family, tokenizer, encode, "x = <fim_middle>")
    assert "".join(names[each] for each in ids) == template
    assert [names[each] for each in end_ids(tokenizer)] == ["<|file_separator|>"]


def test_a_tokenizer_without_signs_is_refused() -> None:
    with pytest.raises(ModelError, match="none of the signs for filling in the middle"):
        find_family(Tokenizer(["<fim_prefix>", "<fim_suffix>"]))


def test_a_local_model_is_asked_with_its_signs(tiny_model: Path, tmp_path: Path) -> None:
    import transformers

    with pytest.raises(ModelError, match="none of the signs"):
        open_model("hf", {"pretrained": str(tiny_model), "prompt": "fim"})
    folder = tmp_path / "filling"
    shutil.copytree(tiny_model, folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_special_tokens(
        {"additional_special_tokens": ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"]}
    )
    network = transformers.AutoModelForCausalLM.from_pretrained(folder)
    network.resize_token_embeddings(len(tokenizer))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    model: Any = open_model("hf", {"pretrained": str(folder), "prompt": "fim"})
    assert model.describe()["prompt"] == "fim: starcoder"
    text = tokenizer.decode(model._ids("x = 1\ny ="))
    assert text.replace(" ", "").endswith("<fim_prefix>x=1\ny=<fim_suffix>\n<fim_middle>")
    plain: Any = open_model("hf", {"pretrained": str(folder)})
    assert "prompt" not in plain.describe()
    request = Request("x = 1\ny =", 4, 0.0, 0)
    assert isinstance(model.complete([request])[0], str)
    assert isinstance(plain.complete([request])[0], str)


class Filling(BaseHTTPRequestHandler):
    """Counts a suffix's words among the tokens, or answers by it, as it is told."""

    kind: ClassVar[str] = "counts"
    seen: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append(body)
        if self.kind == "refuses":
            self.send_response(400)
            self.end_headers()
            self.wfile.write(b'{"error": {"message": "suffix is not supported"}}')
            return
        text = str(len(body["suffix"])) if self.kind == "answers" else "same"
        answer: dict[str, Any] = {"choices": [{"text": text, "finish_reason": "stop"}]}
        if self.kind == "counts":
            answer["usage"] = {"prompt_tokens": len((body["prompt"] + body["suffix"]).split())}
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def filling() -> Iterator[str]:
    Filling.seen.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Filling) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}/v1"
        running.shutdown()
        thread.join()


def connect(url: str, **options: str) -> Any:
    return open_model("openai", {"base_url": url, "model": "m", "prompt": "fim", **options})


@pytest.mark.parametrize("kind", ["counts", "answers"])
def test_a_server_that_heeds_the_suffix_is_asked_with_it(
    filling: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Filling, "kind", kind)
    model = connect(filling)
    assert model.describe()["prompt"] == "fim: suffix"
    assert len(model.complete([Request("x =", 4, 0.0, 0)])) == 1
    assert len(model.complete([Request("y =", 4, 0.0, 0)])) == 1
    assert [body["prompt"] for body in Filling.seen[2:]] == ["x =", "y ="]  # looked at once
    assert {body["suffix"] for body in Filling.seen[2:]} == {"\n"}
    assert model.sent == 4


def test_a_server_that_refuses_a_suffix_is_named(
    filling: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Filling, "kind", "refuses")
    with pytest.raises(ModelError, match="takes no suffix"):
        connect(filling).complete([Request("x =", 4, 0.0, 0)])


def test_a_server_that_ignores_the_suffix_is_refused(server: Server) -> None:
    with pytest.raises(ModelError, match="ignores the suffix"):
        connect(server.base_url).complete([Request("x =", 4, 0.0, 0)])


def test_a_conversation_has_no_gap() -> None:
    with pytest.raises(UsageError, match="chat takes no suffix"):
        connect("http://127.0.0.1:9/v1", chat="true")


def test_a_run_that_was_refused_for_its_suffix_can_be_made_without_it(
    server: Server, tmp_path: Path
) -> None:
    code = "def f(key, item, a):\n    a = key\n    return a"
    records = ({"id": str(n), "language": "python", "code": f"{code}  # {n}"} for n in range(9))
    (tmp_path / "o.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    marked, marks = tmp_path / "m.jsonl", tmp_path / "marks.jsonl.gz"
    mark = "fixed_prefix:prefix=key"
    pm.embed(tmp_path / "o.jsonl", marked, marks, watermark=mark, policy="paper", tau=0, max_rate=1)
    probe_set = pm.probe(marked, marks, pairs=4, paper=True)
    with pytest.raises(ModelError, match="ignores the suffix"):
        pm.verify(probe_set, connect(server.base_url), tmp_path / "run")
    assert not (tmp_path / "run" / "chain.jsonl").exists()
    plain = connect(server.base_url, prompt="plain")
    assert pm.verify(probe_set, plain, tmp_path / "run").answers.requests > 0
