"""What `--help` shows: at most 80 columns, each text wrapped once, examples that can be pasted.

The docstring of a command is its page. A paragraph is wrapped to the terminal; a heading stands
alone as `[bold]Examples[/]`; a line that begins with `puzzlemark` is a command, broken where
it must be with a backslash.
"""

import re
import textwrap
from typing import Any

from typer.core import TyperCommand, TyperGroup

HEADING = re.compile(r"\[bold\](.*?)\[/(?:bold)?\]")
TYPES = {
    "str": "text",
    "Path": "path",
    "float": "number",
    "float range": "number",
    "int range": "int",
}
BRACES = re.compile(r"\{(.*)\}(?:\.\.\.)?|\[(\[.*\])\](?:\.\.\.)?")  # {INPUT...}..., [[INPUT]]
VALUE = re.compile(r"(?<= )(--?[a-z][a-z-]*) (?=[^- ])")
RANGE = re.compile(r"\b(\d+)<=x<=(\d+)")
AT_LEAST = re.compile(r"\bx>=(\d+)")
WIDEST_NAME = 28
CONTINUED = 4  # columns by which the rest of a long example is indented


class Command(TyperCommand):
    """A command whose help is laid out here."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What follows the name of the command in its usage."""
        return plain_pieces(super().collect_usage_pieces(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what the docstring says, arguments and options."""
        self.format_usage(ctx, formatter)
        write_page(formatter, self.help or "")
        write_options(formatter, self.get_params(ctx), ctx)


class Group(TyperGroup):
    """A group of commands whose help is laid out here."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """What follows the name of the command in its usage."""
        return plain_pieces(super().collect_usage_pieces(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Usage, what the docstring says, options, and each command with its first sentence."""
        self.format_usage(ctx, formatter)
        write_page(formatter, self.help or "")
        write_options(formatter, self.get_params(ctx), ctx)
        shown = {name: each for name, each in self.commands.items() if not each.hidden}
        write_table(
            formatter, "Commands", [(name, first_paragraph(shown[name])) for name in sorted(shown)]
        )


def plain_pieces(pieces: list[str]) -> list[str]:
    """`["{INPUT...}..."] -> ["INPUT..."]`; square brackets are for what may be left out."""
    return [BRACES.sub(r"\1\2", piece) for piece in pieces]


def write_page(formatter: Any, text: str) -> None:
    """The paragraphs of a docstring, indented."""
    for paragraph in re.split(r"\n\s*\n", text.replace("\b", "").strip()):
        formatter.write_paragraph()
        if heading := HEADING.fullmatch(paragraph.strip()):
            formatter.write(f"{heading[1]}:\n")
            continue
        for part in _apart(HEADING.sub(r"\1", paragraph)):
            formatter.write(textwrap.indent(_laid_out(part, formatter.width - 2), "  ") + "\n")


def _apart(paragraph: str) -> list[str]:
    """The commands of a paragraph one by one; running text as one piece."""
    lines = [line.strip() for line in paragraph.strip().splitlines()]
    if not any(line.startswith("puzzlemark ") for line in lines):
        return [" ".join(lines)]
    return re.split(r"\n(?=puzzlemark )", "\n".join(lines).replace("\\\n", " "))


def _laid_out(text: str, width: int) -> str:
    """`puzzlemark embed ... \\` and the rest below it; other text simply wrapped."""
    words = " ".join(text.split())
    if not words.startswith("puzzlemark "):
        return "\n".join(_wrapped(words, width))
    glued = VALUE.sub("\\1\N{NO-BREAK SPACE}", words)  # an option and its value stay together
    lines = _wrapped(glued, width - len(" \\"), subsequent_indent=" " * CONTINUED)
    return " \\\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def _wrapped(text: str, width: int, subsequent_indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        subsequent_indent=subsequent_indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def write_options(formatter: Any, params: list[Any], ctx: Any) -> None:
    """Arguments and options, each with its type and what it does; a switch has no type."""
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        rows = [_row(each, ctx) for each in params if each.param_type_name == kind]
        write_table(formatter, title, [row for row in rows if row is not None])


def _row(param: Any, ctx: Any) -> tuple[str, str] | None:
    """`("-o, --output <path>", "Where it goes. [required]")`; None: it is hidden."""
    record = param.get_help_record(ctx)
    if record is None:
        return None
    spelled, about = record
    shown = param.display_type_rich(ctx=ctx) or ""
    inner = shown.strip("<>")
    several = re.fullmatch(r"list\[(.*)\]", inner)
    if several and param.param_type_name == "option" and "repeated" not in about:
        about = f"{about} [may be repeated]"
    plain = several[1] if several else inner
    if shown.startswith("<"):
        spelled = spelled.replace(shown, f"<{TYPES.get(plain, plain)}>")
    if param.param_type_name == "argument":
        spelled = spelled.partition(" <")[0]
    about = AT_LEAST.sub(r"at least \1", RANGE.sub(r"\1 to \2", about))
    return spelled, " ".join(about.split())


def write_table(formatter: Any, title: str, rows: list[tuple[str, str]]) -> None:
    """Names on the left, texts on the right, each wrapped in its own column."""
    if not rows:
        return
    left = min(max(len(name) for name, _ in rows), WIDEST_NAME) + 2
    with formatter.section(title):
        for name, text in rows:
            lines = _wrapped(text, formatter.width - left - 2) or [""]
            if len(name) + 2 > left:
                formatter.write(f"  {name}\n")
                name = ""
            for line in lines:
                formatter.write(f"  {name:<{left}}{line}".rstrip() + "\n")
                name = ""


def first_paragraph(command: Any) -> str:
    """The sentence that a list of commands shows."""
    text = command.short_help or command.help or ""
    return " ".join(HEADING.sub(r"\1", text.split("\n\n")[0]).split())
