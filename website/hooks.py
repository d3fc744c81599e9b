"""How the repository's pages become a website: MkDocs calls the functions named `on_...`.

No page is listed by hand. A page of `docs/` belongs to the section of its folder; within it, pages
stand in the order in which the folder's README links to them, and the rest follows by name. Pages
of other places (ARCHITECTURE.md, say) are taken in, the pages on commands and on the Python names
are generated, and a link to a source file leads to a page that shows it.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from website import reference

ROOT = Path(__file__).parents[1]
# Pages that are not in docs/, and where they stand in the site
TAKEN_IN = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "docs/LOG.md": "project/log.md",
    "README.md": "project/readme.md",
    "LICENSE": "project/licence.md",
    "CITATION.cff": "project/citation.md",
}
# The sections, in the order of the tabs: folders, or pages; a folder that is not named follows them
SECTIONS: dict[str, tuple[str, ...]] = {
    "Tutorial": ("tutorial.md",),
    "Guides": ("guides",),
    "Watermarks": ("watermarks",),
    "Concepts": ("*.md", "verification", "languages", "detectors", "attacks"),
    "Reference": ("commands", "api", "extend"),
    "Results": ("results",),
    "Project": ("project", "decisions", "source"),
}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
SHIM = "https://unpkg.com/iframe-worker/shim"  # which the plug-in `offline` would fetch
LANGUAGES = {".py": "python", ".java": "java", ".go": "go", ".toml": "toml", ".cff": "yaml"}


# Where a page stands


def place_of(path: str) -> str:
    """Where a file of the repository stands in the site: `docs/audit.md` -> `audit.md`."""
    if path in TAKEN_IN:
        return TAKEN_IN[path]
    if path == "docs":
        return "README.md"
    inside = PurePosixPath(path)
    if inside.is_relative_to("docs"):
        found = str(inside.relative_to("docs"))
        return f"{found}/README.md" if (ROOT / path).is_dir() else found
    return f"source/{path}/README.md" if (ROOT / path).is_dir() else f"source/{path}.md"


ORIGINS = {place: path for path, place in TAKEN_IN.items()}


def origin_of(place: str) -> str:
    """The file of the repository that a page shows."""
    if place in ORIGINS:
        return ORIGINS[place]
    if place.startswith("source/"):
        return place.removeprefix("source/").removesuffix("/README.md").removesuffix(".md")
    return f"docs/{place}"


# Links


def is_elsewhere(target: str) -> bool:
    """Whether a link leads out of the repository."""
    return bool(re.match(r"[a-z]+:", target)) or target.startswith(("#", "/"))


def targets(markdown: str) -> Iterator[str]:
    """The links of a page into the repository, without their anchors."""
    prose = CODE.sub("", FENCE.sub("", markdown))
    for _, target in LINK.findall(prose):
        if not is_elsewhere(target):
            yield target.partition("#")[0]


def repository_path(origin: str, target: str) -> str:
    """What a link of a page names: `("docs/a/b.md", "../c.md") -> "docs/c.md"`."""
    return normpath(str(PurePosixPath(origin).parent / target))


def relinked(markdown: str, place: str) -> str:
    """The page with links that hold where it stands in the site."""
    origin = origin_of(place)

    def relink(found: re.Match[str]) -> str:
        text, target = found[1], found[2]
        if is_elsewhere(target):
            return found[0]
        path, mark, anchor = target.partition("#")
        there = place_of(repository_path(origin, path))
        return f"{text}({relpath(there, str(PurePosixPath(place).parent))}{mark}{anchor})"

    return "".join(
        piece if is_code else LINK.sub(relink, piece) for piece, is_code in _pieces(markdown)
    )


def _pieces(markdown: str) -> Iterator[tuple[str, bool]]:
    """Running text, and the fenced blocks between it, which stay as they are."""
    at = 0
    for fence in FENCE.finditer(markdown):
        yield markdown[at : fence.start()], False
        yield fence[0], True
        at = fence.end()
    yield markdown[at:], False


# Lists


ITEM = re.compile(r"(?:[-*]|\d{1,3}\.) +")


def with_lists_apart(markdown: str) -> str:
    """A blank line before each list, and four columns for what is in an item.

    CommonMark, by which the pages are written, needs neither; Python-Markdown does.
    """
    return "".join(piece if code else _lists_apart(piece) for piece, code in _pieces(markdown))


def _lists_apart(text: str) -> str:
    lines: list[str] = []
    open_items: list[tuple[int, int]] = []  # columns of the sign and of the text, outermost first
    for line in text.split("\n"):
        stripped = line.lstrip(" ")
        columns = len(line) - len(stripped)
        follows_text = bool(lines and lines[-1].strip())
        sign = ITEM.match(stripped)
        is_lazy = follows_text and not sign  # the text of an item goes on, however it is indented
        if not stripped or not (sign or open_items):
            lines.append(line)
            continue
        has_sibling = False
        while open_items and columns < open_items[-1][1] and not is_lazy:
            has_sibling = open_items.pop()[0] <= columns
        if not sign and not open_items:  # a list has ended
            lines.append(line)
            continue
        if sign and follows_text and not open_items and not has_sibling:
            lines.append("")
        inner = columns - open_items[-1][1] if open_items and not sign else 0
        lines.append(" " * (4 * len(open_items) + max(0, inner)) + stripped)
        if sign:
            open_items.append((columns, columns + len(sign[0])))
    return "\n".join(lines)


# What MkDocs calls


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Take in the pages of other places, and those that are generated."""
    for path, place in TAKEN_IN.items():
        if path.startswith("docs/"):
            _remove(files, path.removeprefix("docs/"))
        files.append(File.generated(config, place, content=_taken_in(path)))
    for place, text in (*reference.command_pages(), *reference.api_pages()):
        _remove(files, place)
        files.append(File.generated(config, place, content=text))
    for path in sorted(_linked_sources(files)):
        files.append(File.generated(config, place_of(path), content=_source_page(path)))
    for name in ("site.css", "iframe-worker.js"):
        text = (ROOT / "website" / name).read_text(encoding="utf-8")
        files.append(File.generated(config, f"assets/{name}", content=text))
    config.nav = navigation([file.src_uri for file in files.documentation_pages()], files)
    return files


def _remove(files: Files, place: str) -> None:
    if (already := files.get_file_from_path(place)) is not None:
        files.remove(already)


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Links that hold in the site, lists that Python-Markdown sees."""
    place = page.file.src_uri
    if place.startswith(("commands/", "api/", "source/")):
        return markdown
    return with_lists_apart(relinked(markdown, place))


def on_post_page(output: str, *, page: Any, **_: Any) -> str:
    """What lets the search work without a server comes from the site itself."""
    return output.replace(SHIM, relpath("assets/iframe-worker.js", str(Path(page.url).parent)))


def on_post_template(output_content: str, **_: Any) -> str:
    """The same, for the page that is shown where there is none."""
    return output_content.replace(SHIM, "assets/iframe-worker.js")


def _taken_in(path: str) -> str:
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text.replace("# PuzzleMark\n", "# README\n", 1) if path == "README.md" else text
    title = {"LICENSE": "Licence", "CITATION.cff": "How to cite"}[path]
    return f"# {title}\n\n```{LANGUAGES.get(Path(path).suffix, 'text')}\n{text}\n```\n"


def _linked_sources(files: Files) -> set[str]:
    """Files of the repository that pages link to, and that are no pages themselves."""
    found: set[str] = set()
    for file in files.documentation_pages():
        place = file.src_uri
        if place.startswith(("commands/", "api/")):
            continue
        origin = origin_of(place)
        for target in targets(file.content_string):
            path = repository_path(origin, target)
            if not path.startswith("docs") and path not in TAKEN_IN and (ROOT / path).exists():
                found |= {path, *_inside(path)}
    return found


def _inside(folder: str) -> set[str]:
    """The text files of a folder that is linked."""
    if not (ROOT / folder).is_dir():
        return set()
    found = (path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".java", ".md"))
    return {path.relative_to(ROOT).as_posix() for path in found if path.is_file()}


def _source_page(path: str) -> str:
    file = ROOT / path
    if file.is_dir():
        inside = sorted(_inside(path))
        rows = [f"- [`{each}`]({relpath(place_of(each), f'source/{path}')})" for each in inside]
        return f"# {path}\n\n" + "\n".join(rows) + "\n"
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".md":
        return text
    fence = "`" * 4
    return f"# {path}\n\n{fence}{LANGUAGES.get(file.suffix, 'text')}\n{text}\n{fence}\n"


# Navigation


def navigation(pages: list[str], files: Files) -> list[Any]:
    """The tabs and what is in each: every page in exactly one place."""
    left = [page for page in pages if page != "README.md"]
    nav: list[Any] = [{"Home": "README.md"}]
    for title, places in SECTIONS.items():
        entries: list[Any] = []
        for place in places:
            taken = [page for page in left if _belongs(page, place)]
            left = [page for page in left if page not in taken]
            is_alone = len(places) == 1 or place.endswith(".md")
            inner = _folder(taken, files)
            entries += inner if is_alone else _named(place, inner)
        nav += [{title: entries[0] if places[0] == "tutorial.md" else entries}] if entries else []
    for folder in sorted({page.split("/")[0] for page in left}):
        inner = _folder([page for page in left if page.split("/")[0] == folder], files)
        nav.append({folder.capitalize(): inner})
    return nav


def _belongs(page: str, place: str) -> bool:
    if place == "*.md":
        return "/" not in page
    return page == place or page.startswith(f"{place}/")


def _named(folder: str, entries: list[Any]) -> list[Any]:
    titles = {"api": "Python", "project": "Project", "source": "Sources that pages link to"}
    return [{titles.get(folder, folder.capitalize()): entries}] if entries else []


def _folder(pages: list[str], files: Files) -> list[Any]:
    """The pages of a folder: its README, what that links to in its order, the rest by name."""
    index = next((page for page in sorted(pages, key=len) if page.endswith("README.md")), None)
    if index is None:
        return sorted(pages)
    file = files.get_file_from_path(index)
    assert file is not None
    order = [
        normpath(str(PurePosixPath(index).parent / target))
        for target in targets(file.content_string)
    ]
    rest = sorted(page for page in pages if page != index and page not in order)
    return [index, *unique(page for page in order if page in pages and page != index), *rest]


def unique(pages: Iterable[str]) -> list[str]:
    """Each once, in the order of the first."""
    return list(dict.fromkeys(pages))
