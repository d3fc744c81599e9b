"""What a participant reads: our texts in plain words, each of which a file can replace.

The paper does not print its consent, instructions or question. What it says is that in the first
round only the existence of potential watermarks is disclosed, and in the second more details, such
as variable names that are joined.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

from puzzlemark import plugins
from puzzlemark.errors import UsageError

CONSENT = """\
You are asked to read short pieces of code and to say which of them look suspicious to you. There \
are no right answers to prepare for, and your skill is not being tested.

- Taking part is voluntary. You can stop at any time, without giving a reason, by closing this page.
- The page keeps your answers and the time that you take for each piece of code. It asks for no \
name, and records nothing else.
- Your answers stay in this browser until they are handed in. The foot of the page says how that \
happens.
- You can make pauses. When you open the page again in the same browser, it goes on where you were.

If you have questions, ask the person who gave you this page before you begin."""

INSTRUCTIONS = """\
Some owners of code hide a watermark in it before they publish it: a small change by which they \
can later recognise that their code was used. The program does the same as before, or is meant to.

You will see {snippets} functions in {language}, one at a time. Some of them may carry a \
watermark. Most do not.

- Look at each function as you would in a review, and decide whether it looks suspicious: as if \
somebody had changed it to hide a watermark.
- Decide by what you see. Please do not search for the code, do not run it, and do not use other \
tools or ask anybody.
- There is no time limit, and you can make pauses.
- You can go back and change an answer until you finish the round."""

QUESTION = "Does this function look as if a watermark was hidden in it?"

DISCLOSURE = """\
Thank you for the first round. Now you learn more about the watermarks, and see the same functions \
again, in another order. A function may have been changed in one of these ways, or not at all:

{ways}

Please judge each function anew, with what you know now. It does not matter what you answered \
before."""

THANKS = """\
That was all. Thank you very much.

Please hand in your answers now. After that you can close this page."""

OTHER_WAY = "Names or expressions may have been replaced by others."


@dataclass(frozen=True, slots=True)
class Texts:
    """All of them. A blank line begins a paragraph, `- ` an item of a list, backticks hold code.

    `{snippets}`, `{language}` and `{rounds}` are filled in, in the disclosure `{ways}` as well.
    """

    title: str = "Reading code: a study"
    consent: str = CONSENT
    agree: str = "I have read this, I am of age, and I want to take part."
    instructions: str = INSTRUCTIONS
    question: str = QUESTION
    suspicious: str = "Suspicious"
    ordinary: str = "Not suspicious"
    disclosure: str = DISCLOSURE
    thanks: str = THANKS

    def fill(self, **values: str) -> "Texts":
        """With the numbers and names of a study in place."""
        filled = {}
        for name, text in asdict(self).items():
            for key, value in values.items():
                text = text.replace("{" + key + "}", value)
            filled[name] = text
        return Texts(**filled)

    def to_toml(self) -> str:
        """The texts as a file that `load_texts` reads, to be changed."""
        return "".join(f"{name} = {_quote(text)}\n" for name, text in asdict(self).items())


def _quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"""\n{escaped}"""' if "\n" in text else f'"{escaped}"'


def load_texts(path: Path | str | None) -> Texts:
    """Ours, and instead of some of them those of a TOML file: `question = "Is this odd?"`."""
    if path is None:
        return Texts()
    try:
        found = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise UsageError(f"{path}: cannot read the texts: {exc}") from exc
    known = [field.name for field in fields(Texts)]
    for name, text in found.items():
        if name not in known:
            raise UsageError(f"{path}: no text {name!r}; known: {', '.join(known)}")
        if not isinstance(text, str) or not text.strip():
            raise UsageError(f"{path}: {name} must be a text with something in it")
    return replace(Texts(), **found)


def ways_of(schemes: Iterable[str]) -> str:
    """What the second round tells of the schemes in a study, as a list; no scheme by its name."""
    told = dict.fromkeys(
        getattr(plugins.load("watermarks", scheme), "DISCLOSURE", OTHER_WAY)
        for scheme in sorted(set(schemes))
    )
    return "\n".join(f"- {way}" for way in told)
